// Evaluation: a router runs over labelled rows, and every figure that their labels allow is computed.

import { TIERS, tierRank } from "../src/core/tiers.ts";
import { CODING } from "../src/routing/classifier/rules.ts";
import { type Classes, f1Of, gapRecovered, mean, rankCorrelation, scoreClasses } from "./metrics.ts";
import type { Answer, Router } from "./routers.ts";
import { categoryOf, type Row } from "./rows.ts";

/** One row with the router's answer to it. */
export interface Judgement {
  readonly row: Row;
  readonly answer: Answer;
  readonly tookMs: number;
}

/** Figures of a router; null where no row has the label that a figure needs. */
export interface Evaluation {
  readonly judgements: readonly Judgement[];
  readonly category: Classes | null;
  readonly codingF1: number | null;
  readonly scenario: Classes | null;
  readonly ladder: { readonly count: number; readonly exact: number; readonly withinOne: number } | null;
  readonly difficultyRank: number | null;
  readonly gapByScore: number | null;
  readonly gapByTier: number | null;
  /** Average distance between confidence and the share of right tiers. */
  readonly calibrationError: number | null;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs the rows one by one, so that the times are those of single requests. */
export function evaluate(router: Router, rows: readonly Row[]): Evaluation {
  // The first rows are run twice: what is timed is a warm router.
  for (const row of rows.slice(0, 500)) router(row);
  const judgements = rows.map((row) => {
    const startedAtMs = performance.now();
    const answer = router(row);
    return { row, answer, tookMs: performance.now() - startedAtMs };
  });
  const times = Float64Array.from(judgements, ({ tookMs }) => tookMs).sort();
  return {
    judgements,
    ...summarise(judgements),
    p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}

/** Every figure but the times. */
export function summarise(judgements: readonly Judgement[]) {
  return { ...judgeClasses(judgements), ...judgeTiers(judgements) };
}

/** Requests with tools are judged by their scenario, all others by their category. */
function judgeClasses(judgements: readonly Judgement[]) {
  const plain = judgements.filter(({ row }) => row.label.category !== undefined && row.tools === undefined);
  const tooled = judgements.filter(({ row }) => row.label.scenario !== undefined);
  const coded = plain.filter(({ row }) => row.label.coding !== undefined);
  const kinds = plain.map(({ row, answer }) => [nameOf(row), answer.category] as const);
  const calls = tooled.map(({ row, answer }) => [row.label.scenario ?? "", answer.scenario ?? "none"] as const);
  const coding = coded.map(
    ({ row, answer }) => [String(row.label.coding), String(answer.category === CODING)] as const,
  );
  return {
    category: kinds.length === 0 ? null : scoreClasses(kinds),
    codingF1: coding.length === 0 ? null : f1Of("true", coding),
    scenario: calls.length === 0 ? null : scoreClasses(calls),
  };
}

function nameOf({ label }: Row): string {
  return categoryOf(label.category ?? "") ?? "general";
}

/** Difficulty and gap are computed within each source and then averaged: scales differ between sources. */
function judgeTiers(judgements: readonly Judgement[]) {
  const placed = judgements.filter(({ row }) => row.label.ladder !== undefined);
  const steps = placed.map(({ row, answer }) => Math.abs(tierRank(answer.tier) - (row.label.ladder ?? 0)));
  const ranked = bySource(judgements.filter(({ row }) => row.label.difficulty !== undefined));
  const solved = bySource(judgements.filter(({ row }) => row.label.strong_correct !== undefined));
  const gap = (measure: (answer: Answer) => number) =>
    meanOf(solved.map((list) => gapRecovered(list.map((each) => outcomeOf(each, measure)))));
  return {
    ladder:
      steps.length === 0
        ? null
        : {
            count: steps.length,
            exact: mean(steps.map((step) => (step === 0 ? 1 : 0))),
            withinOne: mean(steps.map((step) => (step <= 1 ? 1 : 0))),
          },
    difficultyRank: meanOf(ranked.map(rankOf)),
    gapByScore: gap(({ score }) => score),
    gapByTier: gap(({ tier }) => tierRank(tier)),
    calibrationError: steps.length === 0 ? null : calibrationError(placed),
  };
}

function rankOf(list: readonly Judgement[]): number {
  return rankCorrelation(
    list.map(({ answer }) => answer.score),
    list.map(({ row }) => row.label.difficulty ?? 0),
  );
}

function outcomeOf({ row, answer }: Judgement, measure: (answer: Answer) => number) {
  return { score: measure(answer), weak: row.label.weak_correct ?? 0, strong: row.label.strong_correct ?? 0 };
}

/** Ten bands of confidence, weighted by how many rows fall into each. */
function calibrationError(placed: readonly Judgement[]): number {
  let error = 0;
  for (let band = 0; band < 10; band++) {
    const inside = placed.filter(({ answer }) => Math.min(9, Math.floor(answer.confidence * 10)) === band);
    if (inside.length === 0) continue;
    const right = mean(inside.map(({ row, answer }) => (TIERS[row.label.ladder ?? 0] === answer.tier ? 1 : 0)));
    error += (Math.abs(right - mean(inside.map(({ answer }) => answer.confidence))) * inside.length) / placed.length;
  }
  return error;
}

function bySource(judgements: readonly Judgement[]): readonly (readonly Judgement[])[] {
  return [...groupBySource(judgements).values()];
}

export function groupBySource(judgements: readonly Judgement[]): ReadonlyMap<string, readonly Judgement[]> {
  const lists = new Map<string, Judgement[]>();
  for (const judgement of judgements) {
    const list = lists.get(judgement.row.source);
    if (list === undefined) lists.set(judgement.row.source, [judgement]);
    else list.push(judgement);
  }
  return lists;
}

function meanOf(values: readonly number[]): number | null {
  const finite = values.filter(Number.isFinite);
  return finite.length === 0 ? null : mean(finite);
}
