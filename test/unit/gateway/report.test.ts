// The report on a call: how it ended, and which facts it holds when a step fails.

import { expect, test } from "vitest";
import type { Decision } from "../../../src/core/decision.ts";
import type { Attempted } from "../../../src/gateway/attempt/attempt.ts";
import { type CallFacts, NO_FACTS, reportOf } from "../../../src/gateway/report.ts";
import type { Reservation } from "../../../src/gateway/reserve.ts";

test.each([
  ["finished", "complete", "complete"],
  ["replayed", "replayed", "replayed"],
  ["disconnected", "client-gone", "gateway-broke"],
  ["stream-broken", "provider-broke", "gateway-broke"],
  ["our-fault", "gateway-broke", "gateway-broke"],
  ["error", null, null],
] as const)("%s is reported as %s, and as %s while the process cuts its calls off", (event, usual, cutting) => {
  expect(reportOf(NO_FACTS, { event, isCutting: false }).ending).toBe(usual);
  expect(reportOf(NO_FACTS, { event, isCutting: true }).ending).toBe(cutting);
});

test("a call that failed at once has an empty report", () => {
  expect(reportOf(NO_FACTS, { event: "error", isCutting: false })).toEqual({
    decision: null,
    hold: null,
    attempts: [],
    answeredBy: null,
    isFallback: false,
    overheadMs: null,
    usage: null,
    cost: null,
    ending: null,
    capture: null,
    metadata: null,
  });
});

test("the decision of the reservation counts: it may be narrowed to what the balance covers", () => {
  const decision = { model: "large" } as Decision;
  const reservation = { decision: { model: "small" }, amount: 5n } as Reservation;
  const routed: CallFacts = { ...NO_FACTS, decision };
  expect(reportOf(routed, { event: "error", isCutting: false })).toMatchObject({ decision, hold: null });
  const reserved = reportOf({ ...routed, reservation }, { event: "error", isCutting: false });
  expect(reserved).toMatchObject({ decision: { model: "small" }, hold: 5n });
});

/** Two attempts with a pause between them, the second answered. */
const ATTEMPTED = {
  attempts: [
    { beganAt: 1_010, endedAt: 1_100 },
    { beganAt: 1_600, endedAt: 1_700 },
  ],
  result: { ok: true, model: { id: "small" } },
} as unknown as Attempted;

test("the overhead is the time before the attempts and after them, without pauses between them", () => {
  const facts: CallFacts = { ...NO_FACTS, attempted: ATTEMPTED };
  const finished = { event: "finished", isCutting: false } as const;
  const work = { receivedAt: 1_000, readyAt: 1_704 };
  expect(reportOf(facts, { ...finished, work }).overheadMs).toBe(14);
  expect(reportOf(facts, finished).overheadMs).toBeNull();
  expect(reportOf(NO_FACTS, { ...finished, work }).overheadMs).toBeNull();
});

test.each([
  ["large", true],
  ["small", false],
])("an answer where %s was selected: fallback %s", (model, isFallback) => {
  const facts: CallFacts = { decision: { model } as Decision, reservation: null, course: null, attempted: ATTEMPTED };
  expect(reportOf(facts, { event: "finished", isCutting: false }).isFallback).toBe(isFallback);
});
