// The catalogue that ships: complete, dated, and sensible as a ladder.

import { describe, expect, it } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { priceFromRow } from "../../../src/catalog/prices/rows.ts";
import { hostRows, type ModelRow } from "../../../src/catalog/rows.ts";
import { CAPABILITIES, ENDPOINTS, TOOL_SCENARIOS } from "../../../src/core/model.ts";
import { isTier, TIERS, type Tier, tierRank } from "../../../src/core/tiers.ts";

const builtin = readBuiltin();
const models = new Map(builtin.models.map((row) => [row.id, row]));
const chatModels = builtin.models.filter((row) => !ENDPOINTS.some((name) => row.capabilities.includes(name)));
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** At the host that asks least, as requests are sent. */
function blended(row: ModelRow): number {
  const prices = hostRows(row).map(({ price = row.price }) => ((price?.input ?? 0) * 3 + (price?.output ?? 0)) / 4);
  return Math.min(...prices);
}

describe("models that ship", () => {
  it("are at least 35, each under its own id", () => {
    expect(models.size).toBeGreaterThanOrEqual(35);
    expect(models.size).toBe(builtin.models.length);
  });

  it.each(builtin.models)("$id is priced, dated and sourced", (row) => {
    expect(row.price).toBeDefined();
    expect(priceFromRow(row.price as NonNullable<ModelRow["price"]>)).not.toBeNull();
    expect(row.priceAsOf).toMatch(DAY);
    expect(row.priceSource).not.toBe("");
    expect(row.name).not.toBe("");
  });

  it.each(chatModels)("$id has a window, a tier, capabilities and a provider that exist", (row) => {
    expect(row.price?.input).toBeGreaterThan(0);
    expect(row.price?.output).toBeGreaterThan(0);
    expect(row.context).toBeGreaterThan(0);
    expect(row.maxOutput).toBeGreaterThan(0);
    expect(row.maxOutput).toBeLessThanOrEqual(row.context);
    expect(isTier(row.tier)).toBe(true);
    for (const capability of row.capabilities) expect(CAPABILITIES).toContain(capability);
    expect(builtin.providers.map((provider) => provider.id)).toContain(row.provider);
    if (row.dialect !== undefined) expect(Object.keys(builtin.dialects)).toContain(row.dialect);
  });

  it.each(builtin.models.filter((row) => !chatModels.includes(row)))(
    "$id serves one endpoint, paid by input",
    (row) => {
      expect([row.capabilities.length, row.tier, row.price?.output]).toEqual([1, undefined, 0]);
      expect(row.price?.input === 0).toBe(row.capabilities.includes("moderation"));
      expect(row.context).toBeGreaterThan(0);
      expect(builtin.providers.find(({ id }) => id === row.provider)?.kind).toBe("openai");
      expect(Object.values(builtin.tiers.chains).flat()).not.toContain(row.id);
    },
  );

  it.each(builtin.models.filter((row) => row.bfcl !== undefined))("$id has scores of 0 to 100 with date", (row) => {
    const { overall, ...scenarios } = row.bfcl ?? { overall: -1 };
    for (const score of [overall, ...Object.values(scenarios)]) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(100);
    }
    for (const scenario of Object.keys(scenarios)) expect(TOOL_SCENARIOS).toContain(scenario);
    expect(row.bfclAsOf).toMatch(DAY);
    expect(row.bfclSource).not.toBe("");
  });
});

/** The vendor refuses tools with reasoning in Chat Completions since GPT-5.4. */
const RESPONSES_ONLY = builtin.models.filter(({ id }) => /^gpt-(5\.[4-9]|[6-9])/.test(id));

it.each(RESPONSES_ONLY)("$id is asked through Responses at OpenAI and Azure", (row) => {
  const own = hostRows(row).filter(({ provider }) => ["openai", "azure-openai"].includes(provider));
  expect(own.length).toBeGreaterThan(0);
  for (const { formats } of own) expect(formats).toEqual(["openai-responses"]);
});

describe("chains that ship", () => {
  it.each(TIERS)("%s has three to five models of two vendors and hosts, cheapest first", (tier) => {
    const rows = builtin.tiers.chains[tier].map((id) => models.get(id) as ModelRow);
    expect(rows.length).toBeGreaterThanOrEqual(3);
    expect(rows.length).toBeLessThanOrEqual(5);
    expect(rows).not.toContain(undefined);
    expect(new Set(rows.map((row) => row.vendor)).size).toBeGreaterThanOrEqual(2);
    expect(new Set(rows.map((row) => row.provider)).size).toBeGreaterThanOrEqual(2);
    const prices = rows.map(blended);
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
    for (const row of rows) {
      // A model may serve lower tiers beside its own.
      expect(tierRank(row.tier as Tier)).toBeGreaterThanOrEqual(tierRank(tier));
      expect(builtin.tiers.chains[row.tier as Tier]).toContain(row.id);
    }
  });

  it.each(TIERS)("%s serves a user with only an OpenAI or only a Gemini key", (tier) => {
    const providers = builtin.tiers.chains[tier].map((id) => models.get(id)?.provider);
    expect(providers).toEqual(expect.arrayContaining(["openai", "google"]));
  });

  it("become dearer from tier to tier", () => {
    const primaries = TIERS.map((tier) => blended(models.get(builtin.tiers.chains[tier][0] as string) as ModelRow));
    expect(primaries).toEqual([...primaries].sort((a, b) => a - b));
    expect(new Set(primaries).size).toBe(TIERS.length);
  });

  it("have a baseline that is priced and of the highest tier", () => {
    const baseline = models.get(builtin.tiers.baseline);
    expect(baseline?.tier).toBe("COMPLEX");
    expect(baseline?.price).toBeDefined();
  });
});

describe("policies that ship", () => {
  const hosts = new Set(builtin.models.flatMap((row) => hostRows(row).map(({ provider }) => provider)));

  it.each(Object.entries(builtin.policies))("%s hosts models, and says something with date and source", (id, row) => {
    expect(hosts).toContain(id);
    expect(row.asOf).toMatch(DAY);
    expect(row.source).toMatch(/^[a-z.]+\/\S/);
    const texts = [row.region, row.dataPolicy].filter((text) => text !== undefined);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text.length).toBeLessThan(80);
  });

  it("cover the hosts that most models have", () => {
    expect(Object.keys(builtin.policies)).toEqual(
      expect.arrayContaining(["openai", "azure-openai", "openrouter", "together", "groq", "fireworks", "deepinfra"]),
    );
  });
});

describe("providers that ship", () => {
  it.each(builtin.providers)("$id has an https address and a key variable of its own", (row) => {
    expect(row.baseUrl).toMatch(/^https:\/\/[^/]+.*[^/]$/);
    expect(row.keyVariable).toMatch(/^[A-Z]+_API_KEY$/);
    expect(builtin.providers.filter((other) => other.keyVariable === row.keyVariable)).toHaveLength(1);
  });
});
