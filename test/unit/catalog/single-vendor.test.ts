// A user with one key alone: every tier has a model that answers, and the ladder of prices holds.

import { describe, expect, it } from "vitest";
import { buildCatalog, DEFAULT_TIMEOUTS } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import {
  blendedPrice,
  type Catalog,
  chainOf,
  effortIn,
  effortsTaken,
  isRoutable,
} from "../../../src/catalog/catalog.ts";
import { providerKind } from "../../../src/catalog/provider-kinds.ts";
import type { Capability, Model } from "../../../src/core/model.ts";
import { TIERS, type Tier } from "../../../src/core/tiers.ts";
import { decide } from "../../../src/routing/decide.ts";
import { makeQuestion, makeTool } from "../../support/catalog.ts";

const { providers, tiers } = readBuiltin();
const entriesOf = (tier: Tier): readonly string[] => tiers.chains[tier].map((entry) => entry.replace(/@.*/, ""));

function catalogOf({ id, kind, baseUrl, formats }: (typeof providers)[number]): Catalog {
  const address = { baseUrl, apiKey: "k", headers: {}, timeouts: DEFAULT_TIMEOUTS };
  const provider = { id, ...providerKind(kind), ...address, ...(formats === undefined ? {} : { formats }) };
  const { catalog, problems, warnings } = buildCatalog({ providers: [{ provider }] });
  expect([problems, warnings]).toEqual([[], []]);
  return catalog as Catalog;
}

/** At the host that asks least, of those that can be called. */
function priceOf(model: Model | undefined, { id }: { readonly id: string }): number {
  const own = (model?.hosts ?? []).filter(({ provider }) => provider === id);
  return Math.min(...own.map((host) => blendedPrice(host)));
}

describe.each(providers)("with a key of $id alone", (row) => {
  const catalog = catalogOf(row);
  const served = [...catalog.models.values()].filter((model) => isRoutable(catalog, model));

  it("every tier has models of it, all of them priced and sourced", () => {
    for (const tier of TIERS) {
      expect(catalog.chains[tier].length).toBeGreaterThan(0);
      for (const model of catalog.chains[tier]) {
        expect(model.provider).toBe(row.id);
        expect(model.price).not.toBeNull();
        expect(model.priceSource).not.toBe("");
      }
    }
  });

  it("every tier has models with tools for requests with tools, and efforts that they take", () => {
    if (!served.some(({ capabilities }) => capabilities.has("tools"))) return;
    for (const tier of TIERS) {
      const chain = chainOf(catalog, tier, true).filter(({ capabilities }) => capabilities.has("tools"));
      const asked = makeQuestion({ chat: { tools: [makeTool()] }, controls: { profile: "tier", forcedTier: tier } });
      const decision = decide(asked, catalog);
      expect(chain.length).toBeGreaterThan(0);
      expect(decision.tier).toBe(tier);
      expect(chain.map(({ id }) => id)).toContain(decision.model);
      for (const model of chain) {
        const effort = effortIn(catalog, model, tier, true);
        if (effort !== null) expect(effortsTaken(model)).toContain(effort);
      }
    }
  });

  it.each([false, true])("no tier begins with a dearer model than the tier above, with tools: %s", (hasTools) => {
    if (hasTools && !served.some(({ capabilities }) => capabilities.has("tools"))) return;
    const chat = hasTools ? { tools: [makeTool()] } : {};
    const prices = TIERS.map((forcedTier) => {
      const { model } = decide(makeQuestion({ chat, controls: { profile: "tier", forcedTier } }), catalog);
      return priceOf(catalog.models.get(model), row);
    });
    // Prices within a fifth count as equal.
    for (const [place, price] of prices.entries()) expect(price * 1.2).toBeGreaterThanOrEqual(prices[place - 1] ?? 0);
  });

  it("a tier that was filled offers nothing that the tier above finds too dear", () => {
    for (const [place, tier] of TIERS.entries()) {
      const above = TIERS[place + 1];
      const isShipped = entriesOf(tier).some((id) => catalog.models.get(id)?.provider === row.id);
      if (above === undefined || isShipped) continue;
      const dearest = Math.max(...catalog.chains[above].map((model) => priceOf(model, row)));
      for (const model of catalog.chains[tier]) expect(priceOf(model, row)).toBeLessThanOrEqual(dearest);
    }
  });

  it.each<[Capability, object]>([
    ["tools", { chat: { tools: [makeTool()] } }],
    [
      "vision",
      { chat: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a/b" } }] }] } },
    ],
  ])("%s find a model in every tier", (capability, question) => {
    if (!served.some(({ capabilities }) => capabilities.has(capability))) return;
    for (const forcedTier of TIERS) {
      const asked = makeQuestion({ ...question, controls: { profile: "tier", forcedTier } });
      expect(catalog.models.get(decide(asked, catalog).model)?.capabilities.has(capability)).toBe(true);
    }
  });
});
