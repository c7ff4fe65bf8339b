import { describe, expect, test } from "vitest";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { avoiding, mayLeaveOut } from "../../../../src/gateway/attempt/refused-field.ts";
import { makeChat, makeModel } from "../../../support/catalog.ts";

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

  test.each<readonly [string, object, boolean]>([
    ["thinking", {}, true],
    ["metadata", {}, true],
    ["output_config", {}, true],
    ["output_config", { response_format: { type: "json_schema" } }, false],
    ["system", {}, false],
  ])("%s, written by conversion for %j: %s", (field, fields, isAllowed) => {
    expect(mayLeaveOut(field, { ...request, format: "openai", body: { ...body, ...fields } })).toBe(isAllowed);
  });

  test.each<readonly [string, Record<string, unknown>, boolean]>([
    ["system", { system: "Be brief." }, false],
    ["output_config", { output_config: { effort: "low" } }, true],
    ["output_config", { output_config: { effort: "low", format: {} } }, false],
    ["context_management", { context_management: {} }, true],
    ["mcp_servers", { mcp_servers: [] }, false],
  ])("%s of a Messages request with %j: %s", (field, fields, isAllowed) => {
    expect(mayLeaveOut(field, { ...request, format: "anthropic", body: fields })).toBe(isAllowed);
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
