// Tells what shadow samples prove: how often the cheaper side agreed, with the bounds of that figure, and in words whether it
// holds up. Pure.

import type { MarkedSample } from "../../core/requests/outcomes.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import * as TEXT from "../text.ts";

export const OUTCOME_STATES = ["holds_up", "worse", "too_few"] as const;
type OutcomeState = (typeof OUTCOME_STATES)[number];

export interface SampleSummary {
  readonly samples: number;
  /** Samples that a comparison or a mark could judge. */
  readonly judged: number;
  readonly agreed: number;
  /** The share of agreement; null where nothing could be judged. */
  readonly agreement: Bounds | null;
  /** Judged by the mark of a person or an application. */
  readonly marked: number;
  /** The same tools with other arguments; counted as not agreed. */
  readonly sameTool: number;
  /** Mean share of words in common, of texts that could not be judged; null without any. */
  readonly similarity: number | null;
  readonly live: SideFigures;
  readonly second: SideFigures;
  readonly state: OutcomeState;
}

/** The share that agreed, and between which bounds it lies with 95% confidence. */
export interface Bounds {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

interface SideFigures {
  readonly cost: bigint;
  readonly latencyMs: number;
}

export interface OutcomeGroup extends SampleSummary {
  readonly category: string;
  readonly tier: string;
}

/** `bar`: the share that must agree for the cheaper side to hold up. */
export function summarize(samples: readonly MarkedSample[], bar: number): SampleSummary {
  const isLiveCheaper = cheaperIsLive(samples);
  const judgements = samples.map((sample) => judgeSample(sample, isLiveCheaper));
  const judged = judgements.filter(({ isAgreed }) => isAgreed !== null).length;
  const agreed = judgements.filter(({ isAgreed }) => isAgreed === true).length;
  const agreement = judged === 0 ? null : wilson(agreed, judged);
  const unclear = samples.filter((_, at) => judgements[at]?.isAgreed === null);
  return {
    samples: samples.length,
    judged,
    agreed,
    agreement,
    marked: judgements.filter(({ isMarked }) => isMarked).length,
    sameTool: samples.filter(({ verdict }) => verdict === "same_tool").length,
    similarity: mean(unclear.flatMap(({ similarity }) => (similarity === null ? [] : [similarity]))),
    live: figuresOf(samples.map(({ live }) => live)),
    second: figuresOf(samples.map(({ second }) => second)),
    state: stateOf(agreement, bar),
  };
}

/** By category and tier, those with the most samples first. */
export function groupOutcomes(samples: readonly MarkedSample[], bar: number): readonly OutcomeGroup[] {
  const groups = new Map<string, MarkedSample[]>();
  for (const sample of samples) {
    const name = `${sample.category} ${sample.tier}`;
    groups.set(name, [...(groups.get(name) ?? []), sample]);
  }
  const rows = [...groups.values()].map((group) => {
    const { category, tier } = group[0] as MarkedSample;
    return { category, tier, ...summarize(group, bar) };
  });
  return rows.sort((a, b) => b.samples - a.samples || placeOf(a) - placeOf(b));
}

function placeOf({ tier }: OutcomeGroup): number {
  return TIERS.indexOf(tier as Tier);
}

function cheaperIsLive(samples: readonly MarkedSample[]): boolean {
  return samples.reduce((sum, { live, second }) => sum + live.cost - second.cost, 0n) <= 0n;
}

/** From this score on, an application counts as content. */
const GOOD_SCORE = 0.5;

interface Judgement {
  /** True where the cheaper side agreed; null where nobody can tell. */
  readonly isAgreed: boolean | null;
  readonly isMarked: boolean;
}

/**
 * Marks are about the answer that was delivered. Where that is the cheaper one, they say more than whether it reads like
 * the other.
 */
function judgeSample({ verdict, tier, markedTier, score }: MarkedSample, isLiveCheaper: boolean): Judgement {
  if (isLiveCheaper && markedTier !== null) {
    return { isAgreed: tierRank(markedTier) <= tierRank(tier as Tier), isMarked: true };
  }
  if (isLiveCheaper && score !== null) return { isAgreed: score >= GOOD_SCORE, isMarked: true };
  return { isAgreed: verdict === "unclear" ? null : verdict === "same", isMarked: false };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function figuresOf(answers: readonly { readonly cost: bigint; readonly latencyMs: number }[]): SideFigures {
  const latencies = answers.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  return {
    cost: answers.reduce((sum, { cost }) => sum + cost, 0n),
    latencyMs: latencies[Math.floor((latencies.length - 1) / 2)] ?? 0,
  };
}

/** The number of deviations of a normal distribution that 95% of its values lie within. */
const Z = 1.96;

/** Wilson's bounds: right also for few samples and for shares near 0 or 1. */
export function wilson(agreed: number, judged: number): Bounds {
  const rate = agreed / judged;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / judged + (Z * Z) / (4 * judged * judged));
  const middle = rate + (Z * Z) / (2 * judged);
  const scale = 1 + (Z * Z) / judged;
  return { rate, low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

function stateOf(agreement: Bounds | null, bar: number): OutcomeState {
  if (agreement === null) return "too_few";
  if (agreement.low >= bar) return "holds_up";
  return agreement.high < bar ? "worse" : "too_few";
}

/** Nobody waits for more. */
const NEEDED_MAX = 20_000;

/** Counts the samples that a verdict takes if the share stays the same; null when a verdict is not in sight. */
export function samplesNeeded({ rate }: Bounds, bar: number): number | null {
  for (let count = 10; count <= NEEDED_MAX; count = Math.ceil(count * 1.1)) {
    if (stateOf(wilson(rate * count, count), bar) !== "too_few") return count;
  }
  return null;
}

/** Says in words whether the cheaper side holds up. */
export function outcomeSentence(samples: readonly MarkedSample[], model: string, bar: number): string {
  const outcome = summarize(samples, bar);
  const { agreement, judged } = outcome;
  if (agreement === null) return TEXT.noneJudged(outcome.samples);
  const isLiveCheaper = cheaperIsLive(samples);
  const [cheap, dear] = isLiveCheaper ? [TEXT.yourChain, model] : [model, TEXT.yourChain];
  const figures = TEXT.agreement({
    rate: percent(agreement.rate),
    low: percent(agreement.low),
    high: percent(agreement.high),
    judged,
    dear,
  });
  const [low, high] = isLiveCheaper ? [outcome.live, outcome.second] : [outcome.second, outcome.live];
  const cost = high.cost === 0n ? "" : TEXT.atCost(percent(Number(low.cost) / Number(high.cost)));
  if (outcome.state === "holds_up") return TEXT.holdsUp(cheap, figures + cost);
  if (outcome.state === "worse") return TEXT.isWorse(cheap, figures, percent(bar), cost);
  return TEXT.notEnoughData(figures, samplesNeeded(agreement, bar), percent(bar));
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
