import { describe, expect, it } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import {
  EXPECTED_OUTPUT_TOKENS,
  estimateCost,
  estimateInputTokens,
  estimateTokens,
  savedShare,
} from "../../../src/routing/cost.ts";
import { makeCatalog, makeChat, makeModel, makeTool } from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const price = (input: number, output: number) => ({ input, output, cacheRead: null, cacheWrite: null });

describe("estimateTokens", () => {
  const cases: readonly [string, string, number, number][] = [
    ["nothing", "", 0, 0],
    ["English", "The quick brown fox jumps over the lazy dog and runs away.", 11, 17],
    ["Han", "今天天气很好我们去公园", 8, 13],
    ["Cyrillic", "Сегодня хорошая погода, идём гулять", 11, 20],
    // 7, 26, 26 and 20 tokens of o200k.
    ["a question", "What is the capital of France?", 6, 9],
    ["JSON", '{"id":"req_1","status":200,"usage":{"input":1204,"output":87},"ok":true}', 22, 30],
    ["a log line", "2026-11-15T14:03:22.123Z INFO status=200 duration_ms=371 model=small", 22, 30],
    ["code", "export function add(left: number, right: number): number {\n  return left + right;\n}\n", 17, 24],
  ];
  it.each(cases)("%s", (_name, text, low, high) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(low);
    expect(estimateTokens(text)).toBeLessThanOrEqual(high);
  });

  it("extrapolates long texts to within a tenth", () => {
    const page = "The harbour was rebuilt in 1904, after the flood; 今天天气很好. ".repeat(20);
    const long = estimateTokens(page.repeat(80));
    expect(Math.abs(long / 80 / estimateTokens(page) - 1)).toBeLessThan(0.1);
  });
});

describe("estimateInputTokens", () => {
  it("grows with every part of a request", () => {
    const base = estimateInputTokens(makeChat());
    const image = { role: "user", content: [{ type: "image_url" }] } as const;
    const system = { role: "system", content: "Answer in verse." } as const;
    const call = {
      role: "assistant",
      tool_calls: [{ function: { name: "f", arguments: '{"city":"Rome"}' } }],
    } as const;
    for (const message of [image, system, call]) {
      expect(
        estimateInputTokens(makeChat({ messages: [{ role: "user", content: "Hello" }, message] })),
      ).toBeGreaterThan(base);
    }
    const plain = estimateInputTokens(makeChat({ tools: [makeTool()] }));
    const parameters = { type: "object", properties: { city: { type: "string", description: "The city" } } };
    expect(plain).toBeGreaterThan(base);
    expect(estimateInputTokens(makeChat({ tools: [makeTool({ parameters })] }))).toBeGreaterThan(plain);
  });
});

describe("estimateCost", () => {
  const model = makeModel({ price: price(1_000_000, 2_000_000), maxOutput: 1000 });
  const catalog = makeCatalog({
    baseline: makeModel({ id: "b", price: price(10_000_000, 20_000_000) }),
    markupPpm: 50_000,
  });
  const of = (chat: Parameters<typeof makeChat>[0], catalogue = catalog) =>
    estimateCost({ chat: makeChat(chat), inputTokens: 100, tier: "LIGHT", model, catalog: catalogue });

  it("adds the markup to the model and not to the baseline", () => {
    const estimate = of({ maxOutputTokens: 50 });
    expect(estimate).toMatchObject({ cost: 210_000n, baselineCost: 2_000_000n, output: 50 });
    expect(estimate.savings).toBeCloseTo(0.895, 10);
  });

  it("takes the tier's length without a cap, the model's limit above it, and every choice", () => {
    expect(of({}).output).toBe(EXPECTED_OUTPUT_TOKENS.LIGHT);
    expect(of({ maxOutputTokens: 5000 }).output).toBe(1000);
    expect(of({ maxOutputTokens: 50, choiceCount: 3 }).output).toBe(150);
  });

  it("saves nothing against a free or a cheaper baseline", () => {
    for (const baselinePrice of [price(0, 0), price(1, 1), null]) {
      expect(of({}, makeCatalog({ baseline: makeModel({ id: "b", price: baselinePrice }) })).savings).toBe(0);
    }
  });

  it("expects longer answers from higher tiers", () => {
    const lengths = TIERS.map((tier) => EXPECTED_OUTPUT_TOKENS[tier]);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  });

  it("keeps real savings between 0 and 1", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        (cost, baseline) => {
          const savings = savedShare(cost, baseline);
          expect(savings).toBeGreaterThanOrEqual(0);
          expect(savings).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
