// The outlook of a conversation: what its next turns are expected to cost with a model at a host. Each sends the prompt
// again, longer each time, and reads as much of it from the cache as the host has shown to, if the pause was short enough.

import type { HostedModel } from "../../core/model.ts";
import { type RateCard, type Rates, ratesFor } from "../../core/price.ts";
import type { Habit, SessionView } from "../../core/session.ts";
import { tokensAt } from "../cost.ts";

/** Expectations for one conversation, the same for all models. */
export interface Outlook {
  /** Further turns; 0 for a request that stands alone. */
  readonly turns: number;
  readonly promptTokens: number;
  /** Tokens that each turn adds to the prompt. */
  readonly growth: number;
  /** Tokens that a model writes in each of them, with its thinking. */
  readonly outputOf: (host: HostedModel) => number;
  readonly habit: Habit;
}

/** Priors, set by hand: agents add results of tools, people add short messages. */
const GROWTH = { tools: 900, plain: 400 } as const;

/** In use where nothing was learned, as in a replay. */
const USUAL: Habit = {
  next: 0.9,
  ahead: 4,
  outputTokens: null,
  thought: (_model, _effort, usual) => usual,
  steady: 1,
  alive: () => 0.9,
  cacheOf: () => ({ hit: 1 }),
};

/** Tokens that a model writes, for an answer of a usual length or of this one. */
export type Output = (host: HostedModel, answer?: number) => number;

interface OutlookInput {
  readonly view: SessionView;
  readonly promptTokens: number;
  /** Length of the last prompt, in the same tokens; null where there was none. */
  readonly lastTokens: number | null;
  readonly outputOf: Output;
  readonly hasTools: boolean;
}

export function outlookOf({ view, promptTokens, lastTokens, outputOf, hasTools }: OutlookInput): Outlook {
  const habit = view.habit ?? USUAL;
  const prior = hasTools ? GROWTH.tools : GROWTH.plain;
  const grown = lastTokens === null ? prior : Math.max(0, promptTokens - lastTokens);
  const growth = (prior + grown) / 2;
  const answer = habit.outputTokens ?? undefined;
  return { turns: habit.ahead, promptTokens, growth, outputOf: (host) => outputOf(host, answer), habit };
}

/** Reading chance of what was cached at a host: the pause is short, the beginning stays, the host hits. */
export function readChance({ hostKey, cache }: HostedModel, { alive, steady, cacheOf }: Habit): number {
  return cache === undefined ? 0 : alive(cache.seconds) * steady * cacheOf(hostKey).hit;
}

/** In 10⁻¹² USD without markup. */
export function costAhead(host: HostedModel, outlook: Outlook): number {
  const { turns, outputOf, habit } = outlook;
  const promptTokens = tokensAt(host, outlook.promptTokens);
  const growth = tokensAt(host, outlook.growth);
  // One band for all turns: that of the middle one.
  const { input, output, cacheRead, cacheWrite } = ratesAt(host.price, promptTokens + (growth * (turns + 1)) / 2);
  const prompts = turns * promptTokens + (growth * turns * (turns + 1)) / 2;
  const answers = turns * outputOf(host) * output;
  const uncached = prompts * input;
  const isCached = host.cache !== undefined && promptTokens + growth >= host.cache.tokensMin && cacheRead !== null;
  if (!isCached) return uncached + answers;
  const chance = readChance(host, habit);
  const fresh = Math.max(input, cacheWrite ?? 0);
  const read = Math.max(0, prompts - turns * growth);
  const cached = chance * (read * cacheRead + turns * growth * fresh) + (1 - chance) * prompts * fresh;
  const isWritten = host.cache?.isExplicit !== true || isMarkWorthwhile(host, promptTokens, habit);
  return (isWritten ? cached : uncached) + answers;
}

/** Marking costs a cache write. It pays if the next turn is likely enough to come, and to read. */
export function isMarkWorthwhile(host: HostedModel, promptTokens: number, habit: Habit): boolean {
  const { input, cacheRead, cacheWrite } = ratesAt(host.price, promptTokens);
  if (cacheRead === null || cacheWrite === null) return true;
  return habit.next * readChance(host, habit) * (input - cacheRead) > cacheWrite - input;
}

/** Hosts of a chain have a price. */
export function ratesAt(price: RateCard | null, promptTokens: number): Rates {
  return ratesFor(price as RateCard, promptTokens);
}
