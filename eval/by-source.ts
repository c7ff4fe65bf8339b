// The left-out figures source by source, beside two yardsticks: the length of the prompt, and how often other models
// fail at it, which no reader of the prompt alone can know.

import type { Judged } from "./calibrate.ts";
import { gapRecovered, rankCorrelation } from "./metrics.ts";
import type { Label } from "./rows.ts";

/** A table of the sources that say how hard a prompt is or which models were right. */
export function writeBySource(judged: readonly Judged[]): string {
  const sources = new Map<string, Judged[]>();
  for (const each of judged) {
    const { source, label } = each.example.row;
    if (label.difficulty === undefined && label.weak_correct === undefined) continue;
    const list = sources.get(source);
    if (list === undefined) sources.set(source, [each]);
    else list.push(each);
  }
  const lines = [...sources].map(([source, list]) => `| ${source} | ${list.length} | ${cellsOf(list).join(" | ")} |`);
  return [
    "| source | rows | rank of difficulty: ours | length | APGR: by score | by tier | length | failures of other models |",
    "|---|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

/** A way to rank the prompts of one source. */
type Measure = (judged: Judged) => number;

const byScore: Measure = ({ scaled }) => scaled.score;
const byTier: Measure = ({ scaled }) => Math.floor(scaled.score * 5);
const byLength: Measure = ({ example }) => example.row.prompt.length;
const byFailures: Measure = ({ example }) => failuresOf(example.row.label);

/** APGR needs a weak and a strong model in every row; sources without them get a dash. */
function cellsOf(list: readonly Judged[]): readonly string[] {
  const ranks = [byScore, byLength].map((measure) => rankOf(list, measure).toFixed(3));
  const isSolved = list.every(({ example }) => example.row.label.strong_correct !== undefined);
  const gaps = [byScore, byTier, byLength, byFailures].map((measure) =>
    isSolved ? gapOf(list, measure).toFixed(3) : "–",
  );
  return [...ranks, ...gaps];
}

/** Against the source's own scale, else against how often weak models fail. */
function rankOf(list: readonly Judged[], measure: Measure): number {
  const truth = list.map(({ example: { row } }) => row.label.difficulty ?? -(row.label.weak_correct ?? 0));
  return rankCorrelation(list.map(measure), truth);
}

function gapOf(list: readonly Judged[], measure: Measure): number {
  return gapRecovered(
    list.map((each) => {
      const { weak_correct = 0, strong_correct = 0 } = each.example.row.label;
      return { score: measure(each), weak: weak_correct, strong: strong_correct };
    }),
  );
}

/** Mean score of the other models, negated: leaves out one score like the weak model's and one like the strong model's. */
function failuresOf({ models = {}, weak_correct = 0, strong_correct = 0 }: Label): number {
  const scores = Object.values(models);
  const others = scores.reduce((sum, score) => sum + score, 0) - weak_correct - strong_correct;
  return -others / Math.max(1, scores.length - 2);
}
