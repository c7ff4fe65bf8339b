// The catalogue that ships: complete, dated, and sensible as a ladder.

import { describe, expect, it } from "vitest";
import { buildCatalog } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { type Catalog, effortsTaken } from "../../../src/catalog/catalog.ts";
import { priceFromRow } from "../../../src/catalog/prices/rows.ts";
import { hostRows, type ModelRow } from "../../../src/catalog/rows.ts";
import { CAPABILITIES, ENDPOINTS, type Model, TOOL_SCENARIOS } from "../../../src/core/model.ts";
import { readEntry } from "../../../src/core/requests/effort.ts";
import { isTier, TIERS, type Tier, tierRank } from "../../../src/core/tiers.ts";

const builtin = readBuiltin();
const models = new Map(builtin.models.map((row) => [row.id, row]));
const chatModels = builtin.models.filter((row) => !ENDPOINTS.some((name) => row.capabilities.includes(name)));
/** Stands for any provider of Bedrock. */
const BEDROCK = "amazon-bedrock";
/** The day on which the retirements were last compared. */
const LAST_CHECKED = "2026-11-19";
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
    const ids = [...builtin.providers.map((provider) => provider.id), BEDROCK];
    expect(ids).toContain(hostRows(row)[0]?.provider);
    if (row.dialect !== undefined) expect(Object.keys(builtin.dialects)).toContain(row.dialect);
  });

  it.each(builtin.models.filter((row) => !chatModels.includes(row)))(
    "$id serves one endpoint, paid by tokens or by one other unit",
    (row) => {
      expect([row.capabilities.length, row.tier]).toEqual([1, undefined]);
      const { input = 0, output = 0, characters = 0, minute = 0 } = row.price ?? {};
      const [endpoint = ""] = row.capabilities;
      if (["embeddings", "rerank", "moderation"].includes(endpoint)) expect(output).toBe(0);
      const units = [input, characters, minute].filter((rate) => rate > 0);
      expect(units.length).toBe(endpoint === "moderation" ? 0 : 1);
      expect(row.context).toBeGreaterThan(0);
      const { provider } = row.provider === undefined ? { provider: hostRows(row)[0]?.provider } : row;
      const kind = builtin.providers.find(({ id }) => id === provider)?.kind;
      expect(provider === BEDROCK || kind === "openai").toBe(true);
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

it.each(builtin.models)("$id has hosts that are priced, dated, sourced and not over", (row) => {
  for (const host of hostRows(row)) {
    const { price = row.price, priceAsOf = row.priceAsOf, priceSource = row.priceSource, retires } = host;
    const last = retires ?? (host.provider === row.provider ? row.retires : undefined);
    expect(priceFromRow(price as NonNullable<ModelRow["price"]>), host.provider).not.toBeNull();
    expect([priceAsOf, priceSource !== ""], host.provider).toEqual([expect.stringMatching(DAY), true]);
    // The day of a retirement is the first one without the host.
    if (last !== undefined) expect(last > LAST_CHECKED, `${host.provider} ends on ${last}`).toBe(true);
  }
});

/** The vendor refuses tools with reasoning in Chat Completions since GPT-5.4. */
const RESPONSES_ONLY = builtin.models.filter(({ id }) => /^gpt-(5\.[4-9]|[6-9])/.test(id));

it.each(RESPONSES_ONLY)("$id is asked through Responses at OpenAI and Azure", (row) => {
  const own = hostRows(row).filter(({ provider }) => ["openai", "azure-openai"].includes(provider));
  expect(own.length).toBeGreaterThan(0);
  for (const { formats } of own) expect(formats).toEqual(["openai-responses"]);
});

const { asOf, chains, chainsWithTools = {} } = builtin.tiers;
const VENDORS = ["openai", "anthropic", "google"] as const;
const catalog = buildCatalog({ builtin }).catalog as Catalog;
const entriesOf = (list: readonly string[]) => list.map((entry) => readEntry(entry, (id) => models.has(id)));

describe.each([
  ["without tools", chains],
  ["with tools", chainsWithTools],
])("chains that ship, %s", (_, lists) => {
  it.each(TIERS)("%s has a model for a key of each large vendor alone", (tier) => {
    const rows = entriesOf(lists[tier] ?? []).map(({ id }) => models.get(id) as ModelRow);
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.map(({ provider }) => provider)).toEqual(expect.arrayContaining([...VENDORS]));
  });

  it.each(TIERS)("%s asks for efforts that its models take", (tier) => {
    for (const { id, effort } of entriesOf(lists[tier] ?? [])) {
      if (effort !== null) expect(effortsTaken(catalog.models.get(id) as Model), id).toContain(effort);
    }
  });

  it.each(TIERS)("%s names no model that ends within 30 days of the catalogue", (tier) => {
    const soonest = new Date(Date.parse(asOf) + 30 * 86_400_000).toISOString().slice(0, 10);
    for (const { id } of entriesOf(lists[tier] ?? [])) {
      const ends = hostRows(models.get(id) as ModelRow).flatMap(({ retires }) => retires ?? []);
      for (const day of ends) expect([id, day > soonest]).toEqual([id, true]);
    }
  });
});

describe("chains that ship", () => {
  it("have each model in its own tier, and in no tier above it", () => {
    for (const tier of TIERS) {
      for (const { id } of entriesOf(chains[tier])) {
        const own = models.get(id)?.tier as Tier;
        expect(tierRank(own)).toBeGreaterThanOrEqual(tierRank(tier));
        expect(entriesOf(chains[own]).map((entry) => entry.id)).toContain(id);
      }
    }
  });

  it("become dearer from tier to tier, by more than a fifth where they do", () => {
    const primaries = TIERS.map((tier) => blended(models.get(entriesOf(chains[tier])[0]?.id ?? "") as ModelRow));
    for (const [place, price] of primaries.entries())
      expect(price * 1.2).toBeGreaterThanOrEqual(primaries[place - 1] ?? 0);
    expect(primaries[0] ?? 0).toBeLessThan(primaries[4] ?? 0);
  });
});

describe("dates that ship", () => {
  const hosts = builtin.models.flatMap((row) => hostRows(row).map((host) => [row.id, host] as const));

  it("are days, and no host has ended on the day of the catalogue", () => {
    expect(asOf).toMatch(DAY);
    for (const [id, { retires = "9999-12-31" }] of hosts) {
      expect(retires).toMatch(DAY);
      expect([id, retires > asOf]).toEqual([id, true]);
    }
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
