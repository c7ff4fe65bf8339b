// Past requests under another profile: without rules nothing changes, and rules do what they do to live requests.

import { describe, expect, it } from "vitest";
import { type Constraints, NO_CONSTRAINTS, NO_CONTROLS, type RoutingQuestion } from "../../../src/core/decision.ts";
import type { PastRequest } from "../../../src/core/requests/log.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { decide } from "../../../src/routing/decide.ts";
import { type Policy, replay } from "../../../src/routing/replay.ts";
import { makeCatalog, makeChat, makeModel } from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const price = (input: number) => ({ input: input * 1e6, output: input * 3e6, cacheRead: null, cacheWrite: null });
const catalog = makeCatalog({
  chains: Object.fromEntries(
    TIERS.map((tier, rank) => [
      tier,
      [
        makeModel({ id: `${tier}-a`, tier, price: price(rank + 1) }),
        makeModel({ id: `${tier}-b`, tier, price: price(rank + 2), capabilities: ["tools"] }),
      ],
    ]),
  ),
});

const BUCKETS = { input: 100, cacheRead: 0, cacheWrite: 0, output: 50 };

function pastOf(question: RoutingQuestion): PastRequest {
  const decision = decide(question, catalog);
  const answer = { model: decision.model, buckets: BUCKETS, charge: 7n };
  const features = { outputCap: question.chat.maxOutputTokens ?? 0, choices: 1 };
  return { profileId: null, requestId: "r", atMs: 0, decision, features, answer };
}

function reroute(past: PastRequest, constraints: Constraints, changes: Partial<Policy> = {}) {
  return replay(past, { constraints, catalog, ...changes }).next;
}

function questionOf(text: string, overrides: Partial<RoutingQuestion> = {}): RoutingQuestion {
  const chat = makeChat({ messages: [{ role: "user", content: text }] });
  return { chat, controls: NO_CONTROLS, constraints: NO_CONSTRAINTS, restingModels: new Map(), ...overrides };
}

describe("a past request", () => {
  it("gets under any profile what a live one would get", () => {
    const tier = fc.option(fc.constantFrom(...TIERS));
    const rules = fc.record({
      tierFloor: tier,
      tierCeiling: tier,
      maxCostUsd: fc.option(fc.constantFrom(0.0001, 0.001, 1)),
      codeQuality: fc.option(fc.constantFrom(0 as const, 1 as const, 2 as const)),
      chatQuality: fc.option(fc.constantFrom(0 as const, 1 as const, 2 as const)),
      blockedModels: fc.subarray(["NANO-a", "LIGHT-a", "COMPLEX-a"]),
    });
    const model = fc.constantFrom(null, "auto", "LIGHT-b");
    const text = fc.constantFrom(
      "Hi",
      "What is the capital of France?",
      "Fix this function: def f(: pass",
      "Prove it.",
    );
    const controls = fc.record({ tierFloor: tier, tierCeiling: tier, model });
    fc.assert(
      fc.property(text, controls, rules, (prompt, asked, ruled) => {
        const constraints: Constraints = { ...NO_CONSTRAINTS, ...ruled };
        const question = questionOf(prompt, { controls: { ...NO_CONTROLS, ...asked } });
        const live = decide({ ...question, constraints }, catalog);
        const then = reroute(pastOf(question), constraints);
        expect(then).toMatchObject({ state: "routed", tier: live.tier, model: live.model });
      }),
      { numRuns: 100 },
    );
  });

  it("costs what it cost where nothing changes, and the new model's price on the same tokens where it does", () => {
    const past = pastOf(questionOf("Hi"));
    expect(reroute(past, NO_CONSTRAINTS)).toMatchObject({ cost: 7n });
    const raised = reroute(past, { ...NO_CONSTRAINTS, tierFloor: "COMPLEX" });
    // 100 × 5 + 50 × 15 micro-USD, and the markup.
    const base = 1_250_000n;
    expect(raised).toMatchObject({
      model: "COMPLEX-a",
      cost: (base * (1_000_000n + BigInt(catalog.markupPpm)) + 999_999n) / 1_000_000n,
    });
    expect(reroute({ ...past, answer: null }, NO_CONSTRAINTS)).toMatchObject({ cost: null });
  });

  it("that named its model is refused where the profile does not offer it, and otherwise keeps it", () => {
    const controls = { ...NO_CONTROLS, profile: "direct", model: "LIGHT-b" } as const;
    const past = pastOf(questionOf("Hi", { controls }));
    expect(reroute(past, NO_CONSTRAINTS)).toMatchObject({ state: "routed", model: "LIGHT-b" });
    const blocked = reroute(past, { ...NO_CONSTRAINTS, blockedModels: ["LIGHT-b"] });
    expect(blocked.state).toBe("refused");
    const { because } = replay(past, { constraints: { ...NO_CONSTRAINTS, blockedModels: ["LIGHT-b"] }, catalog });
    expect(because.join()).toContain("isn't available");
  });

  it("is asked again what it named, by a profile that honours it and by one that does not", () => {
    const honouring = { ...NO_CONSTRAINTS, honoursModel: true };
    const question = questionOf("Hi", { controls: { ...NO_CONTROLS, model: "COMPLEX-b" } });
    const [routed, named] = [pastOf(question), pastOf({ ...question, constraints: honouring })];
    expect(named.decision).toMatchObject({ model: "COMPLEX-b", tier: "COMPLEX", profile: "direct" });
    for (const past of [routed, named]) {
      expect(reroute(past, honouring)).toMatchObject({ model: "COMPLEX-b" });
      expect(reroute(past, NO_CONSTRAINTS)).toMatchObject({ model: routed.decision.model, tier: routed.decision.tier });
    }
    const { controls: _, ...unrecorded } = routed.decision;
    expect(replay({ ...routed, decision: unrecorded }, { constraints: honouring, catalog }).isChanged).toBe(false);
  });

  it("with pictures stays with models that see them", () => {
    const past = pastOf(questionOf("Hi"));
    const withPicture = { ...past, features: { attachments: 1 } };
    const rules = { ...NO_CONSTRAINTS, blockedModels: TIERS.map((tier) => `${tier}-a`) };
    expect(reroute(past, rules).state).toBe("routed");
    expect(reroute(withPicture, rules).state).toBe("refused");
  });
});

describe("another policy", () => {
  const past = pastOf(questionOf("Write a short letter to my neighbour about the hedge."));
  const decided = (changes: Partial<PastRequest["decision"]>): PastRequest => ({
    ...past,
    decision: { ...past.decision, tier: "LIGHT", classifiedTier: "LIGHT", model: "LIGHT-a", isSure: true, ...changes },
  });
  const under = (each: PastRequest, changes: Partial<Policy>) =>
    replay(each, { constraints: NO_CONSTRAINTS, catalog, ...changes });

  it("that is the old one changes nothing and gives no reasons", () => {
    expect(under(past, {})).toMatchObject({ isChanged: false, because: [] });
  });

  const cases: readonly [string, Partial<PastRequest["decision"]>, Partial<Policy>, string, string][] = [
    [
      "cuts the score elsewhere",
      { score: 0.5 },
      { bounds: [0.1, 0.2, 0.3, 0.9] },
      "STANDARD",
      "score 0.50 falls in STANDARD",
    ],
    [
      "is surer",
      { confidence: 0.6, score: 0.1, classifiedTier: "NANO", tier: "NANO", model: "NANO-a" },
      { sureFrom: 0.7 },
      "LIGHT",
      "low confidence raised NANO to LIGHT",
    ],
    [
      "gives a category a floor",
      { category: "writing" },
      { categoryFloors: { writing: "COMPLEX" } },
      "COMPLEX",
      "category floor (writing) raised LIGHT to COMPLEX",
    ],
    ["still heeds the history", { historyFloor: "STANDARD" }, {}, "STANDARD", "history floor raised LIGHT to STANDARD"],
    [
      "still heeds the request's ceiling",
      { controls: { ...NO_CONTROLS, tierCeiling: "NANO" } },
      {},
      "NANO",
      "requested ceiling lowered LIGHT to NANO",
    ],
  ];
  it.each(cases)("%s", (_name, decision, changes, tier, because) => {
    const replayed = under(decided(decision), changes);
    expect(replayed).toMatchObject({ isChanged: true, next: { state: "routed", tier } });
    expect(replayed.because).toEqual([because]);
  });

  it("leaves a forced tier alone", () => {
    const controls = { ...NO_CONTROLS, profile: "tier", forcedTier: "LIGHT" } as const;
    const forced = decided({ profile: "tier", controls, score: 0.5 });
    expect(under(forced, { bounds: [0, 0, 0, 0] })).toMatchObject({ isChanged: false });
  });

  it("may begin a tier with another model", () => {
    const chains = { ...catalog.chains, LIGHT: catalog.chains.LIGHT.toReversed() };
    const replayed = under(decided({}), { catalog: { ...catalog, chains } });
    expect(replayed).toMatchObject({ isChanged: true, because: ["LIGHT-b is first in the LIGHT chain"] });
  });
});
