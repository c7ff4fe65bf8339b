// The table of failures, row by row.

import { describe, expect, test } from "vitest";
import { faultOf } from "../../../../src/formats/provider/faults.ts";
import { type Failure, judge } from "../../../../src/gateway/attempt/verdict.ts";

function failure(overrides: Partial<Failure>): Failure {
  return { kind: "status", status: null, message: "", fault: null, retryAfterMs: null, ...overrides };
}

function fault(code: string, message = ""): Failure["fault"] {
  return faultOf(message, code);
}

const PASSING = { again: "once", next: "any", blame: "provider" };
const LATER = { again: "later", next: "any", blame: "provider" };
const PROVIDER = { again: "no", next: "any", blame: "provider" };
const OPERATOR = { again: "no", next: "any", blame: "operator" };
const CLIENT = { again: "no", next: "none", blame: "client" };
const TOO_LONG = { again: "no", next: "larger-window", blame: "client" };
const REFUSED_FIELD = { again: "without-refused-field", next: "any", blame: "client" };

test.each([
  ["connect", PASSING],
  ["broken", PASSING],
  ["timeout", PROVIDER],
  ["unreadable", PROVIDER],
  ["client-gone", CLIENT],
] as const)("%s", (kind, verdict) => {
  expect(judge(failure({ kind }))).toEqual(verdict);
});

describe("by status", () => {
  test.each([
    [[408, 409, 425, 500, 502, 503, 504, 520, 522, 529], PASSING],
    [[401, 402, 403, 404], OPERATOR],
    [[413], TOO_LONG],
    [[400, 422], CLIENT],
    [[300, 302, 405, 410, 418, 429, 451, 501, 505, 530], PROVIDER],
  ])("%j", (statuses, verdict) => {
    for (const status of statuses) expect({ status, ...judge(failure({ status })) }).toEqual({ status, ...verdict });
  });
});

test.each([
  [429, 0, LATER],
  [429, 2_000, LATER],
  [429, 2_001, PROVIDER],
  [503, 0, LATER],
  [503, 2_000, LATER],
  [503, 2_001, PROVIDER],
])("%i with a wait of %i ms", (status, retryAfterMs, verdict) => {
  expect(judge(failure({ status, retryAfterMs }))).toEqual(verdict);
});

test.each([
  [fault("context_length_exceeded"), TOO_LONG],
  [fault("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), TOO_LONG],
  [fault("", "This model's maximum context length is 8192 tokens."), TOO_LONG],
  [fault("400", "the request exceeds the available context size, try increasing it"), TOO_LONG],
  [fault("", "Input is too long for requested model."), TOO_LONG],
  [fault("", "This model's maximum prompt length is 131072 but the request contains 140000 tokens."), TOO_LONG],
  [fault("", "Your request exceeded model token limit: 131072"), TOO_LONG],
  [fault("", "Please reduce the length of the messages or completion."), TOO_LONG],
  [fault("", "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000"), TOO_LONG],
  [fault("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), OPERATOR],
  [fault("unsupported_parameter"), REFUSED_FIELD],
  [fault("unsupported_value"), REFUSED_FIELD],
  [fault("unknown_parameter"), REFUSED_FIELD],
  [fault("extra_forbidden"), REFUSED_FIELD],
  [fault("content_filter"), CLIENT],
  [fault("invalid_request_error", "messages: bad"), CLIENT],
])("400 with %j", (said, verdict) => {
  expect(judge(failure({ status: 400, fault: said }))).toEqual(verdict);
});
