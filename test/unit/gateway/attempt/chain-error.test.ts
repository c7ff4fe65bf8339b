// What a client is told when the chain is at its end.

import { expect, test } from "vitest";
import { faultOf } from "../../../../src/formats/provider/faults.ts";
import { chainError as errorOf, type WalkedChain } from "../../../../src/gateway/attempt/chain-error.ts";
import type { Failure } from "../../../../src/gateway/attempt/verdict.ts";

function status(code: number, overrides: Partial<Failure> = {}): Failure {
  return { kind: "status", status: code, message: `status ${code}`, fault: null, retryAfterMs: null, ...overrides };
}

const tooLong = status(400, { fault: faultOf("too long", "context_length_exceeded", "messages") });
const refused = status(400, { fault: faultOf("no top_p", "unsupported_parameter", "top_p") });
const invalid = status(400, { fault: faultOf("", "") });
const unpaid = faultOf("You exceeded your current quota", "insufficient_quota");
const unreadable: Failure = { ...status(200), kind: "unreadable", message: "inner words" };

function chainError(failures: readonly Failure[], walked: Partial<WalkedChain> = {}) {
  const attempts = failures.map((_, index) => ({ model: `model-${index}`, provider: `provider-${index}` }));
  const chain = attempts.map(({ model }) => model);
  return errorOf({ tier: "SIMPLE", chain, attempts, failures, isKeyless: false, waitMs: 0, ...walked });
}

test.each<readonly [string, readonly Failure[], number, string]>([
  ["one provider's fault", [status(500)], 503, "all_providers_failed"],
  ["a refused key", [status(401), status(404)], 503, "all_providers_failed"],
  ["unreadable answers", [unreadable], 503, "all_providers_failed"],
  ["too long for every window", [tooLong, tooLong], 400, "context_length_exceeded"],
  ["too long for one, another failed", [tooLong, status(500)], 503, "all_providers_failed"],
  ["a refused field everywhere", [refused, refused], 400, "unsupported_parameter"],
  ["a refused field, then a failure", [refused, status(502)], 503, "all_providers_failed"],
  ["a failure, then an invalid request", [status(500), invalid], 400, "provider_refused"],
])("%s", (_name, failures, expectedStatus, code) => {
  const error = chainError(failures);
  expect({ status: error.status, code: error.details.code }).toEqual({ status: expectedStatus, code });
});

test("the provider's word on the request is passed on, with the field", () => {
  const { message, details } = chainError([refused]);
  expect({ message, param: details.param }).toEqual({ message: "no top_p", param: "top_p" });
});

test("a 503 keeps the causes for the log and out of the message", () => {
  const error = chainError([status(500), unreadable]);
  expect(error.message).not.toContain("inner");
  expect(error.details.cause).toBe("status 500; inner words");
});

test.each([
  [0, 1],
  [200, 1],
  [4_200, 5],
  [9_000, 9],
  [300_000, 10],
  [Number.POSITIVE_INFINITY, 10],
])("a model that may be called in %i ms: Retry-After %i, which the message repeats", (waitMs, seconds) => {
  const { message, details } = chainError([status(429, { retryAfterMs: 60_000 })], { waitMs });
  expect(details.retryAfterSeconds).toBe(seconds);
  expect(message).toMatch(new RegExp(` Try again in ${seconds} s\\.$`));
});

test.each([401, 402, 403, 404])("a chain that failed with %i alone invites no retry", (refusal) => {
  const { details } = chainError([status(refusal), status(401)]);
  expect(details.retryAfterSeconds).toBeGreaterThanOrEqual(1);
  expect(details.headers).toEqual({ "x-should-retry": "false" });
});

test("a refused key invites a retry where another model may recover", () => {
  for (const failures of [
    [status(401), status(500)],
    [status(429), status(401)],
  ]) {
    expect(chainError(failures).details).toMatchObject({ retryAfterSeconds: 1 });
  }
  const untried = chainError([status(401)], { chain: ["model-0", "b"], waitMs: 4_000 });
  expect(untried.details.retryAfterSeconds).toBe(4);
  expect(untried.details.headers).toBeUndefined();
});

test.each<readonly [string, readonly Failure[], string, string]>([
  [
    "several models",
    [status(500), status(503)],
    "All 2 models in the SIMPLE chain failed. The last one returned 503. Try again in 1 s.",
    "Last error: provider-1 returned 503.",
  ],
  [
    "a refused key",
    [status(401)],
    "The only model in the SIMPLE chain failed. The last one returned 401. A retry won't help: only the operator of this gateway can fix it.",
    "Last error: provider-0 returned 401 (it refused the gateway's API key). Check the provider with 'npm start -- doctor'.",
  ],
  [
    "no response",
    [{ ...status(0), kind: "timeout" }],
    "The only model in the SIMPLE chain failed. The last one did not respond in time. Try again in 1 s.",
    "Last error: provider-0 did not respond in time.",
  ],
])("%s: the caller reads how many were tried, the operator which provider failed", (_name, failures, message, told) => {
  const error = chainError(failures);
  expect([error.message, error.details.operator]).toEqual([message, told]);
});

test("providers, bills and commands are for the operator alone", () => {
  for (const fault of [null, unpaid]) {
    for (const code of [400, 401, 402, 403, 404, 429, 500]) {
      const failure = status(code, { fault });
      for (const isKeyless of [false, true]) {
        const { message } = chainError([failure, status(500), failure], { isKeyless });
        expect(message).not.toMatch(/provider-|credit|key|npm|doctor|quota/);
      }
    }
  }
});

test.each([401, 403])("a provider that was called without a key and returned %i asks for one", (code) => {
  const { operator, headers } = chainError([status(code)], { isKeyless: true }).details;
  expect(operator).toContain(`provider-0 returned ${code} (it asks for an API key). Check the provider`);
  expect(headers).toEqual({ "x-should-retry": "false" });
});

test.each([
  [402, null],
  [429, unpaid],
  [400, unpaid],
])("a provider that returned %i because it is not paid is out of credit, and a retry is no help", (code, fault) => {
  for (const isKeyless of [false, true]) {
    const { operator, headers } = chainError([status(code, { fault })], { isKeyless }).details;
    expect(operator).toContain(`provider-0 returned ${code} (the gateway's account is out of credit). Check`);
    expect(headers).toEqual({ "x-should-retry": "false" });
  }
});

test.each([429, 500])("a %i that may pass invites a retry, whatever its words", (code) => {
  const fault = code === 429 ? null : unpaid;
  const { operator, headers } = chainError([status(code, { fault })]).details;
  expect(operator).toBe(`Last error: provider-0 returned ${code}.`);
  expect(headers).toBeUndefined();
});

test("models that were not tried in time are not counted", () => {
  const chain = ["model-0", "b", "c"];
  expect(chainError([status(500)], { chain }).message).toMatch(/^1 of the 3 models in the SIMPLE chain was tried/);
  const none = { chain, attempts: [], failures: [] };
  expect(chainError([], none).message).toBe(
    "None of the 3 models in the SIMPLE chain could be tried. No provider could be called in time. Try again in 1 s.",
  );
});
