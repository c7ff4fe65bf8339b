// The judge of the simulator against made-up facts: each rule is broken once, and each must be noticed.

import { expect, test } from "vitest";
import type { Seen } from "./client.ts";
import { type Evidence, judgeCall, judgeRecords, type RecordLoss, type SentCall, type SentTry } from "./judge.ts";
import { untilQuiet } from "./ledger.ts";
import { type CallPlan, planStep } from "./plan.ts";
import { owed } from "./price.ts";
import type { ProviderCall } from "./provider.ts";

const USAGE = { input: 10, cacheRead: 3, cacheWrite: 2, output: 7 };
const PRICE = owed(USAGE, "alpha");
const CALL: ProviderCall = {
  number: 4,
  name: "sim-1-1",
  model: "alpha",
  kind: "answers",
  text: "<c4> word",
  usage: USAGE,
  isAccepted: true,
};
const PLAN: CallPlan = {
  ...(planStep(1, 1, "sqlite").calls[0] as CallPlan),
  name: "sim-1-1",
  format: "chat",
  isStream: false,
  caller: "rich",
  idempotencyKey: null,
};
const ANSWER = answer(CALL.text);
const BROKEN_STREAM = 'data: {"choices":[{"delta":{"content":"<c4>"}}]}\n\ndata: {"error":{}}\n\n';

function answer(content: string): string {
  const usage = { prompt_tokens: 15, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 3 } };
  return JSON.stringify({ model: "alpha", choices: [{ message: { content } }], usage });
}

function error(requestId: string): string {
  return JSON.stringify({
    error: { message: "no", type: "some_error", code: "some", param: null, request_id: requestId },
  });
}

function sent(seen: Partial<Seen>, facts: Partial<SentTry> = {}): SentTry {
  const { requestId = "sim-1-1-0" } = seen;
  const usual = { requestId, status: 200, text: ANSWER, isWhole: true, hasLeft: false, beganMs: 0, endedMs: 1 };
  return { seen: { ...usual, ...seen }, keyId: "key", isDisturbed: false, revocation: "none", ...facts };
}

interface Case {
  readonly tries?: readonly SentTry[];
  readonly plan?: Partial<CallPlan>;
  readonly calls?: readonly ProviderCall[];
  readonly charges?: Readonly<Record<string, bigint>>;
}

function judge({ tries = [sent({})], plan = {}, calls = [CALL], charges = { "sim-1-1-0": PRICE } }: Case): string {
  const call: SentCall = { plan: { ...PLAN, ...plan }, tries };
  const evidence: Evidence = { providerCalls: calls, charges: new Map(Object.entries(charges)) };
  return judgeCall(call, evidence).join("\n");
}

const KEYED = { idempotencyKey: "again" };
const LOST = { status: null, text: "", isWhole: false };
const SECOND = { requestId: "sim-1-1-1" };
const UNCOUNTED: ProviderCall = { ...CALL, usage: null, kind: "no usage" };
const NOTHING = {};
const EMPTY: ProviderCall = { ...CALL, number: 5, kind: "empty answer", text: "" };
const EMPTY_BEFORE: ProviderCall = { ...EMPTY, number: 4, model: "beta", usage: { ...USAGE, output: 0 } };

test.each<[string, Case]>([
  ["an answer at its price", {}],
  ["an answer without usage at the price it shows", { calls: [UNCOUNTED], charges: { "sim-1-1-0": shownPrice() } }],
  ["an answer that was repeated", { plan: KEYED, tries: [sent({}), sent(SECOND)] }],
  ["a reply that was lost and repeated", { plan: KEYED, tries: [sent(LOST, { isDisturbed: true }), sent(SECOND)] }],
  ["an empty answer after another model's", { tries: [sent({ text: answer("") })], calls: [EMPTY_BEFORE, EMPTY] }],
  ["a kill before the booking", { tries: [sent(LOST, { isDisturbed: true })], charges: NOTHING }],
  ["a refusal", { tries: [sent({ status: 503, text: error("sim-1-1-0") })], charges: NOTHING }],
  ["a client that left before anything came", { tries: [sent({ ...LOST, hasLeft: true })], charges: NOTHING }],
])("nothing is wrong with %s", (_name, facts) => {
  expect(judge(facts)).toBe("");
});

function shownPrice(): bigint {
  return owed({ input: 12, cacheRead: 3, cacheWrite: 0, output: 7 }, "alpha");
}

test.each<[string, Case, RegExp]>([
  ["an answer for nothing", { charges: NOTHING }, /was not charged/],
  ["an answer that is a nano too dear", { charges: { "sim-1-1-0": PRICE + 1n } }, /costs \d+ and was charged/],
  ["an answer charged otherwise than shown", { calls: [UNCOUNTED], charges: { "sim-1-1-0": 5n } }, /was charged 5/],
  [
    "a repeated answer charged twice",
    { plan: KEYED, tries: [sent({}), sent(SECOND)], charges: { "sim-1-1-0": PRICE, "sim-1-1-1": PRICE } },
    /charged twice/,
  ],
  [
    "another answer under the same key",
    { plan: KEYED, tries: [sent({}), sent({ ...SECOND, text: answer("<c4>") })] },
    /two different/,
  ],
  ["an answer that was changed", { tries: [sent({ text: answer("<c4> wort") })] }, /arrived changed/],
  ["an answer from nowhere", { tries: [sent({ text: answer("<c5> word") })] }, /never gave/],
  ["an error that costs", { tries: [sent({ status: 503, text: error("sim-1-1-0") })] }, /got 503 and was charged/],
  ["an error of another shape", { tries: [sent({ status: 503, text: "{}" })], charges: NOTHING }, /got .*\{\}/],
  ["a 500", { tries: [sent({ status: 500, text: error("sim-1-1-0") })], charges: NOTHING }, /got 500/],
  [
    "a 401 for a good key",
    { tries: [sent({ status: 401, text: error("sim-1-1-0") })], calls: [], charges: NOTHING },
    /key that is good/,
  ],
  ["an answer for a revoked key", { tries: [sent({}, { revocation: "certain" })] }, /revoked key/],
  [
    "a refused call that was made",
    { tries: [sent({ status: 402, text: error("sim-1-1-0") })], plan: { caller: "poor" }, charges: NOTHING },
    /reached the provider/,
  ],
  ["a broken stream that costs", { plan: { isStream: true }, tries: [sent({ text: BROKEN_STREAM })] }, /broken stream/],
  ["a stream without an end", { plan: { isStream: true }, tries: [sent({ text: "" })] }, /without an end/],
  ["a connection lost for no reason", { tries: [sent(LOST)], charges: NOTHING }, /nothing had happened/],
  ["a charge where nobody was called", { tries: [sent(LOST, { isDisturbed: true })], calls: [] }, /more than the most/],
  [
    "a client that read for nothing",
    {
      plan: { isStream: true },
      tries: [sent({ text: `${BROKEN_STREAM.split("\n\n")[0]}\n\n`, isWhole: false, hasLeft: true })],
      charges: NOTHING,
    },
    /charged nothing/,
  ],
])("%s is noticed", (_name, facts, problem) => {
  expect(judge(facts)).toMatch(problem);
});

const WRITTEN: RecordLoss = { wasKilled: false, wasReported: false };
const REPORTED: RecordLoss = { ...WRITTEN, wasReported: true };

test.each<[string, Record<string, string>, RecordLoss, readonly unknown[]]>([
  ["a charge with its record", { "sim-1-1-0": "0.000000009" }, WRITTEN, []],
  ["a charge without a record", {}, WRITTEN, [expect.stringMatching(/charged and not in the request log/)]],
  ["a charge without a record, and a loss that was logged", {}, REPORTED, []],
  ["a charge without a record after a kill", {}, { ...WRITTEN, wasKilled: true }, []],
  ["another amount", { "sim-1-1-0": "0.000000008" }, WRITTEN, [expect.stringMatching(/costs 8 in the log, 9/)]],
  ["another amount beside losses", { "sim-1-1-0": "0.000000008" }, REPORTED, [expect.stringMatching(/costs 8/)]],
])("the request log: %s", (_name, logged, loss, problems) => {
  const lines = Object.entries(logged).map(([requestId, chargeUsd]) => [requestId, { requestId, chargeUsd }] as const);
  expect(judgeRecords(new Map([["sim-1-1-0", 9n]]), new Map(lines), loss)).toEqual(problems);
});

test("it is quiet when no gateway has anything on hold, in memory either", async () => {
  const held = ["0.000000005", "0.000000005"];
  const gateway = (heldUsd: () => string) => ({
    isRunning: true,
    api: async () => Response.json({ postedUsd: "1", heldUsd: heldUsd(), availableUsd: "1" }),
  });
  const gateways = [gateway(() => "0"), gateway(() => held.shift() ?? "0")];
  const api = async (): Promise<Response> => Response.json({ ok: true, openHolds: 0 });
  expect(await untilQuiet({ api, accounts: { rich: "default", poor: "account" }, gateways })).toEqual([]);
  expect(held).toEqual([]);
});

test("a seed draws the same history again, and another seed another", () => {
  expect(planStep(5, 3, "postgres")).toEqual(planStep(5, 3, "postgres"));
  expect(planStep(6, 3, "postgres")).not.toEqual(planStep(5, 3, "postgres"));
});
