// Weighs by rule what the measured signals say about the kind of task. Speaks for a category, never for a tier.

import type { Category } from "../../core/decision.ts";
import type { Signals } from "./signals.ts";

export const CODING: Category = "coding_general_debugging_refactoring_testing";

/** Evidence below this decides nothing. */
const ENOUGH = 1;

export interface Found {
  readonly category: Category;
  readonly strength: number;
}

export function findCategory(signals: Signals): Found {
  const { cues, words } = signals;
  if (isChitchat(signals)) return { category: "chitchat", strength: 3 };
  const found = strongest(taskEvidence(signals));
  if (found.strength >= ENOUGH) return found;
  if (isShortQuestion(signals)) return { category: "simple_qa", strength: 1 + cues.question };
  if (words > 0 && words <= 8 && cues.smalltalk > 0) return { category: "chitchat", strength: 1 };
  return { category: "general", strength: isUnheard(signals) ? 1 : 0 };
}

/** A few words of which none is known speak for no kind of task; the net has learned most short texts as small talk. */
function isUnheard({ cues, words }: Signals): boolean {
  return words > 0 && words <= 3 && Object.values(cues).every((hits) => hits === 0);
}

export function isChitchat({ cues, words, questions, codeMarks }: Signals): boolean {
  if (words === 0 || codeMarks > 1) return false;
  const work =
    cues.code +
    cues.math +
    cues.writing +
    cues.summary +
    cues.translation +
    cues.extraction +
    cues.creative +
    cues.advice;
  if (cues.greeting + cues.thanks > 0 && work === 0) return words <= (questions > 0 && cues.question > 0 ? 4 : 7);
  return cues.smalltalk > 0 && words <= 10 && work < ENOUGH;
}

export function isShortQuestion({ cues, words, questions }: Signals): boolean {
  return words <= 40 && (cues.question > 0 || questions > 0);
}

type Evidence = readonly (readonly [Category, number])[];

export function taskEvidence(signals: Signals): Evidence {
  const { cues, numbers, questions, words } = signals;
  const isWordProblem = numbers >= 2 && cues.math > 0 && (questions > 0 || words < 200);
  const isAsk = questions > 0 || cues.question > 0;
  return [
    [CODING, cues.code * 0.8 + codeEvidence(signals)],
    ["translation", cues.translation * 1.6],
    ["summarization", cues.summary * 1.4],
    ["extraction", cues.extraction * 0.9 + cues.material * (isAsk ? 0.5 : 0.2)],
    ["math", (cues.math + cues.proof) * 0.6 + mathEvidence(signals) + (isWordProblem ? 1.2 : 0)],
    ["creative_writing", cues.creative * 0.9],
    ["writing", cues.writing * 0.8],
    // A why-question of a few words is a question, not an analysis.
    ["reasoning", cues.reasoning * (words < 9 && isAsk ? 0.3 : 0.6) + cues.design * 0.7 + cues.expert * 0.35],
    ["general", cues.advice * 0.7],
  ];
}

function codeEvidence({ hasFence, hasStackTrace, codeMarks, lines }: Signals): number {
  const density = codeMarks / (lines + 2);
  return (hasFence ? 2.5 : 0) + (hasStackTrace ? 3 : 0) + Math.min(codeMarks, 8) * (density > 0.25 ? 0.7 : 0.15);
}

function mathEvidence({ mathMarks, words }: Signals): number {
  return Math.min(mathMarks, 8) * (mathMarks > words * 0.04 ? 0.5 : 0.1);
}

function strongest(evidence: Evidence): Found {
  let best: Found = { category: "general", strength: 0 };
  for (const [category, strength] of evidence) if (strength > best.strength) best = { category, strength };
  return best;
}
