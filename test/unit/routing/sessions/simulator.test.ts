// The simulator of conversations with a fixed seed: our rule never runs a turn below its tier, and never costs more than
// routing each request alone. `npm run eval:sessions` prints the whole table.

import { beforeAll, describe, expect, it } from "vitest";
import { generateCorpus } from "../../../../eval/corpus/generate.ts";
import { makeRandom } from "../../../../eval/random.ts";
import { type Mix, makeConversations } from "../../../../eval/sessions/conversations.ts";
import { type Outcome, simulate, WAYS, type Way, wholeCatalog } from "../../../../eval/sessions/simulate.ts";

const rows = generateCorpus(process.cwd());
const catalog = wholeCatalog();

/** How much of per-request cost our rule may come to: a little more than it does with this seed. */
const MIXES_TRIED = [
  ["coding agents", 0.65],
  ["one long system prompt", 0.9],
  ["chats", 0.95],
] as const satisfies readonly (readonly [Mix, number])[];

describe.each(MIXES_TRIED)("%s", (mix, most) => {
  const outcomes = {} as Record<Way, Outcome>;
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

  it("finds more in caches, and switches no more often", () => {
    const { ours, "per request": alone } = outcomes;
    expect(ours.cachedTokens).toBeGreaterThanOrEqual(alone.cachedTokens);
    expect(ours.switches).toBeLessThanOrEqual(alone.switches);
    expect([ours.turns, ours.promptTokens]).toEqual([alone.turns, alone.promptTokens]);
  });
});
