// The prices of the models list are exact: USD per token with the markup, as decimal text.

import { describe, expect, it } from "vitest";
import { priceFromRow } from "../../../../src/catalog/prices/rows.ts";
import { writeModel } from "../../../../src/formats/service/model-list.ts";
import { makeCatalog, makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

interface Listed {
  readonly pricing: Readonly<Record<string, string | null>>;
  readonly supported_parameters: readonly string[];
  readonly architecture: { readonly input_modalities: readonly string[] };
}

function list(overrides: Parameters<typeof makeModel>[0], markupPpm = 50_000): Listed {
  return writeModel(makeModel(overrides), makeCatalog({ markupPpm })) as unknown as Listed;
}

/** Decimal text times 10^18, by hand. */
function atto(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  expect(fraction.length).toBeLessThanOrEqual(18);
  return BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, "0"));
}

describe("writeModel", () => {
  it("writes prices that are exact to the last digit", () => {
    const micro = fc.integer({ min: 0, max: 1e12 });
    fc.assert(
      fc.property(micro, micro, fc.integer({ min: 0, max: 10_000_000 }), (input, output, markupPpm) => {
        const { pricing } = list({ price: { input, output, cacheRead: null, cacheWrite: null } }, markupPpm);
        const factor = BigInt(1_000_000 + markupPpm);
        expect(atto(pricing.prompt as string)).toBe(BigInt(input) * factor);
        expect(atto(pricing.completion as string)).toBe(BigInt(output) * factor);
        expect(pricing.input_cache_read).toBe(pricing.prompt);
        expect(atto(pricing.input_cache_write as string)).toBe(BigInt(Math.ceil(input * 1.25)) * factor);
        expect(pricing.prompt).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  it.each([
    [100_000, 50_000, "0.000000105"],
    [3_000_000, 0, "0.000003"],
    [1, 1, "0.000000000001000001"],
    [0, 50_000, "0"],
    [1_000_000_000_000, 0, "1"],
  ])("%i micro-USD per million with %i ppm is %s per token", (input, markupPpm, expected) => {
    const price = { input, output: 0, cacheRead: null, cacheWrite: null };
    expect(list({ price }, markupPpm).pricing.prompt).toBe(expected);
  });

  it("shows bands, service tiers and the price that follows", () => {
    const bands = [{ above: 272_000, input: 4, output: 15 }];
    const changes = [{ from: "2026-12-01", input: 3, output: 9 }];
    const read = priceFromRow({ input: 2, output: 10, bands, factors: { batch: 0.5 }, until: "2026-11-30", changes });
    const { pricing } = list({ ...read }, 0);
    const later = { prompt: "0.000004", completion: "0.000015", input_cache_read: "0.000004" };
    expect(pricing).toMatchObject({
      prompt: "0.000002",
      bands: [{ above_prompt_tokens: 272_000, ...later, input_cache_write: "0.000005" }],
      tiers: { batch: { prompt: "0.000001", bands: [{ prompt: "0.000002" }] } },
      valid_until: "2026-12-01T00:00:00.000Z",
      next: { from: "2026-12-01T00:00:00.000Z", prompt: "0.000003", completion: "0.000009" },
    });
  });

  it("has no price where the model has none", () => {
    expect(Object.values(list({ price: null }).pricing)).toEqual([null, null, null, null]);
  });

  it("names what the model can do and leaves out what its host refuses", () => {
    const able = list({ capabilities: ["tools", "vision", "json", "reasoning", "audio", "files"] });
    expect(able.architecture.input_modalities).toEqual(["text", "image", "audio", "file"]);
    expect(able.supported_parameters).toEqual(expect.arrayContaining(["tools", "response_format", "reasoning_effort"]));
    const bare = list({ capabilities: [], dialect: { refuses: ["temperature"] } });
    expect(bare.supported_parameters).not.toEqual(expect.arrayContaining(["tools"]));
    expect(bare.supported_parameters).not.toContain("temperature");
  });
});
