// The rules: what the measured signals say about the category of a request, and a classifier that needs nothing learned.
// Beside the weights the rules only give the net a starting point; without weights they decide alone.

import { CATEGORIES, type Category } from "../../core/decision.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import * as TEXT from "../text.ts";
import { EVIDENCE, PRIOR, RULES, SHORT_TEXT } from "./constants.ts";
import type { Signals } from "./signals.ts";

/** The result of a classifier, learned or not. */
export interface Classification {
  readonly tier: Tier;
  /** Difficulty, 0 to 1. */
  readonly score: number;
  /** Probability that the tier is the right one, 0 to 1. */
  readonly confidence: number;
  /** False where the tier is a guess; routing then keeps to the middle. */
  readonly isSure: boolean;
  readonly category: Category;
  readonly isCoding: boolean;
  /** The probability that a weak model fails; absent where the rules alone decided. */
  readonly weakModelFails?: number;
  /** The reasons, strongest first, in plain words. */
  readonly signals: readonly string[];
  /** `rules`, `model`, or `hybrid` where both name the same category. */
  readonly method: string;
}

export const CODING: Category = "coding_general_debugging_refactoring_testing";

export interface Found {
  readonly category: Category;
  /** Amount of evidence for the category; 0 where there is none. */
  readonly strength: number;
}

/** The category that most evidence speaks for. It says nothing of a tier. */
export function findCategory(signals: Signals): Found {
  const { cues, words } = signals;
  const { enough } = EVIDENCE;
  if (isChitchat(signals)) return { category: "chitchat", strength: SHORT_TEXT.chitchatStrength };
  const found = strongest(taskEvidence(signals));
  if (found.strength >= enough) return found;
  if (isShortQuestion(signals)) return { category: "simple_qa", strength: enough + cues.question };
  const isStrayTalk = words > 0 && words <= SHORT_TEXT.strayTalkWordsMax && cues.smalltalk > 0;
  if (isStrayTalk) return { category: "chitchat", strength: enough };
  return { category: "general", strength: isUnknown(signals) ? enough : 0 };
}

/** A single word of letters and digits: an identifier, whatever its letters are. */
const IDENTIFIER = /^[a-z\d]*(?:[a-z]\d|\d[a-z])[a-z\d]*$/;

export function isIdentifier(asked: string): boolean {
  return asked.length <= SHORT_TEXT.unknownLettersMax && IDENTIFIER.test(asked);
}

/** A few words of which none is known speak for no category; the net has learned most short texts as small talk. */
export function isUnknown({ cues, words, letters }: Signals): boolean {
  const isShort = words > 0 && words <= SHORT_TEXT.unknownWordsMax && letters <= SHORT_TEXT.unknownLettersMax;
  return isShort && Object.values(cues).every((hits) => hits === 0);
}

export function isChitchat({ cues, words, questions, codeMarks }: Signals): boolean {
  if (words === 0 || codeMarks > SHORT_TEXT.chitchatCodeMarksMax) return false;
  const work =
    cues.code +
    cues.math +
    cues.writing +
    cues.summary +
    cues.translation +
    cues.extraction +
    cues.creative +
    cues.advice;
  if (cues.greeting + cues.thanks > 0 && work === 0) {
    const isAsking = questions > 0 && cues.question > 0;
    return words <= (isAsking ? SHORT_TEXT.greetingWithQuestionWordsMax : SHORT_TEXT.greetingWordsMax);
  }
  return cues.smalltalk > 0 && words <= SHORT_TEXT.smallTalkWordsMax && work < EVIDENCE.enough;
}

export function isShortQuestion({ cues, words, questions }: Signals): boolean {
  return words <= SHORT_TEXT.questionWordsMax && (cues.question > 0 || questions > 0);
}

/** The categories with evidence of their own. Their order is part of the weights: the net reads one measure for each. */
export const TASKS = [
  CODING,
  "translation",
  "summarization",
  "extraction",
  "math",
  "creative_writing",
  "writing",
  "reasoning",
  "general",
] as const satisfies readonly Category[];

/** Points for each of TASKS, in their order. */
export function taskEvidence(signals: Signals): readonly number[] {
  const { cues, numbers, questions, words } = signals;
  const isAsk = questions > 0 || cues.question > 0;
  const isWordProblem =
    numbers >= EVIDENCE.wordProblemNumbers && cues.math > 0 && (questions > 0 || words < EVIDENCE.wordProblemWords);
  const perReasoning = words < EVIDENCE.shortAskWords && isAsk ? EVIDENCE.perReasoningShort : EVIDENCE.perReasoning;
  return [
    cues.code * EVIDENCE.perCode + codeEvidence(signals),
    cues.translation * EVIDENCE.perTranslation,
    cues.summary * EVIDENCE.perSummary,
    cues.extraction * EVIDENCE.perExtraction +
      cues.material * (isAsk ? EVIDENCE.perMaterialAsked : EVIDENCE.perMaterial),
    (cues.math + cues.proof) * EVIDENCE.perMath + mathEvidence(signals) + (isWordProblem ? EVIDENCE.wordProblem : 0),
    cues.creative * EVIDENCE.perCreative,
    cues.writing * EVIDENCE.perWriting,
    cues.reasoning * perReasoning + cues.design * EVIDENCE.perDesign + cues.expert * EVIDENCE.perExpert,
    cues.advice * EVIDENCE.perAdvice,
  ];
}

function codeEvidence({ hasFence, hasStackTrace, codeMarks, lines }: Signals): number {
  const perMark = codeMarks / (lines + 2) > EVIDENCE.denseCode ? EVIDENCE.perCodeMarkDense : EVIDENCE.perCodeMark;
  const marks = Math.min(codeMarks, EVIDENCE.marksMax) * perMark;
  return (hasFence ? EVIDENCE.fence : 0) + (hasStackTrace ? EVIDENCE.stackTrace : 0) + marks;
}

function mathEvidence({ mathMarks, words }: Signals): number {
  const perMark = mathMarks > words * EVIDENCE.denseMath ? EVIDENCE.perMathMarkDense : EVIDENCE.perMathMark;
  return Math.min(mathMarks, EVIDENCE.marksMax) * perMark;
}

function strongest(evidence: readonly number[]): Found {
  let best: Found = { category: "general", strength: 0 };
  for (let at = 0; at < TASKS.length; at++) {
    const strength = evidence[at] as number;
    if (strength > best.strength) best = { category: TASKS[at] as Category, strength };
  }
  return best;
}

/** The rules' opinion as points that are added to the net's. */
export interface Prior {
  /** The place among CATEGORIES. */
  readonly category: number;
  readonly points: number;
}

export function priorOf({ category, strength }: Found): Prior {
  const points = PRIOR.pointsPerStrength * Math.min(PRIOR.strengthMax, strength);
  return { category: CATEGORIES.indexOf(category), points };
}

/** A base score for the category, moved by cues and length. Stands in where no weights are given or nothing can be read. */
export function classifyByRules(signals: Signals): Classification {
  const { category, strength } = findCategory(signals);
  const effects = weighDifficulty(signals, category);
  const raw = effects.reduce((sum, effect) => sum + effect.points, RULES.baseScore[category]);
  const score = Math.round(clamp(raw, RULES.scoreMin, RULES.scoreMax) * RULES.scoreSteps) / RULES.scoreSteps;
  const rank = RULES.tierBounds.filter((bound) => score >= bound).length;
  return {
    tier: TIERS[rank] as Tier,
    score,
    confidence: confidenceOf(score, strength),
    isSure: strength > 0,
    category,
    isCoding: category === CODING,
    signals: describe(category, effects),
    method: "rules",
  };
}

interface Effect {
  readonly points: number;
  readonly because: string;
}

/** Cues that make a task harder, or easier; how much each is worth stands in RULES.cues. */
const DIFFICULTY_CUES = ["proof", "design", "expert", "reasoning", "constraint", "steps", "brief"] as const;
const { signals: SIGNALS } = TEXT;

function weighDifficulty(signals: Signals, category: Category): readonly Effect[] {
  const { talk } = RULES;
  if (category === "chitchat") return [{ points: capped(signals.words, talk), because: SIGNALS.smallTalk }];
  const effects: Effect[] = [];
  const add = (points: number, because: string) => {
    if (Math.abs(points) >= RULES.effectMin) effects.push({ points, because });
  };
  for (const cue of DIFFICULTY_CUES) {
    const { each, most } = RULES.cues[cue];
    const hits = signals.cues[cue];
    if (hits > 0) add(clamp(hits * each, -most, most), SIGNALS[cue]);
  }
  add(lengthPoints(signals.words), signals.words > RULES.longWords ? SIGNALS.long : SIGNALS.short);
  add(capped(Math.max(0, signals.questions - 1), RULES.furtherQuestions), SIGNALS.questions);
  add(capped(signals.listItems, RULES.listItems), SIGNALS.list);
  if (category === "math") add(mathPoints(signals), mathPoints(signals) > 0 ? SIGNALS.formulas : SIGNALS.arithmetic);
  if (category === CODING) add(codePoints(signals), SIGNALS.code);
  return effects.sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
}

function lengthPoints(words: number): number {
  const { perDoubling, averageWords, least, most } = RULES.length;
  return clamp(Math.log2((words + 1) / averageWords) * perDoubling, least, most);
}

function mathPoints({ mathMarks, words, cues }: Signals): number {
  const { wordsMax, mathMarksMax, mathCuesBelow, points } = RULES.arithmetic;
  const isPlain = words <= wordsMax && mathMarks <= mathMarksMax && cues.proof === 0 && cues.math < mathCuesBelow;
  return isPlain ? points : capped(mathMarks, RULES.mathMarks);
}

function codePoints({ hasStackTrace, hasFence, codeMarks }: Signals): number {
  return (hasStackTrace ? RULES.stackTrace : 0) + (hasFence ? RULES.fence : 0) + capped(codeMarks, RULES.codeMarks);
}

function capped(count: number, { each, most }: { readonly each: number; readonly most: number }): number {
  return Math.min(most, count * each);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

/** Sure where the evidence is strong and the score is far from the tier's bounds. */
function confidenceOf(score: number, strength: number): number {
  const { base, distance, distanceFull, strength: perStrength, strengthFull } = RULES.confidence;
  const nearest = Math.min(...RULES.tierBounds.map((bound) => Math.abs(score - bound)));
  const sure =
    base + distance * Math.min(1, nearest / distanceFull) + perStrength * Math.min(1, strength / strengthFull);
  return Math.round(sure * 100) / 100;
}

function describe(category: Category, effects: readonly Effect[]): readonly string[] {
  const reasons = effects.slice(0, RULES.reasonsMax).map((effect) => effect.because);
  return [TEXT.categories[category], ...reasons.filter((reason) => reason !== TEXT.categories[category])];
}
