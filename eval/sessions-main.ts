// npm run eval:sessions: what conversations cost with sessions, request by request, with each fixed model of their tier, with
// the cheapest fixed model that is below the tier of no turn, and with the cheapest one for each tier that is decided.
// --file FILE replays an operator's own log. --why NAME says turn by turn what one row costs against its cheapest fixed model.

import { readFileSync } from "node:fs";
import { type Catalog, chainOf } from "../src/catalog/catalog.ts";
import { TIERS, type Tier, tierRank } from "../src/core/tiers.ts";
import { usableHosts } from "../src/routing/hosts.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { makeRandom } from "./random.ts";
import { breakdown } from "./sessions/breakdown.ts";
import { type Conversation, type Mix, makeConversations } from "./sessions/conversations.ts";
import { readConversations } from "./sessions/log.ts";
import { type ByTier, type Outcome, simulate, type Way, type WorldKind, wholeCatalog } from "./sessions/simulate.ts";

const SEEDS = (readOption("seeds") ?? "17,18,19").split(",").map(Number);
const COUNT = Number(readOption("conversations") ?? 8);

/** By name; null for all. */
const VENDORS: Readonly<Record<string, readonly string[] | null>> = {
  "all vendors": null,
  "OpenAI, Anthropic, Google": ["openai", "anthropic", "google"],
  Anthropic: ["anthropic"],
};

/** Rows of the table: a mix of conversations, and how hosts and clients behave. */
const ROWS: readonly (readonly [string, Mix, WorldKind])[] = [
  ["coding", "coding agents", "usual"],
  ["chat", "chats", "usual"],
  ["retrieval", "one long system prompt", "usual"],
  ["sub-agents", "sub-agents", "usual"],
  ["coding, no host ever hits", "coding agents", "never hits"],
  ["coding, clock in the prompt", "coding agents", "clock"],
  ["pauses above five minutes", "long pauses", "usual"],
  ["one call with a long text", "one call", "usual"],
];

const WHY = readOption("why");
if (WHY === null) showHeads();
const file = readOption("file");
if (file !== null) {
  const conversations = readConversations(readFileSync(file, "utf8"));
  show(file, "all vendors", [conversations], { catalog: wholeCatalog(), kind: "usual" });
} else {
  const rows = generateCorpus(process.cwd());
  for (const [vendors, connected] of Object.entries(VENDORS)) {
    const catalog = wholeCatalog(connected);
    for (const [name, mix, kind] of ROWS) {
      const sets = SEEDS.map((seed) => makeConversations(mix, COUNT, rows, makeRandom(seed)));
      if (WHY === null) show(name, vendors, sets, { catalog, kind });
      else if (WHY === name) explain(`${name}, ${vendors}`, sets, { catalog, kind });
    }
  }
}

function showHeads(): void {
  console.log(
    "| conversations | vendors | turns | sessions | per request | fixed models of the usual tier (turns below their tier) | cheapest fixed model below no tier | cheapest for each tier | on / off | on / cheapest fixed | on / cheapest below no tier | on / cheapest for each tier | below tier |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

/** Costs in USD by kinds of turns, the kinds that cost most more than the fixed model first. */
function explain(name: string, sets: readonly (readonly Conversation[])[], { catalog, kind }: Setting): void {
  const of = (way: Way): readonly Outcome[] => sets.map((set) => simulate(set, way, catalog, kind));
  const hasTools = sets.some((set) => set.some(({ tools }) => tools.length > 0));
  const off = total(of("per request"));
  const fixed = fixedModels(tierOf(off), hasTools, catalog).map((id) => [id, of(`fixed ${id}`)] as const);
  const [id, outcomes] = fixed.reduce((least, each) => (total(each[1]).usd < total(least[1]).usd ? each : least));
  console.log(`\n${name}: sessions against ${id}\n`);
  console.log(`| tier, model, came from | turns | sessions | fresh | read | answers | ${id} | more |`);
  console.log("|---|---|---|---|---|---|---|---|");
  for (const row of breakdown(of("ours"), outcomes)) console.log(row);
}

interface Setting {
  readonly catalog: Catalog;
  readonly kind: WorldKind;
}

function show(name: string, vendors: string, sets: readonly (readonly Conversation[])[], setting: Setting): void {
  const of = (way: Way): Total => total(sets.map((set) => simulate(set, way, setting.catalog, setting.kind)));
  const [on, off] = [of("ours"), of("per request")];
  const hasTools = sets.some((set) => set.some(({ tools }) => tools.length > 0));
  const fixed = fixedModels(tierOf(off), hasTools, setting.catalog).map((id) => [id, of(`fixed ${id}`)] as const);
  const least = Math.min(...fixed.map(([, { usd }]) => usd));
  const listed = fixed
    .map(([id, { usd, turns, belowTier }]) => `${id} ${usd.toFixed(3)} (${Math.round((100 * belowTier) / turns)}%)`)
    .join(", ");
  const [holding, held] = cheapestHolding(off.tiers, of, { hasTools, catalog: setting.catalog });
  const each = of(cheapestByTier(off.tiers, of, { hasTools, catalog: setting.catalog }));
  const ratio = (usd: number): string => (on.usd / usd).toFixed(2);
  const cells = [
    name,
    vendors,
    on.turns,
    on.usd.toFixed(3),
    off.usd.toFixed(3),
    `${tierOf(off)}: ${listed}`,
    `${holding} ${held.toFixed(3)}`,
    each.usd.toFixed(3),
    ratio(off.usd),
    ratio(least),
    ratio(held),
    ratio(each.usd),
    on.belowTier,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

interface Total {
  readonly usd: number;
  readonly turns: number;
  readonly belowTier: number;
  readonly tiers: ReadonlyMap<Tier, number>;
}

function total(outcomes: readonly Outcome[]): Total {
  const tiers = new Map<Tier, number>();
  for (const outcome of outcomes) {
    for (const [tier, count] of outcome.tiers) tiers.set(tier, (tiers.get(tier) ?? 0) + count);
  }
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((all, outcome) => all + of(outcome), 0);
  const usd = sum(({ costNano }) => Number(costNano)) / 1e9;
  return { usd, turns: sum(({ turns }) => turns), belowTier: sum(({ belowTier }) => belowTier), tiers };
}

/** The tier of most turns. */
function tierOf({ tiers }: Total): Tier {
  return TIERS.reduce((most, tier) => ((tiers.get(tier) ?? 0) > (tiers.get(most) ?? 0) ? tier : most));
}

interface Fixed {
  readonly hasTools: boolean;
  readonly catalog: Catalog;
}

/** The model that costs least of those that may answer every turn: the chains of the highest tier and above have them. */
function cheapestHolding(tiers: Total["tiers"], of: (way: Way) => Total, given: Fixed): readonly [string, number] {
  const highest = TIERS.findLast((tier) => tiers.has(tier)) as Tier;
  const able = TIERS.slice(tierRank(highest)).flatMap((tier) => goodModels(tier, given));
  const priced = [...new Set(able)].map((id) => [id, of(`fixed ${id}`).usd] as const);
  return priced.reduce((least, each) => (each[1] < least[1] ? each : least));
}

/**
 * What a client could do at best that names a model for each tier: no turn is below its tier. One tier after the other is
 * chosen, that of most turns first, until nothing changes.
 */
function cheapestByTier(tiers: Total["tiers"], of: (way: Way) => Total, given: Fixed): ByTier {
  const used = TIERS.filter((tier) => tiers.has(tier)).sort((a, b) => (tiers.get(b) ?? 0) - (tiers.get(a) ?? 0));
  let best = new Map(used.map((tier) => [tier, goodModels(tier, given)[0] as string]));
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    let usd = of(best).usd;
    if (usd >= before) return best;
    before = usd;
    for (const tier of used) {
      const atLeast = TIERS.slice(tierRank(tier)).flatMap((each) => goodModels(each, given));
      for (const id of new Set(atLeast)) {
        const tried = new Map(best).set(tier, id);
        const cost = of(tried).usd;
        if (cost < usd) [best, usd] = [tried, cost];
      }
    }
  }
}

/** Without tools, models below the floor of a tier are its fallbacks, so a client that wants the tier names none of them. */
function goodModels(tier: Tier, { hasTools, catalog }: Fixed): readonly string[] {
  const models = fixedModels(tier, hasTools, catalog);
  const proven = hasTools ? undefined : catalog.proven?.[tier];
  const good = models.filter((id) => proven?.has(id) !== false);
  return good.length > 0 ? good : models;
}

function fixedModels(tier: Tier, hasTools: boolean, catalog: Catalog): readonly string[] {
  return chainOf(catalog, tier, hasTools)
    .filter((model) => usableHosts(model, catalog).length > 0)
    .map(({ id }) => id);
}
