// Models that retire: when they leave their chains, and when people are told. Time is given, never today's.

import { expect, it } from "vitest";
import { buildCatalog, DEFAULT_TIMEOUTS } from "../../../src/catalog/build.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { catalogAt, pricedByClock } from "../../../src/catalog/moment.ts";
import { providerKind } from "../../../src/catalog/provider-kinds.ts";
import { chainRetirements, retirementOf } from "../../../src/catalog/retirement.ts";
import type { HostRow, ModelRow } from "../../../src/catalog/rows.ts";
import type { Model } from "../../../src/core/model.ts";
import { usableHosts } from "../../../src/routing/hosts.ts";

const END = "2030-06-15";
const at = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const LAST_MOMENT = at(END) - 1;

function provider(id: string) {
  const address = { baseUrl: "http://127.0.0.1:1", apiKey: "k", headers: {}, timeouts: DEFAULT_TIMEOUTS };
  return { provider: { id, ...providerKind("openai"), ...address } };
}

function row(id: string, changes: Partial<ModelRow> = {}): ModelRow {
  const price = { input: 1, output: 3 };
  return { id, provider: "lab", price, context: 8000, maxOutput: 1000, capabilities: ["tools"], ...changes };
}

function made(models: readonly ModelRow[], tiers: Readonly<Record<string, readonly string[]>>): Catalog {
  const providers = [provider("lab"), provider("spare")];
  const { catalog, problems } = buildCatalog({ isBuiltinUsed: false, providers, models, tiers, tiersWithTools: tiers });
  expect(problems).toEqual([]);
  return catalog as Catalog;
}

const chainAt = (catalog: Catalog, ms: number) => {
  const now = catalogAt(catalog, ms).catalog;
  return [now.chains.LIGHT, now.withTools.LIGHT?.models].map((models) => models?.map(({ id }) => id));
};

it("a model leaves its chains on its day, and not a moment before", () => {
  const catalog = made([row("old", { retires: END }), row("new")], { LIGHT: ["old", "new"] });
  expect(chainAt(catalog, LAST_MOMENT)).toEqual([
    ["old", "new"],
    ["old", "new"],
  ]);
  expect(chainAt(catalog, at(END))).toEqual([["new"], ["new"]]);
  // It can still be asked for by name.
  const old = catalogAt(catalog, at(END)).catalog.models.get("old") as Model;
  expect(usableHosts(old, catalog)).toHaveLength(1);
});

it("a model stays while another of its hosts has it, and goes there first", () => {
  const hosts: readonly HostRow[] = [{ provider: "spare" }];
  const catalog = made([row("old", { retires: END, hosts }), row("new")], { LIGHT: ["old", "new"] });
  const now = catalogAt(catalog, at(END)).catalog;
  const old = now.models.get("old") as Model;
  expect(now.chains.LIGHT.map(({ id }) => id)).toEqual(["old", "new"]);
  expect([old.provider, usableHosts(old, now).map((host) => host.provider)]).toEqual(["spare", ["spare"]]);
  expect(retirementOf(catalog, catalog.models.get("old") as Model, at(END))).toBeNull();
});

it("with both hosts gone it retires with the last of them", () => {
  const hosts: readonly HostRow[] = [{ provider: "spare", retires: "2030-07-01" }];
  const catalog = made([row("old", { retires: END, hosts })], { LIGHT: ["old"] });
  const old = catalog.models.get("old") as Model;
  expect(retirementOf(catalog, old, at(END))).toEqual({ model: "old", day: "2030-07-01", state: "soon" });
});

it("a tier without models is left to the others, and where all are gone they are tried all the same", () => {
  const catalog = made([row("old", { retires: END }), row("new")], { LIGHT: ["old"], STANDARD: ["new"] });
  const now = catalogAt(catalog, at(END)).catalog;
  expect([now.chains.LIGHT.length, now.chains.STANDARD.length]).toEqual([0, 1]);
  const alone = made([row("old", { retires: END })], { LIGHT: ["old"] });
  expect(catalogAt(alone, at(END)).catalog.chains.LIGHT.map(({ id }) => id)).toEqual(["old"]);
});

it("the clock looks again when a notice begins and when a model ends", () => {
  const catalog = made([row("old", { retires: END }), row("new")], { LIGHT: ["old", "new"] });
  const looks: number[] = [];
  const current = pricedByClock(catalog, (ms) => looks.push(ms));
  const [early, notice, end] = [at("2030-01-01"), at("2030-05-16"), at(END)];
  for (const ms of [early, early + 1, notice, notice + 1, end, end + 1]) current(ms);
  expect(looks).toEqual([early, notice, end]);
  expect([early, notice, end].map((ms) => chainRetirements(catalog, ms).map(({ state }) => state))).toEqual([
    [],
    ["soon"],
    ["retired"],
  ]);
});
