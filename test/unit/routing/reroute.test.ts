// Past requests under another profile: without rules nothing changes, and rules do what they do to live requests.

import { describe, expect, it } from "vitest";
import { type Constraints, NO_CONSTRAINTS, NO_CONTROLS, type RoutingQuestion } from "../../../src/core/decision.ts";
import type { PastRequest } from "../../../src/core/decision-log.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { decide } from "../../../src/routing/decide.ts";
import { reroute } from "../../../src/routing/reroute.ts";
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
  return { requestId: "r", atMs: 0, decision, features, answer };
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
    const text = fc.constantFrom(
      "Hi",
      "What is the capital of France?",
      "Fix this function: def f(: pass",
      "Prove it.",
    );
    const controls = fc.record({ tierFloor: tier, tierCeiling: tier });
    fc.assert(
      fc.property(text, controls, rules, (prompt, asked, ruled) => {
        const constraints: Constraints = { ...NO_CONSTRAINTS, ...ruled };
        const question = questionOf(prompt, { controls: { ...NO_CONTROLS, ...asked } });
        const live = decide({ ...question, constraints }, catalog);
        const then = reroute(pastOf(question), constraints, catalog);
        expect(then).toMatchObject({ state: "routed", tier: live.tier, model: live.model });
      }),
      { numRuns: 100 },
    );
  });

  it("costs what it cost where nothing changes, and the new model's price on the same tokens where it does", () => {
    const past = pastOf(questionOf("Hi"));
    expect(reroute(past, NO_CONSTRAINTS, catalog)).toMatchObject({ cost: 7n });
    const raised = reroute(past, { ...NO_CONSTRAINTS, tierFloor: "COMPLEX" }, catalog);
    // 100 × 5 + 50 × 15 micro-USD, and the markup.
    const base = 1_250_000n;
    expect(raised).toMatchObject({
      model: "COMPLEX-a",
      cost: (base * (1_000_000n + BigInt(catalog.markupPpm)) + 999_999n) / 1_000_000n,
    });
    expect(reroute({ ...past, answer: null }, NO_CONSTRAINTS, catalog)).toMatchObject({ cost: null });
  });

  it("that named its model is refused where the profile does not offer it, and otherwise keeps it", () => {
    const controls = { ...NO_CONTROLS, profile: "direct", model: "LIGHT-b" } as const;
    const past = pastOf(questionOf("Hi", { controls }));
    expect(reroute(past, NO_CONSTRAINTS, catalog)).toMatchObject({ state: "routed", model: "LIGHT-b" });
    const blocked = reroute(past, { ...NO_CONSTRAINTS, blockedModels: ["LIGHT-b"] }, catalog);
    expect(blocked).toMatchObject({ state: "refused", because: expect.stringContaining("not offered") });
  });

  it("with pictures stays with models that see them", () => {
    const past = pastOf(questionOf("Hi"));
    const withPicture = { ...past, features: { "roles.attachments": 1 } };
    const rules = { ...NO_CONSTRAINTS, blockedModels: TIERS.map((tier) => `${tier}-a`) };
    expect(reroute(past, rules, catalog).state).toBe("routed");
    expect(reroute(withPicture, rules, catalog).state).toBe("refused");
  });
});
