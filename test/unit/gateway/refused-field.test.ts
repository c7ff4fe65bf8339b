import { describe, expect, test } from "vitest";
import type { ClientRequest } from "../../../src/formats/format.ts";
import { avoiding, mayLeaveOut } from "../../../src/gateway/refused-field.ts";
import { makeChat, makeModel } from "../../support/catalog.ts";

describe("mayLeaveOut", () => {
  const body = { model: "auto", messages: [], tools: [], n: 2, temperature: 0, seed: null };
  const request = { body, chat: makeChat() } as unknown as ClientRequest;

  test.each([
    ["temperature", true],
    ["seed", true],
    ["top_p", false],
    ["n", false],
    ["tools", false],
    ["messages", false],
    ["model", false],
    ["stream_options", false],
    ["", false],
  ])("%j: %s", (field, isAllowed) => {
    expect(mayLeaveOut(field, request)).toBe(isAllowed);
  });

  test("stream_options in a stream, since we add it", () => {
    expect(mayLeaveOut("stream_options", { ...request, chat: makeChat({ isStream: true }) })).toBe(true);
  });
});

test.each([
  ["max_tokens", { outputCap: "max_completion_tokens" }],
  ["max_completion_tokens", { outputCap: "max_tokens" }],
  ["stream_options", { takesStreamOptions: false }],
  ["temperature", {}],
])("avoiding %s", (field, changes) => {
  const model = makeModel();
  expect(avoiding(model, [field]).dialect).toEqual({ ...model.dialect, ...changes });
});

test("avoiding nothing is the model itself", () => {
  const model = makeModel();
  expect(avoiding(model, [])).toBe(model);
});
