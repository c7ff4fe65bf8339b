// The input of the net: hashed words of a request, and its shape as a row of named measures, each about 0 to 1.
// Training and routing share this file. The order of the measures is part of the weights; layout.ts checks it at start.

import { codesOf, DIGIT, FLAGS, KIND_MASK, LETTER, OTHER, PADDING, UNSPACED } from "./characters.ts";
import { SHAPE, TOKENS } from "./constants.ts";
import { CUES, type Cue } from "./lexicon.ts";
import { isChitchat, isShortQuestion, TASKS, taskEvidence } from "./rules.ts";
import type { Signals } from "./signals.ts";

/** One measure of a request's shape. */
interface ShapeMeasure {
  readonly name: string;
  of(signals: Signals): number;
}

const flag = (isSet: boolean): number => (isSet ? 1 : 0);
const share = (count: number, full: number): number => Math.min(1, count / full);
const perWord = (words: number): number => 1 / (words + SHAPE.wordsAdded);

const MEASURES: readonly ShapeMeasure[] = [
  { name: "log words", of: ({ words }) => Math.log1p(words) / SHAPE.logWords },
  { name: "log words squared", of: ({ words }) => (Math.log1p(words) / SHAPE.logWords) ** 2 },
  { name: "is tiny", of: ({ words }) => flag(words <= SHAPE.tinyWords) },
  { name: "is short", of: ({ words }) => flag(words <= SHAPE.shortWords) },
  { name: "is long", of: ({ words }) => flag(words > SHAPE.longWords) },
  { name: "log lines", of: ({ lines }) => Math.log1p(lines) / SHAPE.logLines },
  { name: "lines per word", of: ({ lines, words }) => share(lines, words + 1) },
  { name: "questions", of: ({ questions }) => share(questions, SHAPE.questions) },
  { name: "has question", of: ({ questions }) => flag(questions > 0) },
  { name: "numbers", of: ({ numbers }) => share(numbers, SHAPE.numbers) },
  {
    name: "numbers per word",
    of: ({ numbers, words }) => Math.min(1, numbers * perWord(words) * SHAPE.numberDensity),
  },
  { name: "code marks", of: ({ codeMarks }) => share(codeMarks, SHAPE.codeMarks) },
  { name: "code marks per line", of: ({ codeMarks, lines }) => share(codeMarks, lines + SHAPE.linesAdded) },
  { name: "math marks", of: ({ mathMarks }) => share(mathMarks, SHAPE.mathMarks) },
  {
    name: "math marks per word",
    of: ({ mathMarks, words }) => Math.min(1, mathMarks * perWord(words) * SHAPE.mathDensity),
  },
  { name: "list items", of: ({ listItems }) => share(listItems, SHAPE.listItems) },
  { name: "options", of: ({ options }) => share(options, SHAPE.options) },
  { name: "many options", of: ({ options }) => share(options, SHAPE.manyOptions) },
  { name: "has code fence", of: ({ hasFence }) => flag(hasFence) },
  { name: "has stack trace", of: ({ hasStackTrace }) => flag(hasStackTrace) },
  { name: "letters per word", of: ({ letters, words }) => share(letters / (words + 1), SHAPE.lettersPerWord) },
  { name: "share of letters", of: ({ letters, length }) => letters / (length + 1) },
  { name: "share of foreign letters", of: ({ foreignLetters, letters }) => foreignLetters / (letters + 1) },
  { name: "characters", of: ({ length }) => share(length, SHAPE.chars) },
  { name: "is small talk", of: (signals) => flag(isChitchat(signals)) },
  { name: "is short question", of: (signals) => flag(isShortQuestion(signals)) },
];

/**
 * Cues the net does not read. These only place a sum on the ladder: the net would say "mathematics" of everything else
 * that speaks of money or days. A new cue stands here until the net is trained with it.
 */
const UNLEARNED_CUES: readonly Cue[] = ["everyday", "abstract", "calculus"];
const LEARNED_CUES = CUES.filter((cue) => !UNLEARNED_CUES.includes(cue));

/** The measures in the order in which the net reads them: MEASURES, one per cue, one per task of the rules. */
export const SHAPE_NAMES: readonly string[] = [
  ...MEASURES.map(({ name }) => name),
  ...LEARNED_CUES.map((cue) => `cue ${cue}`),
  ...TASKS.map((task) => `evidence ${task}`),
];

const CUES_AT = MEASURES.length;
const TASKS_AT = CUES_AT + LEARNED_CUES.length;

export function shapeOf(signals: Signals): Float32Array {
  const shape = new Float32Array(SHAPE_NAMES.length);
  for (let at = 0; at < CUES_AT; at++) shape[at] = (MEASURES[at] as ShapeMeasure).of(signals);
  for (let at = CUES_AT; at < TASKS_AT; at++) {
    shape[at] = share(signals.cues[LEARNED_CUES[at - CUES_AT] as Cue], SHAPE.cueHits);
  }
  const evidence = taskEvidence(signals);
  for (let at = TASKS_AT; at < shape.length; at++) shape[at] = share(evidence[at - TASKS_AT] as number, SHAPE.evidence);
  return shape;
}

/** How many buckets the hashes fall into; the weights have one row for each. */
export const BUCKETS = 1 << TOKENS.bucketBits;

/** Salts: the same word is another feature as a pair, a beginning, an ending, or at one of the ends. */
const WORD = 0x9e3779b1;
const PAIR = 0x85ebca6b;
const BEGINNING = 0xc2b2ae35;
const ENDING = 0x27d4eb2f;
const OPENING = 0x165667b1;
const CLOSING = 0xd3a2646c;

const TOKENS_MAX = TOKENS.head + TOKENS.tail;
/** A word, its pair, its beginning and its ending, and one of the ends. */
const FEATURES_PER_TOKEN = 5;

interface Tokens {
  readonly hashes: Uint32Array;
  readonly beginnings: Uint32Array;
  readonly endings: Uint32Array;
  count: number;
}

/** The buckets of a lower-case text's features, repeated as often as they occur. */
export type HashWords = (lower: string) => Int32Array;

/** Its arrays are filled again for every text: making them costs more than filling them. */
export function createWordHasher(): HashWords {
  const tokens: Tokens = {
    hashes: new Uint32Array(TOKENS_MAX),
    beginnings: new Uint32Array(TOKENS_MAX),
    endings: new Uint32Array(TOKENS_MAX),
    count: 0,
  };
  const found = new Int32Array(TOKENS_MAX * FEATURES_PER_TOKEN + TOKENS.opening + TOKENS.closing);
  return (lower) => {
    const codes = codesOf(lower);
    const end = codes.length - PADDING;
    const isShort = end <= TOKENS.headChars + TOKENS.tailChars;
    tokens.count = 0;
    const headEnd = isShort ? end : TOKENS.headChars;
    const stopped = readTokens({ tokens, codes, end: headEnd, most: TOKENS.head }, 0);
    const tail = Math.max(isShort ? stopped : 0, end - TOKENS.tailChars);
    if (tail < end) readTokens({ tokens, codes, end, most: TOKENS_MAX }, findTail(codes, tail, end));
    return found.slice(0, findBuckets(tokens, found));
  };
}

/** Only the last tokens of the tail are kept, so they are found from a place that leaves room for them. */
function findTail(codes: Uint16Array, from: number, end: number): number {
  let at = end;
  let found = 0;
  let before = OTHER;
  while (at > from && found < TOKENS.tail) {
    const kind = kindOf(codes[at - 1] as number);
    if (kind === UNSPACED || (kind !== OTHER && kind !== before)) found++;
    before = kind;
    at--;
  }
  return at;
}

/** A part of a text, and where its tokens go. */
interface TokenRange {
  readonly tokens: Tokens;
  readonly codes: Uint16Array;
  readonly end: number;
  /** How many tokens there may be altogether. */
  readonly most: number;
}

/** Adds tokens from `from` on until there are enough of them; returns where it stopped. */
function readTokens(range: TokenRange, from: number): number {
  const { tokens, codes, end, most } = range;
  let at = from;
  while (at < end && tokens.count < most) {
    const code = codes[at] as number;
    const kind = kindOf(code);
    if (kind === LETTER) at = addWord(range, at);
    else if (kind === DIGIT) at = addNumber(range, at);
    else {
      if (kind === UNSPACED || isTellingSign(code)) addToken(tokens, Math.imul(code + 1, WORD), 0, 0);
      at++;
    }
  }
  return at;
}

function kindOf(code: number): number {
  return (FLAGS[code] as number) & KIND_MASK;
}

function addWord({ tokens, codes, end }: TokenRange, from: number): number {
  let hash = 7;
  let beginning = 0;
  let at = from;
  while (at < end) {
    const code = codes[at] as number;
    if (kindOf(code) !== LETTER) break;
    if (at - from < TOKENS.wordCharsMax) hash = Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15);
    if (at - from === TOKENS.beginningChars - 1) beginning = hash;
    at++;
  }
  const length = at - from;
  let ending = 0;
  if (length > TOKENS.beginningChars) {
    ending = 11;
    for (let back = at - TOKENS.endingChars; back < at; back++)
      ending = Math.imul(ending ^ (codes[back] as number), 0x01000193);
  } else beginning = 0;
  addToken(tokens, hash, beginning, ending);
  return at;
}

/** Numbers are told apart by how many digits they have: 1, 2, 3, 4 or more. */
function addNumber({ tokens, codes, end }: TokenRange, from: number): number {
  let at = from;
  while (at < end && kindOf(codes[at] as number) === DIGIT) at++;
  addToken(tokens, Math.imul(Math.min(at - from, TOKENS.digitsMax), 0x68e31da4), 0, 0);
  return at;
}

function addToken(tokens: Tokens, hash: number, beginning: number, ending: number): void {
  const { count } = tokens;
  tokens.hashes[count] = hash;
  tokens.beginnings[count] = beginning;
  tokens.endings[count] = ending;
  tokens.count = count + 1;
}

/** Every sign but spaces, commas and full stops, which stand in all kinds of text. */
function isTellingSign(code: number): boolean {
  return code > 32 ? code !== 44 && code !== 46 : code === 10;
}

/** Writes them into `found` and says how many there are. */
function findBuckets({ hashes, beginnings, endings, count }: Tokens, found: Int32Array): number {
  let size = 0;
  let before = 1;
  for (let at = 0; at < count; at++) {
    const hash = hashes[at] as number;
    found[size++] = bucketOf(hash, WORD);
    if (at >= TOKENS.askingHead && at < count - TOKENS.askingTail) {
      before = hash;
      continue;
    }
    found[size++] = bucketOf(Math.imul(before, 31) + hash, PAIR);
    if (beginnings[at] !== 0) {
      found[size++] = bucketOf(beginnings[at] as number, BEGINNING);
      found[size++] = bucketOf(endings[at] as number, ENDING);
    }
    if (at < TOKENS.opening) found[size++] = bucketOf(hash, OPENING);
    if (at >= count - TOKENS.closing) found[size++] = bucketOf(hash, CLOSING);
    before = hash;
  }
  return size;
}

function bucketOf(hash: number, salt: number): number {
  let mixed = Math.imul(hash ^ salt, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> (32 - TOKENS.bucketBits);
}
