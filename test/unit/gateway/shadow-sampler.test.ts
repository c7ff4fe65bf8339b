// The queue of shadow samples: nothing is taken while the process is overloaded, or once it stops.

import { expect, test } from "vitest";
import type { Services } from "../../../src/gateway/services.ts";
import { type AnsweredRequest, createSampler, type SamplerContext } from "../../../src/gateway/shadow/sampler.ts";

const ANSWERED = {
  rule: { model: "second", share: 1, budgetPerDay: 1n },
  request: { chat: { choiceCount: 1 }, source: { bytes: Buffer.alloc(10) } },
  caller: { profile: { id: "p", constraints: {} }, teams: [], key: { requires: null } },
  record: { status: 200, ending: "complete", decision: {}, cost: { buckets: {} }, answeredBy: { model: "first" } },
  said: { isCut: false, isCutShort: false },
} as unknown as AnsweredRequest;

test("samples are dropped under overload and after the close, and taken between", async () => {
  const results: string[] = [];
  let isBusy = true;
  const sampler = createSampler({
    store: {} as SamplerContext["store"],
    // A model that is not there: the sample ends as unsuitable, so it was taken.
    services: () => ({ catalog: { models: new Map() } }) as unknown as Services,
    isBusy: () => isBusy,
    onResult: (result) => results.push(result),
    random: () => 0,
  });
  sampler.offer(ANSWERED);
  expect(results).toEqual(["dropped"]);
  isBusy = false;
  sampler.offer(ANSWERED);
  await sampler.idle();
  await sampler.close();
  sampler.offer(ANSWERED);
  expect(results).toEqual(["dropped", "unsuitable", "dropped"]);
});
