// Where two formats meet: what passes untouched, and which refused fields a request may go without.

import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { mayLeaveOut, writeProviderRequest } from "../../../src/formats/bridge.ts";
import type { ClientFormat, ClientRequest, Format } from "../../../src/formats/format.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { sourceOf } from "../../../src/formats/json/splice.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { makeModel } from "../../support/catalog.ts";

const MODEL = makeModel();

function read(format: ClientFormat, body: Record<string, unknown>): ClientRequest {
  return format.readRequest(sourceOf(body), body);
}

function may(field: string, path: readonly [client: Format, provider: Format], body: object): boolean {
  const asked = { messages: [{ role: "user", content: "hi" }], ...body };
  const spoken = { format: path[0], request: read(path[0], asked) };
  return mayLeaveOut(field, spoken, { provider: path[1], model: MODEL });
}

describe("mayLeaveOut", () => {
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
  ])("%j of a chat request: %s", (field, isAllowed) => {
    const body = { model: "auto", tools: [], n: 2, temperature: 0, seed: null };
    expect(may(field, [openaiChat, openaiChat], body)).toBe(isAllowed);
  });

  test.each<readonly [string, object, boolean]>([
    ["thinking", {}, true],
    ["metadata", {}, true],
    ["output_config", {}, true],
    ["output_config", { response_format: { type: "json_schema" } }, false],
    ["system", {}, false],
    ["temperature", { temperature: 1 }, true],
    ["stop_sequences", { stop: "x" }, false],
  ])("%s, written by conversion for %j: %s", (field, fields, isAllowed) => {
    expect(may(field, [openaiChat, anthropicMessages], fields)).toBe(isAllowed);
  });

  test.each<readonly [string, object, boolean]>([
    ["system", { system: "Be brief." }, false],
    ["output_config", { output_config: { effort: "low" } }, true],
    ["output_config", { output_config: { effort: "low", format: {} } }, false],
    ["context_management", { context_management: {} }, true],
    ["mcp_servers", { mcp_servers: [] }, false],
    ["messages.thinking", {}, true],
    ["anthropic-beta", {}, true],
  ])("%s of a Messages request with %j: %s", (field, fields, isAllowed) => {
    expect(may(field, [anthropicMessages, anthropicMessages], fields)).toBe(isAllowed);
  });

  test.each([
    ["max_completion_tokens", true],
    ["reasoning_effort", true],
    ["messages", false],
  ])("%s of a Messages request for a chat provider: %s", (field, isAllowed) => {
    expect(may(field, [anthropicMessages, openaiChat], { max_tokens: 5 })).toBe(isAllowed);
  });

  test("stream_options in a stream, since we add it", () => {
    expect(may("stream_options", [openaiChat, openaiChat], { stream: true })).toBe(true);
  });
});

describe("a request without a refused field", () => {
  function sent(body: Record<string, unknown>, refused: string): Record<string, unknown> {
    const spoken = {
      format: openaiChat,
      request: read(openaiChat, { messages: [{ role: "user", content: "hi" }], ...body }),
    };
    const written = writeProviderRequest(spoken, openaiChat, { model: MODEL, refusedFields: [refused] });
    return JSON.parse(written.body.toString()) as Record<string, unknown>;
  }

  test.each([
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ])("keeps its output cap: %s goes as %s", (refused, other) => {
    expect(sent({ [refused]: 9 }, refused)).toEqual(expect.objectContaining({ [other]: 9 }));
    expect(sent({ [refused]: 9 }, refused)).not.toHaveProperty(refused);
  });

  test("does not ask for usage in a stream where that is refused", () => {
    expect(sent({ stream: true }, "stream_options")).not.toHaveProperty("stream_options");
    expect(sent({ stream: true }, "top_p")).toHaveProperty("stream_options");
  });
});

test("bytes of the same format travel untouched but for the model", () => {
  const text = '{"model":"auto",  "messages":[{"role":"user","content":"h\\u0069"}],"novel":1.0}';
  const { source, body } = parseBody(Buffer.from(text));
  const spoken = { format: openaiChat, request: openaiChat.readRequest(source, body) };
  const written = writeProviderRequest(spoken, openaiChat, { model: MODEL, refusedFields: [] });
  expect(written.body.toString()).toBe(
    '{"model":"model","messages":[{"role":"user","content":"h\\u0069"}],"novel":1.0}',
  );
});
