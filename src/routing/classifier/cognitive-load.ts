// How much a request puts on the table at once, by counting what has to be kept in mind: the length of the question,
// numbers, conditions, variables, long words. The choices of a test and solved examples before the question are not
// counted: they are longer where the question is easier. Within one kind of task this ranks difficulty better than
// length does (docs/routing.md).

import { PADDING } from "./characters.ts";

/** Where the parts of a text begin, each on a line of its own. */
export interface Parts {
  /** 0 where no solved examples stand before the question. */
  readonly question: number;
  /** The end of the text where there are no choices. */
  readonly choices: number;
}

/** `codes` are those of the lower-case text. */
export function findParts(lower: string, codes: Uint16Array): Parts {
  const question = findQuestion(lower);
  return { question, choices: findChoices(lower, codes, question) };
}

/** How many words are told apart; where two share a slot the second is not counted. */
const SLOT_BITS = 11;

/** What was counted in one part of a text. */
export class LoadCounts {
  readonly seen = new Uint8Array(1 << SLOT_BITS);
  /** Different words; a character of a script without spaces is half a word. */
  distinctHalves = 0;
  numbers = 0;
  longWords = 0;
  conditions = 0;
  quantities = 0;
  operators = 0;
  brackets = 0;
  /** Words of a single letter. */
  variables = 0;
  sentences = 0;
  /** Characters of scripts without spaces. */
  unspaced = 0;
}

/** What one more of each adds, on a logarithmic scale. */
const WEIGHTS = {
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
} as const;

/** A character of a script without spaces says about as much as three Latin ones. */
const UNSPACED_EXTRA = 2;

export interface LoadInput {
  /** Characters of the question and of the choices. */
  readonly questionChars: number;
  readonly choicesChars: number;
  readonly question: LoadCounts;
  /** Their words are not counted, their numbers and signs are. */
  readonly choices: LoadCounts;
}

export function measureLoad({ questionChars, choicesChars, question, choices }: LoadInput): number {
  let load = WEIGHTS.length * Math.log1p(questionChars + UNSPACED_EXTRA * question.unspaced);
  load += WEIGHTS.choices * Math.log1p(choicesChars);
  load += WEIGHTS.distinct * Math.log1p(question.distinctHalves / 2);
  load += WEIGHTS.choiceNumbers * Math.log1p(choices.numbers);
  load += WEIGHTS.numbers * Math.log1p(question.numbers + choices.numbers);
  load += WEIGHTS.longWords * Math.log1p(question.longWords);
  load += WEIGHTS.conditions * Math.log1p(question.conditions);
  load += WEIGHTS.quantities * Math.log1p(question.quantities);
  load += WEIGHTS.operators * Math.log1p(question.operators + choices.operators);
  load += WEIGHTS.brackets * Math.log1p(question.brackets + choices.brackets);
  load += WEIGHTS.variables * Math.log1p(question.variables + choices.variables);
  load += WEIGHTS.sentences * Math.log1p(question.sentences + choices.sentences);
  return load;
}

const ANSWER_LABELS = ["answer:", "\na:", "output:", "答案："];
/** A question after the examples has at least this many characters. */
const QUESTION_CHARS = 20;

/** Where the question begins when examples with answers stand before it; 0 otherwise. */
function findQuestion(lower: string): number {
  // Every label has one, and most texts have none: searching for each label costs as much as counting does.
  if (!lower.includes(":") && !lower.includes("：")) return 0;
  for (const label of ANSWER_LABELS) {
    const last = lower.lastIndexOf(label);
    if (last <= 0) continue;
    const isOpen = lower.length - last < label.length + 4;
    const solved = isOpen ? lower.lastIndexOf(label, last - 1) : last;
    if (solved <= 0 || lower.lastIndexOf(label, solved - 1) < 0) continue;
    const end = lower.indexOf("\n\n", solved);
    if (end >= 0 && lower.length - end > QUESTION_CHARS) return end + 2;
  }
  return 0;
}

function findChoices(lower: string, codes: Uint16Array, question: number): number {
  for (let at = lower.indexOf("\n", question); at >= 0; at = lower.indexOf("\n", at + 1)) {
    if (opensChoices(codes, at + 1)) return at + 1;
  }
  return codes.length - PADDING;
}

/** Whether a line begins as the first choice of a test does: "a.", "(a)", "a)". */
function opensChoices(codes: Uint16Array, from: number): boolean {
  let at = from;
  while (codes[at] === 32) at++;
  if (codes[at] === 0x28) at++;
  return codes[at] === 0x61 && (codes[at + 1] === 0x2e || codes[at + 1] === 0x29);
}

/** From how many letters on a word is long. */
export const LONG_WORD = 8;

/** The words that are counted, by what they say. */
export const LOAD_WORDS = {
  conditions:
    "if when while unless suppose assume assuming given such where let wenn falls sofern si sauf cuando quando se если когда",
  quantities:
    "all every each any only exactly least most both total remaining more less than distinct possible integer positive alle jeder jede jedes nur genau mindestens tous chaque seulement todos cada solo apenas все каждый только",
} as const;

/** Counts a word, or a character that is one, if it is the first of its kind here. */
export function countDistinct(counts: LoadCounts, key: number, halves: number): void {
  const slot = Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS);
  if (counts.seen[slot] === 1) return;
  counts.seen[slot] = 1;
  counts.distinctHalves += halves;
}

/** Only for characters with the flag LOAD; `isBeforeSpace` also at the end of a text. */
export function countLoadSign(counts: LoadCounts, code: number, isBeforeSpace: boolean): void {
  switch (code) {
    case 0x28: // (
    case 0x5b: // [
    case 0x7b: // {
      counts.brackets++;
      break;
    case 0x2e: // .
    case 0x3f: // ?
    case 0x21: // !
      if (isBeforeSpace) counts.sentences++;
      break;
    case 0x3002: // 。
    case 0xff1f: // ？
    case 0xff01: // ！
      counts.sentences++;
      break;
    default:
      counts.operators++;
  }
}
