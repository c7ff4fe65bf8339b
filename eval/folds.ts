// Training with whole families of sources left out, so that every row is judged by weights that never saw its source.

import type { Weights } from "../src/catalog/weights.ts";
import { createRun, type Judged, judge, withMeans } from "./calibrate.ts";
import type { Example } from "./examples.ts";
import { withFailing } from "./failing/failing.ts";
import { type LearnSettings, learn } from "./learn.ts";
import { sourceOf } from "./sources.ts";
import type { TaughtExamples } from "./teacher/teacher.ts";

/** Families that are left out together to save time. None of them holds prompts like another's. */
const TOGETHER: readonly (readonly string[])[] = [
  ["p3", "mmlu-pro"],
  ["gsm8k", "xquad"],
  ["math", "belle"],
  ["mbpp", "humaneval"],
  ["spider", "bbh", "chatterbot"],
  ["clinc", "crux", "uncommon"],
];

/** Sources of one family share prompts. */
function familyOf({ row }: Example): string {
  return sourceOf(row.source).family;
}

/** Tells if the shipped weights may learn from a row. */
export function isLearnable({ row }: Example): boolean {
  return sourceOf(row.source).isShippable && row.tools === undefined;
}

export interface FoldsInput {
  readonly examples: readonly Example[];
  readonly taught: TaughtExamples;
  readonly settings: LearnSettings;
  readonly progress: (text: string) => void;
}

/** Judgements of every example of a public source by weights learned without its family. */
export function judgeUnseen({ examples, taught, settings, progress }: FoldsInput): readonly Judged[] {
  const foreign = examples.filter(({ row }) => !row.source.startsWith("own-") && row.tools === undefined);
  const left = new Set(foreign.filter(isLearnable).map(familyOf));
  const folds = TOGETHER.map((fold) => fold.filter((family) => left.has(family))).filter((fold) => fold.length > 0);
  const judged: Judged[] = [];
  for (const fold of [[], ...folds]) {
    const isTested = (example: Example) =>
      fold.length === 0 ? !left.has(familyOf(example)) : fold.includes(familyOf(example));
    const tested = foreign.filter(isTested);
    if (tested.length === 0) continue;
    progress(`learning without ${fold.join(", ") || "what may not be learned from"}`);
    const seen = examples.filter((example) => isLearnable(example) && !fold.includes(familyOf(example)));
    judged.push(...judge(learnAll(seen, taught(numberOf(fold)), settings), tested));
  }
  return judged;
}

/** The teacher's folds are numbered as they stand in TOGETHER; 0 leaves nothing out. */
function numberOf(fold: readonly string[]): number {
  return 1 + TOGETHER.findIndex((families) => families.includes(fold[0] ?? ""));
}

/** Trained weights with their means; confidence and scenarios are fitted afterwards. */
export function learnAll(examples: readonly Example[], taught: readonly Example[], settings: LearnSettings): Weights {
  const learned = withMeans(learn([...examples, ...taught], settings), examples);
  return withFailing(learned, examples, createRun(learned));
}
