import { describe, expect, it } from "vitest";
import { isRoutable } from "../../../src/catalog/catalog.ts";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/errors.ts";
import { TIERS, tierRank } from "../../../src/core/tiers.ts";
import { decide } from "../../../src/routing/decide.ts";
import { makeCatalog, makeModel, makeQuestion, makeTool, type QuestionOverrides } from "../../support/catalog.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { fc } from "../../support/property.ts";

const catalog = makeCatalog({
  models: [
    makeModel({ id: "unpriced", price: null }),
    makeModel({ id: "homeless", provider: "absent" }),
    makeModel({ id: "plain", capabilities: [], tier: "STANDARD" }),
  ],
});
const ask = (question: QuestionOverrides) => decide(makeQuestion(question), catalog);

describe("auto", () => {
  it("gives a complete decision", () => {
    const decision = ask({ prompt: "What is the capital of France?" });
    expect(decision).toMatchObject({
      tier: "SIMPLE",
      model: "simple",
      chain: ["simple"],
      category: "simple_qa",
      method: "rules",
      profile: "auto",
      historyFloor: null,
      toolScenario: null,
      toolScore: null,
      candidates: [{ model: "simple", removedBecause: null }],
    });
    expect(decision.reasoning).toMatch(/^score \d\.\d\d \(SIMPLE\): short question/);
    expect(decision.costEstimate).toBeGreaterThan(0n);
    expect(decision.baselineCost).toBeGreaterThan(decision.costEstimate);
  });

  it("lists what moved it after the classifier, and nothing when nothing did", () => {
    expect(ask({ prompt: "What is the capital of France?" }).adjustments).toEqual([]);
    const raised = ask({ prompt: "What is the capital of France?", controls: { tierFloor: "STANDARD" } });
    expect(raised.adjustments).toEqual(["requested floor raised SIMPLE to STANDARD"]);
    expect(raised.reasoning).toContain(raised.adjustments?.[0] ?? "none");
  });

  it("ignores a model that was named", () => {
    expect(ask({ prompt: "hi", controls: { model: "complex" } }).model).toBe("nano");
  });

  it("names each step that changed the tier, in order", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "Write a python function that parses dates" },
      { role: "assistant", content: "Shall I?" },
      { role: "user", content: "yes" },
    ];
    const controls = { tierFloor: "COMPLEX", tierCeiling: "LIGHT" } as const;
    const decision = ask({ chat: { messages }, controls });
    expect(decision).toMatchObject({ tier: "LIGHT", historyFloor: "STANDARD" });
    const steps = [
      "score ",
      "history floor raised",
      "requested floor raised STANDARD",
      "requested ceiling lowered COMPLEX",
    ];
    const places = steps.map((step) => decision.reasoning.indexOf(step));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBe(0);
    expect(places).not.toContain(-1);
  });
});

describe("tier", () => {
  it("takes exactly the tier, past request bounds and sliders", () => {
    const controls = { profile: "tier", forcedTier: "NANO", tierFloor: "COMPLEX", chatQuality: 2 } as const;
    const decision = ask({ prompt: "Prove that the square root of 2 is irrational", controls });
    expect(decision).toMatchObject({
      tier: "NANO",
      confidence: 1,
      method: "tier",
      profile: "tier",
      category: "math",
      historyFloor: null,
    });
    expect(decision.reasoning).toMatch(/^tier NANO set by the request; score \d\.\d\d \(\w+\) not used: /);
  });

  it("is clamped by the key's profile", () => {
    const controls = { profile: "tier", forcedTier: "COMPLEX" } as const;
    const decision = ask({ controls, constraints: { tierCeiling: "LIGHT" } });
    expect(decision.tier).toBe("LIGHT");
    expect(decision.reasoning).toContain("profile ceiling lowered COMPLEX to LIGHT");
  });

  it("is 400 without a tier", () => {
    expect(() => ask({ controls: { profile: "tier" } })).toThrow(expect.objectContaining({ kind: "badRequest" }));
  });
});

describe("direct", () => {
  const direct = (model: string | null, more: QuestionOverrides = {}) =>
    ask({ ...more, controls: { profile: "direct", model } });

  it("takes the one model with its own tier, whatever it can do", () => {
    const decision = direct("plain", { chat: { tools: [makeTool()] } });
    expect(decision).toMatchObject({
      tier: "STANDARD",
      model: "plain",
      chain: ["plain"],
      confidence: 1,
      method: "direct",
    });
  });

  it.each([null, "", "auto"])("is 400 without a model: %j", (model) => {
    expect(() => direct(model)).toThrow(expect.objectContaining({ kind: "badRequest" }));
  });

  const refused: readonly [string, string, QuestionOverrides["constraints"]][] = [
    ["unknown", "nobody", {}],
    ["without a price", "unpriced", {}],
    ["without a provider", "homeless", {}],
    ["not allowed", "complex", { allowedModels: ["nano"] }],
    ["blocked", "complex", { blockedModels: ["complex"] }],
    ["lacking what the profile requires", "plain", { capabilities: ["vision"] }],
    ["above the profile's ceiling", "complex", { tierCeiling: "LIGHT" }],
    ["below the profile's floor", "nano", { tierFloor: "LIGHT" }],
  ];
  it.each(refused)("is 404 for a model %s", (_name, model, constraints) => {
    const call = () => direct(model, { constraints: constraints ?? {} });
    expect(call).toThrow(GatewayError);
    expect(call).toThrow(expect.objectContaining({ kind: "notFound" }));
  });
});

describe("laws", () => {
  const tier = fc.option(fc.constantFrom(...TIERS));
  const quality = fc.option(fc.constantFrom(0 as const, 1 as const, 2 as const));
  const controls = fc.record({
    tierFloor: tier,
    tierCeiling: tier,
    maxCostUsd: fc.option(fc.double({ min: 0, max: 0.01, noNaN: true }), { nil: null }),
    toolScoreMin: fc.option(fc.integer({ min: 0, max: 100 })),
    codeQuality: quality,
    chatQuality: quality,
  });
  const phrase = fc.constantFrom(
    "hi",
    "Prove it",
    "What is the capital?",
    "Fix this function {};",
    "继续",
    "Write a poem",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(phrase).map((parts) => parts.join(" ")),
  );
  const message: fc.Arbitrary<ChatMessage> = fc.record({
    role: fc.constantFrom("user", "assistant", "system"),
    content: text,
  });
  const chat = fc.record({
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    tools: fc.constantFrom([], [makeTool()]),
    maxOutputTokens: fc.option(fc.integer({ min: 1, max: 100_000 })),
  });
  const resting = fc.subarray(["nano", "light", "complex"]);

  it("hold for any request", () => {
    fc.assert(
      fc.property(chat, controls, fc.record({ tierFloor: tier, tierCeiling: tier }), resting, (...given) => {
        const [request, wanted, constraints, restingModels] = given;
        const question = makeQuestion({ chat: request, controls: wanted, constraints, restingModels });
        const decision = decide(question, catalog);
        expect(decide(question, catalog)).toEqual(decision);

        const rankOf = (t: (typeof TIERS)[number] | null | undefined, absent: number) => (t ? tierRank(t) : absent);
        const high = Math.min(rankOf(wanted.tierCeiling, 4), rankOf(constraints.tierCeiling, 4));
        const low = Math.min(high, Math.max(rankOf(wanted.tierFloor, 0), rankOf(constraints.tierFloor, 0)));
        expect(tierRank(decision.tier)).toBeGreaterThanOrEqual(low);
        expect(tierRank(decision.tier)).toBeLessThanOrEqual(high);

        expect(decision.chain.length).toBeGreaterThan(0);
        expect(decision.model).toBe(decision.chain[0]);
        expect(new Set(decision.chain).size).toBe(decision.chain.length);
        for (const id of decision.chain) expect(isRoutable(catalog, catalog.models.get(id)!)).toBe(true);
        expect(decision.savings).toBeGreaterThanOrEqual(0);
        expect(decision.savings).toBeLessThanOrEqual(1);
        expect(decision.confidence).toBeGreaterThanOrEqual(0);
        expect(decision.confidence).toBeLessThanOrEqual(1);
        expect(decision.reasoning).toMatch(/score \d\.\d\d/);
        expect(decision.toolScenario === null).toBe(request.tools.length === 0);
      }),
      { numRuns: 300 },
    );
  });

  const million = (unit: string) => unit.repeat(Math.ceil(1_000_000 / unit.length));
  const hostile = [
    "a",
    " ",
    "\n",
    "<system-reminder>",
    "<system-reminder></system-reminder>",
    "```",
    "    at a (",
    "({[",
    "prove ",
    "how many ",
    "证明",
    "😀",
    "\\frac{1}{2}",
    "it's ",
    "\u0130",
  ];
  const roomy = makeCatalog({ chains: { LIGHT: [makeModel({ context: 10_000_000 })] } });
  it.each(hostile)("a megabyte of %j is decided in less than 50 ms", (unit) => {
    const question = makeQuestion({
      chat: {
        messages: [
          { role: "user", content: million(unit) },
          { role: "user", content: "continue" },
        ],
        tools: [makeTool({ description: million(unit) })],
      },
    });
    // The best of many: a slow path is slow every time, a busy machine is not.
    let bestMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 50 && bestMs >= 50; tries++) {
      bestMs = Math.min(
        bestMs,
        cpuMs(() => void decide(question, roomy)),
      );
    }
    expect(bestMs).toBeLessThan(50);
  });
});
