// What a failed attempt says about health.

import { expect, test } from "vitest";
import { faultOf } from "../../../../src/formats/provider/faults.ts";
import { troubleOf } from "../../../../src/gateway/attempt/health-outcome.ts";
import { type Failure, judge } from "../../../../src/gateway/attempt/verdict.ts";

function failure(kind: Failure["kind"], status: number | null = null, overrides: Partial<Failure> = {}): Failure {
  return { kind, status, message: "words of ours", fault: null, retryAfterMs: null, ...overrides };
}

const fault = faultOf("your key sk-secret is wrong", "");
const unpaid = faultOf("You exceeded your current quota", "insufficient_quota");

interface Case {
  readonly name: string;
  readonly failed: Failure;
  readonly kind: string;
  readonly error: string | undefined;
}

const CASES = (
  [
    [
      "a closed port",
      failure("connect", null, { message: "connect ECONNREFUSED 10.0.0.7:80" }),
      "unreachable",
      "cannot be reached (ECONNREFUSED)",
    ],
    [
      "a wrong certificate",
      failure("connect", null, { message: "CERT_HAS_EXPIRED" }),
      "unreachable",
      "cannot be reached (CERT_HAS_EXPIRED)",
    ],
    [
      "a connect timeout",
      failure("connect", null, { message: "Connect Timeout Error (attempted address: 10.0.0.7:80)" }),
      "unreachable",
      "cannot be reached",
    ],
    ["no answer in time", failure("timeout"), "failing", "words of ours"],
    [
      "a reset",
      failure("broken", null, { message: "read ECONNRESET" }),
      "failing",
      "the connection broke (ECONNRESET)",
    ],
    ["an unreadable answer", failure("unreadable"), "failing", "words of ours"],
    ["an error with 200", failure("unreadable", null, { fault }), "failing", "an error instead of an answer"],
    ...[408, 409, 425, 500, 502, 503, 504, 529, 302, 418].map(
      (status) => [`${status}`, failure("status", status, { fault }), "failing", `status ${status}`] as const,
    ),
    ["429", failure("status", 429, { fault }), "limited", "status 429"],
    ["429 without credit", failure("status", 429, { fault: unpaid }), "refused-key", "API credit used up, status 429"],
    ["400 without credit", failure("status", 400, { fault: unpaid }), "refused-key", "API credit used up, status 400"],
    ["401", failure("status", 401, { fault }), "refused-key", "API key refused, status 401"],
    ["402", failure("status", 402, { fault }), "refused-key", "API credit used up, status 402"],
    ["403", failure("status", 403, { fault }), "refused-key", "API key refused, status 403"],
    ["404", failure("status", 404, { fault }), "refused-model", "status 404"],
    ...[400, 413, 422].map((status) => [`${status}`, failure("status", status, { fault }), "dropped"] as const),
    ["the client has gone", failure("client-gone"), "dropped"],
    ["not expressible", failure("unconvertible"), "dropped"],
  ] as readonly (readonly [string, Failure, string, string?])[]
).map(([name, failed, kind, error]): Case => ({ name, failed, kind, error }));

test.each(CASES)("$name", ({ failed, kind, error }) => {
  const outcome = troubleOf(failed, judge(failed));
  expect(outcome).toEqual(error === undefined ? kind : { kind, waitMs: null, error });
});

test.each([
  [401, "API key missing, status 401"],
  [402, "API credit used up, status 402"],
])("%i to a call without a key", (status, error) => {
  const failed = failure("status", status);
  expect(troubleOf(failed, judge(failed), true)).toMatchObject({ kind: "refused-key", error });
});

test("the wait the provider asked for goes along", () => {
  const failed = failure("status", 503, { retryAfterMs: 9_000 });
  expect(troubleOf(failed, judge(failed))).toMatchObject({ kind: "failing", waitMs: 9_000 });
});
