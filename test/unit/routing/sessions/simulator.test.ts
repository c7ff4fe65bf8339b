// The simulator of conversations with a fixed seed: our rule never runs a turn below its tier, and never costs more than
// routing each request alone. `npm run eval:sessions` prints the whole table.

import { beforeAll, describe, expect, it } from "vitest";
import { generateCorpus } from "../../../../eval/corpus/generate.ts";
import { makeRandom } from "../../../../eval/random.ts";
import { type Mix, makeConversations } from "../../../../eval/sessions/conversations.ts";
import { readConversations } from "../../../../eval/sessions/log.ts";
import {
  type ByTier,
  type Outcome,
  simulate,
  WAYS,
  type Way,
  wholeCatalog,
} from "../../../../eval/sessions/simulate.ts";
import { chainOf } from "../../../../src/catalog/catalog.ts";
import { TIERS, type Tier, tierRank } from "../../../../src/core/tiers.ts";
import { costAt } from "../../../../src/routing/cost.ts";

const rows = generateCorpus(process.cwd());
const catalog = wholeCatalog();

/** How much of per-request cost our rule may come to: a little more than it does with this seed. */
const MIXES_TRIED = [
  ["coding agents", 0.55],
  ["one long system prompt", 0.62],
  ["chats", 0.77],
] as const satisfies readonly (readonly [Mix, number])[];

describe.each(MIXES_TRIED)("%s", (mix, most) => {
  const outcomes = {} as Record<(typeof WAYS)[number], Outcome>;
  beforeAll(() => {
    const conversations = makeConversations(mix, 4, rows, makeRandom(3));
    for (const way of WAYS) outcomes[way] = simulate(conversations, way, catalog);
  });

  it("runs no turn below its tier, where staying with one model does", () => {
    expect(outcomes.ours.belowTier).toBe(0);
    expect(outcomes.sticky.belowTier).toBeGreaterThan(0);
  });

  it("costs no more than each request alone, and less than the large model", () => {
    expect(Number(outcomes.ours.costNano)).toBeLessThanOrEqual(most * Number(outcomes["per request"].costNano));
    expect(outcomes.ours.costNano).toBeLessThan(outcomes["always large"].costNano);
  });

  // In dollars: a cache that lives longer is read more often, and yet another model may cost less.
  it("pays much less for prompts, cached or not", () => {
    const { ours, "per request": alone } = outcomes;
    const [paid, paidAlone] = [ours, alone].map(({ served }) =>
      served.reduce((sum, { host, buckets }) => sum + Number(costAt(host, { ...buckets, output: 0 }, 0)), 0),
    );
    expect(Number(paid)).toBeLessThanOrEqual(0.66 * Number(paidAlone));
    expect([ours.turns, ours.promptTokens]).toEqual([alone.turns, alone.promptTokens]);
  });
});

describe("against one fixed model", () => {
  const conversations = makeConversations("coding agents", 4, rows, makeRandom(3));
  const vendors = ["openai", "anthropic", "google"];

  it.each([
    ["all vendors", catalog],
    ["three vendors", wholeCatalog(vendors)],
  ] as const)("coding with %s costs at most 1.2 times the cheapest model of each tier", (_name, connected) => {
    const chainAt = (tier: Tier) => chainOf(connected, tier, true).map(({ id }) => id);
    const costOf = (way: Way) => Number(simulate(conversations, way, connected).costNano);
    const { costNano, belowTier, tiers } = simulate(conversations, "ours", connected);
    let best: ByTier = new Map([...tiers.keys()].map((tier) => [tier, chainAt(tier)[0] as string]));
    for (const tier of tiers.keys()) {
      for (const id of TIERS.slice(tierRank(tier)).flatMap(chainAt)) {
        const tried = new Map(best).set(tier, id);
        if (costOf(tried) < costOf(best)) best = tried;
      }
    }
    expect(Number(costNano)).toBeLessThanOrEqual(1.2 * costOf(best));
    expect(belowTier).toBe(0);
  });

  it.each(["never hits", "clock"] as const)(
    "costs at most 1.02 times each request alone where the cache %s",
    (kind) => {
      const [ours, alone] = (["ours", "per request"] as const).map(
        (way) => simulate(conversations, way, catalog, kind).costNano,
      );
      expect(Number(ours)).toBeLessThanOrEqual(1.02 * Number(alone));
    },
  );
});

describe("an operator's own log", () => {
  const line = (at: number, tier: string, input: number, more: object = {}): string =>
    JSON.stringify({
      requestId: `req_${at}`,
      createdAt: new Date(1_700_000_000_000 + at * 30_000).toISOString(),
      session: "fabc",
      tier,
      toolScenario: "agentic",
      tokens: { input, cacheRead: 500, cacheWrite: 0, output: 100 },
      ...more,
    });

  it("is the export of the gateway: what was decided counts, and what prompts had in tokens", () => {
    // The newest first, as it is exported; a request that nobody answered is left out.
    const lines = [
      line(9, "LIGHT", 900, { session: null, toolScenario: null }),
      line(4, "LIGHT", 8_000),
      line(3, "COMPLEX", 42_000),
      line(2, "LIGHT", 0, { tokens: null }),
      line(1, "SIMPLE", 41_000),
      line(0, "COMPLEX", 40_000),
    ];
    const conversations = readConversations(`${lines.join("\n")}\n`);
    expect(conversations.map(({ id, turns }) => [id, turns.length])).toEqual([
      ["req_9", 1],
      ["fabc", 3],
      ["fabc 2", 1],
    ]);
    const [, talk] = conversations;
    expect(talk?.turns.map(({ decided }) => decided?.tier)).toEqual(["COMPLEX", "SIMPLE", "COMPLEX"]);
    for (const way of WAYS) {
      const { turns, promptTokens, belowTier } = simulate(conversations, way, catalog);
      expect(turns).toBe(5);
      expect(Math.abs(promptTokens / (41_500 + 40_500 + 42_500 + 8_500 + 1_400) - 1)).toBeLessThan(0.05);
      if (way !== "sticky") expect(belowTier).toBe(0);
    }
  });

  it("is also requests with their messages, and anything else is refused by its line", () => {
    const messages = [
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hi" },
    ];
    const own = (at: string, sent: readonly object[]) => JSON.stringify({ session: "s", at, messages: sent });
    const text = [own("2026-11-16T10:00:00Z", messages), own("2026-11-16T10:01:00Z", [...messages, ...messages])];
    const [talk] = readConversations(text.join("\n"));
    expect(talk).toMatchObject({ id: "s", turns: [{ messages: 2 }, { messages: 4 }] });
    expect(simulate([talk as NonNullable<typeof talk>], "ours", catalog).turns).toBe(2);
    expect(() => readConversations(`${text[0]}\n{"session":"s"}`)).toThrow("line 2");
  });
});
