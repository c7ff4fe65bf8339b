// Every number of the classifier that a person chose. Learned numbers are in the weights file (layout.ts names them).
//
// A comment above each number names its source. "E5" and the like are numbered experiments in
// docs/contribute/routing-experiments.md. "By hand" means that somebody judged single prompts and no experiment is recorded.
// The weights were learned with these values: changing SHAPE, EVIDENCE, CUE_HITS, LOAD or TOKENS asks for new training.

import type { Category } from "../../core/decision.ts";

/** Weights of one category (or of test questions) when its requests are placed on the ladder. */
export interface Steepness {
  /** Share of the learned tier that counts against the usual tier, 0 to 1. */
  readonly trust: number;
  /** Tiers per unit of load and difficulty. */
  readonly slope: number;
  /** Damping of loads far from the mean of their category, per unit of load. */
  readonly softness: number;
  /** Tiers a request may fall for being short and plain before the fall is slowed. */
  readonly fall: number;
}

/**
 * The tier, 0 to 4, that most requests of a category belong to. The whole numbers are the editorial ladder of our corpus.
 * Mathematics (2.45, then 2.8), coding (3) and reasoning were moved by hand on the left-out ladder figure (E5).
 */
export const USUAL_TIER: Readonly<Record<Category, number>> = {
  chitchat: 0,
  simple_qa: 1,
  translation: 2,
  extraction: 2,
  summarization: 2,
  writing: 2,
  creative_writing: 2,
  general: 2,
  math: 2.7,
  coding_general_debugging_refactoring_testing: 2.95,
  reasoning: 2.9,
};

/**
 * Set by hand on the left-out figures of difficulty, ladder and APGR. Choosing again among 36 near variants gained nothing,
 * and a free search over all of these numbers overfitted (E5).
 */
export const STEEPNESS = {
  /** Mathematics spreads over three tiers. */
  math: { trust: 0.3, slope: 0.95, softness: 0.35, fall: 1.5 },
  /** Code covers little more than one tier. A steeper slope gained 0.01 APGR and cost 0.03 of the ladder (E3). */
  coding: { trust: 0.05, slope: 0.32, softness: 0.4, fall: 0.5 },
  /** Small talk and plain questions stay small, in every language (E24). */
  small: { trust: 0.05, slope: 0.3, softness: 0.25, fall: 0.35 },
  other: { trust: 0.3, slope: 0.55, softness: 0.25, fall: 0.35 },
  /** A question with choices is as hard as its subject, from school to specialists, whatever its category. */
  test: { trust: 0.2, slope: 0.7, softness: 0.25, fall: 1 },
} as const satisfies Readonly<Record<string, Steepness>>;

/** From the net's outputs to a place on the ladder. Set by hand together with STEEPNESS, checked in E5 unless said otherwise. */
export const PLACE = {
  /** Points per e-fold of a category's share. Chosen among 0.3 to 1 on translated questions and left-out figures (E24). */
  shareTemperature: 0.4,
  /**
   * Share of the net's estimate, which is right only partly for unseen sources; counted measures transfer better (E6).
   */
  difficultyShare: 0.7,
  /** Load points per unit of the probability that a weak model fails. Chosen with sources left out (E23). */
  failingShare: 0.5,
  /** Tiers a test question starts below the usual tier of its category. */
  testShift: -0.3,
  /** Choices of a test: fewer is prose, more is a list. By hand. */
  testOptionsMin: 3,
  testOptionsMax: 12,
  /** Tiers per tier fallen, once `fall` is used up. */
  slowedFall: 0.08,
  /** Speed at which cues of hard work cancel a fall: at a hardness of 0.5 nothing is left of the fall. */
  hardAgainstFall: 2,
  /** Usual tier below which cues of hard work count as mere words. First version: by hand, no experiment recorded. */
  hardFromTier: 1.7,
} as const;

/** Tiers that cues of hard work add, upwards only. By hand from prompts asked by hand (E11, E12 for calculus). */
export const HARDNESS = {
  perProof: 0.5,
  perDesign: 0.2,
  perExpert: 0.08,
  perConstraint: 0.03,
  /** Counts only as far as the request is mathematics. */
  perCalculus: 0.2,
  calculusMax: 2,
  /** A stray cue must not move anything. */
  threshold: 0.1,
  max: 1,
} as const;

/** Sums about shopping and school days: long to read, easy to do. They cost 0.01 of difficulty and gave 0.04 of the ladder (E10). */
export const STORY = {
  /** Tiers lower. */
  ease: 0.7,
  /** Share by which all other moves shrink: the words of a language move a sum less than what is asked (E26). */
  calm: 0.6,
  /** Words: below the first there is no story, from the second on it counts in full. */
  wordsMin: 8,
  wordsFull: 16,
  /** A formula sign speaks as much against a story as so many abstract words. By hand. */
  perMathMark: 2,
} as const;

/** From the place to the score, 0 to 1. A fifth per tier by definition; the tails only keep the hardest apart, by hand. */
export const SCORE = {
  /** The score at the middle of the lowest tier, mirrored for the highest. */
  tail: 0.1,
  /** Speed at which the tails flatten, per tier. */
  tailSteepness: 2,
  min: 0.001,
  max: 0.999,
  /** Steps per unit: scores are kept to four decimals. */
  steps: 10_000,
} as const;

/** The ladder output beyond its first and last cut. First version: by hand, no experiment recorded. */
export const LADDER_TAIL = {
  /** Output units per tier below the first cut, and above the last one. */
  unitsBelow: 2,
  unitsAbove: 3,
  /** The lowest and the highest tier that can be meant. */
  min: -0.5,
  max: 4.5,
} as const;

/** Thresholds for the report of a placed request. */
export const VERDICT = {
  /** Confidence from which the tier counts as sure. At 0.5, raised requests parted more translations (E24). */
  sureFrom: 0.4,
  /** The coding output, a logit, from which a request is coding whatever its category. First version: by hand, 82% in the net's own terms. */
  codingFrom: 1.5,
  /** Tiers a move must have to be named among the reasons. By hand, no experiment recorded. */
  worthNaming: 0.12,
} as const;

/**
 * Load points that one more of each adds, on a logarithmic scale. Set by hand on left-out difficulty and APGR. Ridge fits
 * over 12 and over 42 measures were not better (E6). Counting different words and numbers among choices is what helped.
 */
export const LOAD = {
  length: 0.22,
  choices: -0.12,
  distinct: 0.75,
  numbers: 0.14,
  choiceNumbers: 0.47,
  longWords: 0.19,
  conditions: 0.27,
  quantities: 0.15,
  operators: 0.1,
  brackets: 0.09,
  variables: 0.16,
  sentences: 0.15,
  /** Further characters that one character of a script without spaces counts for: it says about as much as three Latin ones. */
  unspacedExtra: 2,
  /** Letters from which a word is long. By hand. */
  longWordLetters: 8,
} as const;

/** Solved examples before a question. By hand, from the form of few-shot prompts in the public sets. */
export const EXAMPLES = {
  /** Characters a question after the examples has at least. */
  questionCharsMin: 20,
  /** An answer label with fewer characters behind it waits to be filled in. */
  openLabelChars: 4,
} as const;

/** Weight of a cue by its place: instructions stand first or last. First version: by hand, no experiment recorded. */
export const CUE_HITS = {
  /** Integer units of one full hit, so that a quarter is whole. */
  unit: 4,
  /** Characters of the opening, and what a hit there counts. */
  openingChars: 48,
  opening: 2,
  /** Characters at either end in which a hit counts fully; between them it counts a quarter. */
  endChars: 400,
  middle: 0.25,
} as const;

/**
 * Points for a category by cue or sign. First version: by hand on our own prompts. `material` and `advice` came with the
 * fourth round of prompts asked by hand (E12). Points added to single categories afterwards changed nothing (E7).
 */
export const EVIDENCE = {
  /** Evidence below this decides nothing. */
  enough: 1,
  perCode: 0.8,
  perTranslation: 1.6,
  perSummary: 1.4,
  perExtraction: 0.9,
  /** A pasted text speaks for extraction, more so where something is asked of it. */
  perMaterialAsked: 0.5,
  perMaterial: 0.2,
  perMath: 0.6,
  wordProblem: 1.2,
  wordProblemNumbers: 2,
  wordProblemWords: 200,
  perCreative: 0.9,
  perWriting: 0.8,
  perReasoning: 0.6,
  /** A why-question of fewer words is a question, not an analysis. */
  perReasoningShort: 0.3,
  shortAskWords: 9,
  perDesign: 0.7,
  perExpert: 0.35,
  perAdvice: 0.7,
  fence: 2.5,
  stackTrace: 3,
  /** Signs that count at most, of code and of mathematics alike. */
  marksMax: 8,
  /** Code marks per line above which a text is code rather than prose with signs. */
  denseCode: 0.25,
  perCodeMarkDense: 0.7,
  perCodeMark: 0.15,
  /** Mathematical signs per word above which a text is a formula rather than prose with signs. */
  denseMath: 0.04,
  perMathMarkDense: 0.5,
  perMathMark: 0.1,
} as const;

/** Small talk and short questions, told by counting words. First version: by hand, no experiment recorded. */
export const SHORT_TEXT = {
  chitchatStrength: 3,
  /** Code marks above which nothing is small talk. */
  chitchatCodeMarksMax: 1,
  /** Words a greeting may have around it, with and without a question. */
  greetingWordsMax: 7,
  greetingWithQuestionWordsMax: 4,
  smallTalkWordsMax: 10,
  /** The same where nothing else was found at all. */
  strayTalkWordsMax: 8,
  questionWordsMax: 40,
  /** Up to so many words none of which is known speak for no category. The net takes most of them for small talk (E8). */
  unknownWordsMax: 3,
  /** Scripts without spaces that are not read by characters have whole sentences in one word. */
  unknownLettersMax: 36,
} as const;

/**
 * Points that the rules add to those of the net. As two opinions they transfer better than a net trained on top of the
 * rules (E1).
 */
export const PRIOR = {
  pointsPerStrength: 0.7,
  strengthMax: 3,
} as const;

/** The classifier without weights. First version: by hand, no experiment recorded; it only stands in where nothing is learned. */
export const RULES = {
  /** A score below the n-th bound belongs to the n-th tier; the last tier has no bound. */
  tierBounds: [0.12, 0.3, 0.5, 0.74],
  /** Score at which each category starts, before its own difficulty counts. */
  baseScore: {
    chitchat: 0.05,
    simple_qa: 0.21,
    translation: 0.36,
    extraction: 0.38,
    summarization: 0.38,
    writing: 0.4,
    creative_writing: 0.41,
    general: 0.42,
    math: 0.5,
    coding_general_debugging_refactoring_testing: 0.56,
    reasoning: 0.54,
  } satisfies Record<Category, number>,
  scoreMin: 0.02,
  scoreMax: 0.98,
  scoreSteps: 1000,
  /** Score points per hit of a cue, and the most they may add up to. */
  cues: {
    proof: { each: 0.15, most: 0.32 },
    design: { each: 0.08, most: 0.28 },
    expert: { each: 0.05, most: 0.2 },
    reasoning: { each: 0.03, most: 0.1 },
    constraint: { each: 0.025, most: 0.15 },
    steps: { each: 0.02, most: 0.08 },
    brief: { each: -0.04, most: 0.08 },
  },
  talk: { each: 0.004, most: 0.06 },
  /** Effects smaller than this are dropped. */
  effectMin: 0.005,
  /** Score points per doubling of the length, which counts as average at so many words. */
  length: { perDoubling: 0.028, averageWords: 40, least: -0.05, most: 0.14 },
  /** Words from which a request is called long. */
  longWords: 60,
  furtherQuestions: { each: 0.03, most: 0.08 },
  listItems: { each: 0.012, most: 0.08 },
  /** Up to so many words and signs a sum is plain arithmetic. */
  arithmetic: { wordsMax: 10, mathMarksMax: 2, mathCuesBelow: 2, points: -0.24 },
  mathMarks: { each: 0.012, most: 0.12 },
  stackTrace: 0.05,
  fence: 0.02,
  codeMarks: { each: 0.003, most: 0.06 },
  /** Confidence: the base, the part for the distance to the nearest bound, the part for the strength of the evidence. */
  confidence: { base: 0.4, distance: 0.3, distanceFull: 0.1, strength: 0.28, strengthFull: 4 },
  /** Reasons named beside the category. */
  reasonsMax: 3,
} as const;

/**
 * Scaling of the measures the net reads: the value at which a measure is 1. First version: by hand, to bring common texts
 * between 0 and 1. The net was trained with these values.
 */
export const SHAPE = {
  /** ln(words + 1) and ln(lines + 1). */
  logWords: 6,
  logLines: 4,
  /** Words up to which a text is tiny or short, and from which it is long. */
  tinyWords: 4,
  shortWords: 12,
  longWords: 120,
  questions: 3,
  numbers: 12,
  /** Added to the words before dividing by them, so that two signs in three words do not look like a formula. */
  wordsAdded: 3,
  /** Factor on numbers per word, and on mathematical signs per word. */
  numberDensity: 3,
  codeMarks: 12,
  /** Added to the lines before dividing by them. */
  linesAdded: 2,
  mathMarks: 10,
  mathDensity: 4,
  listItems: 8,
  options: 5,
  manyOptions: 10,
  lettersPerWord: 8,
  chars: 4000,
  cueHits: 4,
  evidence: 4,
} as const;

/**
 * Words the net reads. Both ends are read since what is asked stands there. The asking ends came after a pasted article
 * had drowned "sum this up" (E12); the other values are from the first version, by hand, no experiment recorded.
 */
export const TOKENS = {
  /** Tokens read from the beginning and from the end, and the characters in which they are looked for. */
  head: 64,
  tail: 40,
  headChars: 1800,
  tailChars: 800,
  /** Tokens from either end that are also told apart by standing there. */
  opening: 10,
  closing: 14,
  /** Tokens from either end that also count as pairs, beginnings and endings; those between count as words only. */
  askingHead: 28,
  askingTail: 24,
  /** Characters of a word's beginning and ending, and those of a word that are hashed at all. */
  beginningChars: 4,
  endingChars: 3,
  wordCharsMax: 24,
  /** Unknown words of a text that are tried with two letters swapped. */
  swapsMax: 12,
  /** Digits from which numbers are no longer told apart by their length. */
  digitsMax: 5,
  /** The word table has 2^bits rows: 1 MB of weights. A size that ships well; no experiment recorded. */
  bucketBits: 16,
} as const;

/** Follow-ups that inherit a tier. By hand; the prompts of E11 found what they miss. */
export const HISTORY = {
  /** Words a follow-up has at most, and a fragment that needs no pointing word. */
  followUpWordsMax: 12,
  fragmentWordsMax: 5,
  /** Earlier requests looked at before giving up. */
  lookBackMax: 8,
} as const;

/** Messages that only react ("thanks!"). By hand, no experiment recorded. */
export const REACTION = {
  /** Longer messages say more than a reaction does. */
  charsMax: 120,
  /** Words of the longest phrase in the lists. */
  phraseWordsMax: 4,
  /** Last characters of a reply in which a closing question is looked for. */
  questionChars: 40,
} as const;
