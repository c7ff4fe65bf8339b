// How much a request puts on the table at once, by counting what has to be kept in mind: the length of the question,
// numbers, conditions, variables, long words. The choices of a test and solved examples before the question are not
// counted: they are longer where the question is easier. Within one kind of task this ranks difficulty better than
// length does (docs/routing.md).

import { DIGIT, kindOf, LETTER, OTHER, UNSPACED } from "./characters.ts";

/** What one more of each adds, on a logarithmic scale. */
const WEIGHTS = {
  length: 0.38,
  choices: -0.2,
  numbers: 0.24,
  longWords: 0.33,
  conditions: 0.46,
  quantities: 0.25,
  operators: 0.18,
  brackets: 0.15,
  variables: 0.28,
  sentences: 0.25,
} as const;

type Counts = { -readonly [name in keyof typeof WEIGHTS]: number };

/** `codes` are those of the lower-case text. */
export function measureLoad(lower: string, codes: Uint16Array): number {
  const counts = count(codes, findQuestion(lower));
  let load = 0;
  for (const name of NAMES) load += WEIGHTS[name] * Math.log1p(counts[name]);
  return load;
}

const NAMES = Object.keys(WEIGHTS) as readonly (keyof Counts)[];

const ANSWER_LABELS = ["answer:", "\na:", "output:", "答案："];
/** A question after the examples has at least this many characters. */
const QUESTION_CHARS = 20;

/** Where the question begins when examples with answers stand before it; 0 otherwise. */
function findQuestion(lower: string): number {
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

const LONG_WORD = 8;
/** A character of a script without spaces says about as much as three Latin ones. */
const UNSPACED_CHARS = 3;

const CONDITIONS = hashes(
  "if when while unless suppose assume assuming given such where let wenn falls sofern si sauf cuando quando se если когда",
);
const QUANTITIES = hashes(
  "all every each any only exactly least most both total remaining more less than distinct possible integer positive",
  "alle jeder jede jedes nur genau mindestens tous chaque seulement todos cada solo apenas все каждый только",
);

function count(codes: Uint16Array, from: number): Counts {
  const counts = { ...NOTHING };
  let before = OTHER;
  let wordStart = from;
  let hash = 0;
  let isChoice = false;
  for (let at = from; at <= codes.length; at++) {
    const code = at < codes.length ? (codes[at] as number) : 32;
    const kind = kindOf(code);
    if (kind === LETTER) {
      if (before !== LETTER) {
        wordStart = at;
        hash = 0;
      }
      hash = (Math.imul(hash, 31) + code) | 0;
    } else if (before === LETTER) countWord(counts, at - wordStart, hash, isChoice);
    if (kind === DIGIT && before !== DIGIT) counts.numbers++;
    if (kind === OTHER) countMark(counts, code, codes[at + 1] ?? 32);
    if (!isChoice && code === 10) isChoice = opensChoices(codes, at + 1);
    if (isChoice) counts.choices++;
    else counts.length += kind === UNSPACED ? UNSPACED_CHARS : 1;
    before = kind;
  }
  return counts;
}

const NOTHING = Object.fromEntries(NAMES.map((name) => [name, 0])) as Counts;

function countWord(counts: Counts, length: number, hash: number, isChoice: boolean): void {
  if (length === 1) counts.variables++;
  if (isChoice) return;
  if (length >= LONG_WORD) counts.longWords++;
  if (CONDITIONS.has(hash)) counts.conditions++;
  else if (QUANTITIES.has(hash)) counts.quantities++;
}

function countMark(counts: Counts, code: number, next: number): void {
  switch (code) {
    case 0x28: // (
    case 0x5b: // [
    case 0x7b: // {
      counts.brackets++;
      break;
    case 0x2b: // +
    case 0x2d: // -
    case 0x2a: // *
    case 0x2f: // /
    case 0x3d: // =
    case 0x3c: // <
    case 0x3e: // >
    case 0x5e: // ^
    case 0x25: // %
      counts.operators++;
      break;
    case 0x2e: // .
    case 0x3f: // ?
    case 0x21: // !
      if (next === 32 || next === 10) counts.sentences++;
      break;
    case 0x3002: // 。
    case 0xff1f: // ？
    case 0xff01: // ！
      counts.sentences++;
      break;
  }
}

/** Whether a line begins as the first choice of a test does: "a.", "(a)", "a)". */
function opensChoices(codes: Uint16Array, from: number): boolean {
  let at = from;
  while (codes[at] === 32) at++;
  if (codes[at] === 0x28) at++;
  return codes[at] === 0x61 && (codes[at + 1] === 0x2e || codes[at + 1] === 0x29);
}

function hashes(...lines: readonly string[]): ReadonlySet<number> {
  const hashOf = (word: string) => [...word].reduce((hash, char) => (Math.imul(hash, 31) + char.charCodeAt(0)) | 0, 0);
  return new Set(lines.flatMap((line) => line.split(" ")).map(hashOf));
}
