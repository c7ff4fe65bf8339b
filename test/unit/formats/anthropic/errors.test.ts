// Errors, usage and models in Anthropic's shapes.

import { describe, expect, it } from "vitest";
import { ERROR_KINDS, type ErrorKind, GatewayError } from "../../../../src/core/errors.ts";
import { readAnthropicError, writeAnthropicError } from "../../../../src/formats/anthropic/errors.ts";
import { writeAnthropicModels } from "../../../../src/formats/anthropic/model-list.ts";
import { readAnthropicUsage, writeAnthropicUsage } from "../../../../src/formats/anthropic/usage.ts";
import { readUsage } from "../../../../src/formats/openai-chat/usage.ts";
import { makeCatalog, makeModel } from "../../../support/catalog.ts";
import { FORMATS } from "./exchange.ts";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
  508: "api_error",
};

describe("an error of ours", () => {
  it.each(Object.keys(ERROR_KINDS) as ErrorKind[])("%s", (kind) => {
    const error = new GatewayError(kind, "No.", { code: "why", param: "x" });
    expect(writeAnthropicError(error, "r1")).toEqual({
      type: "error",
      error: { type: TYPES[error.status] ?? "invalid_request_error", message: "No.", details: { error_code: "why" } },
      request_id: "r1",
    });
  });
});

describe("a conversation that is too long", () => {
  const said = (message: string): unknown =>
    writeAnthropicError(new GatewayError("badRequest", message, { code: "context_length_exceeded" }), "r1").error;

  it("is told in the words that agents look for", () => {
    expect(said("At most 8000 tokens.")).toMatchObject({ message: "prompt is too long: At most 8000 tokens." });
  });

  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000",
  ])("%s stays as it is", (message) => {
    expect(said(message)).toMatchObject({ message });
  });
});

describe("a provider's error", () => {
  it.each([
    ["overloaded_error", "Overloaded", "overloaded_error", ""],
    ["invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_length_exceeded", ""],
    [
      "invalid_request_error",
      "messages.1.content.0: Invalid `signature` in `thinking` block",
      "unsupported_parameter",
      "messages.thinking",
    ],
    [
      "invalid_request_error",
      "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
      "unsupported_parameter",
      "messages.thinking",
    ],
    [
      "invalid_request_error",
      "This model does not support assistant message prefill.",
      "unsupported_parameter",
      "messages.prefill",
    ],
    [
      "invalid_request_error",
      "Unexpected value(s) `x`, `y-1` for the `anthropic-beta` header.",
      "unsupported_parameter",
      "anthropic-beta:x,y-1",
    ],
    [
      "invalid_request_error",
      "The `anthropic-beta` header is not supported here.",
      "unsupported_parameter",
      "anthropic-beta",
    ],
    ["invalid_request_error", "invalid beta flag", "unsupported_parameter", "anthropic-beta"],
    [
      "invalid_request_error",
      "tools.3.custom.input_examples: Extra inputs are not permitted",
      "unsupported_parameter",
      "tools.*.input_examples",
    ],
    [
      "invalid_request_error",
      "system.1.cache_control.ephemeral.scope: Extra inputs are not permitted",
      "unsupported_parameter",
      "cache_control.scope",
    ],
    [
      "invalid_request_error",
      "context_management: Extra inputs are not permitted",
      "unsupported_parameter",
      "context_management",
    ],
    [
      "invalid_request_error",
      '"thinking.type.enabled" is not supported for this model.',
      "unsupported_parameter",
      "thinking",
    ],
    ["invalid_request_error", "`temperature` is deprecated for this model.", "unsupported_parameter", "temperature"],
    [
      "invalid_request_error",
      "`temperature` and `top_p` cannot both be specified for this model.",
      "unsupported_parameter",
      "top_p",
    ],
    ["rate_limit_error", "temperature is not supported", "rate_limit_error", ""],
  ])("%s: %s", (type, message, code, param) => {
    const bytes = Buffer.from(JSON.stringify({ type: "error", error: { type, message }, request_id: "r" }));
    expect(readAnthropicError(bytes)).toMatchObject({ message, code, param });
  });

  it("in no shape at all", () => {
    expect(readAnthropicError(Buffer.from("<html>bad gateway"))).toMatchObject({
      message: "<html>bad gateway",
      code: "",
      param: "",
    });
    expect(readAnthropicError(Buffer.from('{"error":"no"}'))).toMatchObject({ message: "no" });
  });
});

describe("an answer that is none", () => {
  it.each([
    ["not JSON", "<html>"],
    ["an error with status 200", '{"type":"error","error":{"type":"api_error","message":"x"}}'],
    ["without content", '{"type":"message"}'],
    ["empty", '{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":0}}'],
  ])("%s", (_name, text) => {
    expect(FORMATS.anthropic.readResponse(Buffer.from(text)).ok).toBe(false);
  });

  it("but a warmed cache is one", () => {
    const text =
      '{"type":"message","content":[],"stop_reason":"max_tokens","usage":{"input_tokens":1,"cache_creation_input_tokens":9,"output_tokens":0}}';
    expect(FORMATS.anthropic.readResponse(Buffer.from(text)).ok).toBe(true);
  });
});

describe("usage", () => {
  it("counts cached tokens once, on both sides", () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 7, output_tokens: 11 };
    const read = readAnthropicUsage(usage);
    expect(read?.reported).toMatchObject({ prompt_tokens: 15, completion_tokens: 11, total_tokens: 26 });
    expect(writeAnthropicUsage(read!)).toEqual(usage);
  });

  it.each([null, {}, { input_tokens: -1 }, { input_tokens: 1, output_tokens: 0.5 }, { input_tokens: "3" }])(
    "%j is none",
    (usage) => {
      expect(readAnthropicUsage(usage)).toBeNull();
    },
  );

  it("never goes below zero", () => {
    const details = { cached_tokens: 9, cache_write_tokens: 9 };
    const usage = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5, prompt_tokens_details: details };
    expect(writeAnthropicUsage(readUsage({ usage })!)).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 0,
    });
  });
});

describe("the models list", () => {
  const models = ["a", "b", "c", "d"].map((id) => makeModel({ id, name: id.toUpperCase() }));
  const page = { limit: "2" };
  const list = (query: Record<string, string>) => writeAnthropicModels(models, makeCatalog(), query);

  it("has Anthropic's shape", () => {
    expect((list(page).data as object[])[0]).toMatchObject({
      type: "model",
      id: "a",
      display_name: "A",
      created_at: "2026-01-01T00:00:00Z",
      max_input_tokens: 128_000,
      max_tokens: 16_384,
    });
  });

  it.each([
    [page, ["a", "b"], true],
    [{ ...page, after_id: "b" }, ["c", "d"], false],
    [{ ...page, after_id: "d" }, [], false],
    [{ ...page, before_id: "d" }, ["b", "c"], true],
    [{ ...page, before_id: "b" }, ["a"], false],
    [{ ...page, limit: "1000" }, ["a", "b", "c", "d"], false],
  ])("%j", (asked, ids, hasMore) => {
    const listed = list(asked as Record<string, string>);
    expect((listed.data as { id: string }[]).map(({ id }) => id)).toEqual(ids);
    expect(listed).toMatchObject({ has_more: hasMore, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });
});
