// The shape of a request as a short row of numbers, each about 0 to 1: what the signals measured, scaled for the
// learned part of the classifier. The order is part of the weights: training and routing share this file.

import { isChitchat, isShortQuestion, taskEvidence } from "./evidence.ts";
import { CUES } from "./lexicon.ts";
import type { Signals } from "./signals.ts";

const MEASURES = 26;
const TASKS = 9;

/** Those that only place a sum on the ladder would say "mathematics" of everything else that speaks of money or days. */
const PLACING_CUES: readonly string[] = ["everyday", "abstract", "calculus"];
const TELLING_CUES = CUES.filter((cue) => !PLACING_CUES.includes(cue));

export const SHAPE_SIZE = MEASURES + TELLING_CUES.length + TASKS;

export function shapeOf(signals: Signals): Float32Array {
  const { words, lines, questions, numbers, codeMarks, mathMarks, listItems, options, letters } = signals;
  const shape = new Float32Array(SHAPE_SIZE);
  const perWord = 1 / (words + 3);
  const measures = [
    Math.log1p(words) / 6,
    (Math.log1p(words) / 6) ** 2,
    words <= 4 ? 1 : 0,
    words <= 12 ? 1 : 0,
    words > 120 ? 1 : 0,
    Math.log1p(lines) / 4,
    Math.min(1, lines / (words + 1)),
    Math.min(1, questions / 3),
    questions > 0 ? 1 : 0,
    Math.min(1, numbers / 12),
    Math.min(1, numbers * perWord * 3),
    Math.min(1, codeMarks / 12),
    Math.min(1, codeMarks / (lines + 2)),
    Math.min(1, mathMarks / 10),
    Math.min(1, mathMarks * perWord * 4),
    Math.min(1, listItems / 8),
    Math.min(1, options / 5),
    Math.min(1, options / 10),
    signals.hasFence ? 1 : 0,
    signals.hasStackTrace ? 1 : 0,
    Math.min(1, letters / (words + 1) / 8),
    letters / (signals.length + 1),
    signals.foreignLetters / (letters + 1),
    Math.min(1, signals.length / 4000),
    isChitchat(signals) ? 1 : 0,
    isShortQuestion(signals) ? 1 : 0,
  ];
  shape.set(measures);
  for (const [at, cue] of TELLING_CUES.entries()) shape[MEASURES + at] = Math.min(1, signals.cues[cue] / 4);
  const tasks = taskEvidence(signals);
  for (let at = 0; at < tasks.length; at++) {
    shape[MEASURES + TELLING_CUES.length + at] = Math.min(1, (tasks[at] as (typeof tasks)[number])[1] / 4);
  }
  return shape;
}
