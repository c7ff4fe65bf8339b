// Tokens per minute, counted in a store that takes its time.

import { expect, test } from "vitest";
import { createLocalLimits } from "../../../../src/accounts/limits/per-minute.ts";
import { createScopeRates } from "../../../../src/accounts/limits/scope-rates.ts";
import {
  type RateRequest,
  type SecondCount,
  type Taken,
  takeFrom,
} from "../../../../src/core/processes/call-window.ts";

function createSlowWindow() {
  let counts: readonly SecondCount[] = [];
  const takes: { request: RateRequest; answer: () => void }[] = [];
  return {
    takes,
    take: (request: RateRequest) =>
      new Promise<Taken | null>((resolve) => {
        const answer = () => {
          const taken = takeFrom(counts, request, 10_000);
          counts = taken.counts;
          resolve(taken);
        };
        takes.push({ request, answer });
      }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("whatever comes while the store is asked goes out together, and no token is lost", async () => {
  const { takes, take } = createSlowWindow();
  const rates = createScopeRates({ limiter: createLocalLimits(), take, now: () => 10_000 });
  rates.note("ada", 5);
  await settled();
  for (let at = 0; at < 1_000; at += 1) rates.note("ada", 2);
  const waits = Promise.all(Array.from({ length: 1_000 }, () => rates.tokensWait("ada", 2_005)));
  rates.note("bob", 7);
  await settled();
  expect(takes.map(({ request }) => [request.id, request.count])).toEqual([
    ["tokens ada", 5],
    ["tokens bob", 7],
  ]);
  takes[0]?.answer();
  await settled();
  expect(takes.slice(2).map(({ request }) => [request.id, request.count])).toEqual([["tokens ada", 2_000]]);
  takes[2]?.answer();
  expect(new Set(await waits)).toEqual(new Set([60]));
  const later = rates.tokensWait("ada", 2_006);
  await settled();
  expect(takes[3]?.request.count).toBe(0);
  takes[3]?.answer();
  expect(await later).toBe(0);
});
