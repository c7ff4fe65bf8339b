// The input of the net: hashed words of a request, and its shape as a row of named measures, each about 0 to 1.
// Training and routing share this file. The order of the measures is part of the weights; layout.ts checks it at start.

import * as characters from "./characters.ts";
import * as constants from "./constants.ts";
import { CUES, type Cue } from "./lexicon.ts";
import { isChitchat, isShortQuestion, TASKS, taskEvidence } from "./rules.ts";
import type { Signals } from "./signals.ts";

/** Constants of this module, as in scan.ts: V8 looks one of another module up wherever it stands. */
const { codesOf, DIGIT, FLAGS, identifierEnd, KIND_MASK, LETTER, OTHER, PADDING, UNSPACED } = characters;
const { SHAPE, TOKENS } = constants;

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
const UNLEARNED_CUES: readonly Cue[] = ["everyday", "abstract", "calculus", "stakes", "own"];
const LEARNED_CUES = CUES.filter((cue) => !UNLEARNED_CUES.includes(cue));

/** The measures in the order in which the net reads them: MEASURES, one per cue, one per task of the rules. */
export const SHAPE_NAMES: readonly string[] = [
  ...MEASURES.map(({ name }) => name),
  ...LEARNED_CUES.map((cue) => `cue ${cue}`),
  ...TASKS.map((task) => `evidence ${task}`),
];

const CUES_AT = MEASURES.length;
const TASKS_AT = CUES_AT + LEARNED_CUES.length;

/** Used for one request after the other. */
const SHARED_SHAPE = new Float32Array(SHAPE_NAMES.length);

/** Valid until the next call. */
export function shapeOf(signals: Signals): Float32Array {
  const shape = SHARED_SHAPE;
  for (let at = 0; at < CUES_AT; at++) shape[at] = (MEASURES[at] as ShapeMeasure).of(signals);
  for (let at = CUES_AT; at < TASKS_AT; at++) {
    shape[at] = share(signals.cues[LEARNED_CUES[at - CUES_AT] as Cue], SHAPE.cueHits);
  }
  const evidence = taskEvidence(signals);
  for (let at = TASKS_AT; at < shape.length; at++) shape[at] = share(evidence[at - TASKS_AT] as number, SHAPE.evidence);
  return shape;
}

/** Rows of the word table. */
export const BUCKETS = 1 << TOKENS.bucketBits;
/** A feature has one of four rows: with a choice, few of those that were learned have to share. */
const CHOICES = 4;
const GROUP_SHIFT = 32 - TOKENS.bucketBits + Math.log2(CHOICES);

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

/**
 * Finds the row of a feature; -1 for one that was never learned, which then counts for nothing. `isWord` where it is asked
 * to tell whether a word is known.
 */
export type FindRow = (feature: number, isWord?: true) => number;

/** By the mark that each row of the table carries: the lowest byte of the feature that owns it, 0 for nobody. */
export function createRowFinder(marks: Uint8Array): FindRow {
  return (feature) => {
    const first = firstRowOf(feature);
    const mark = markOf(feature);
    for (let row = first; row < first + CHOICES; row++) if (marks[row] === mark) return row;
    return -1;
  };
}

/** Gives a feature one of its rows unless all are taken; says whether it did. */
export function takeRow(marks: Uint8Array, feature: number): boolean {
  const first = firstRowOf(feature);
  for (let row = first; row < first + CHOICES; row++) {
    if (marks[row] !== 0) continue;
    marks[row] = markOf(feature);
    return true;
  }
  return false;
}

function firstRowOf(feature: number): number {
  return (feature >>> GROUP_SHIFT) * CHOICES;
}

function markOf(feature: number): number {
  return feature & 0xff || 1;
}

interface Tokens {
  readonly words: Int32Array;
  readonly beginnings: Int32Array;
  readonly endings: Int32Array;
  /** 1 for a character of a script without spaces. */
  readonly characters: Uint8Array;
  count: number;
  /** Beginnings and endings of words that are not known themselves. */
  readonly parts: Int32Array;
  partCount: number;
  /** Words that were tried with two letters swapped. */
  swaps: number;
}

/** The rows of a lower-case text's features, repeated as often as they occur. */
interface HashedText {
  /** Valid until the next text is hashed. */
  readonly buckets: Int32Array;
  /** Says that some word was learned in the place where it stands: a mark alone may match by chance. */
  readonly isKnown: boolean;
}

export type HashWords = (lower: string) => HashedText;

/** Returns a hasher that fills the same arrays again for every text: making arrays costs more than filling them. */
export function createWordHasher(find: FindRow): HashWords {
  const tokens: Tokens = {
    words: new Int32Array(TOKENS_MAX),
    beginnings: new Int32Array(TOKENS_MAX),
    endings: new Int32Array(TOKENS_MAX),
    characters: new Uint8Array(TOKENS_MAX),
    count: 0,
    parts: new Int32Array(TOKENS_MAX * 2),
    partCount: 0,
    swaps: 0,
  };
  const found = new Int32Array(TOKENS_MAX * (FEATURES_PER_TOKEN + 2) + TOKENS.opening + TOKENS.closing);
  return (lower) => {
    const codes = codesOf(lower);
    const end = codes.length - PADDING;
    const isShort = end <= TOKENS.headChars + TOKENS.tailChars;
    tokens.count = 0;
    tokens.partCount = 0;
    tokens.swaps = 0;
    const headEnd = isShort ? end : TOKENS.headChars;
    const stopped = readTokens({ tokens, find, codes, end: headEnd, most: TOKENS.head }, 0);
    const tail = Math.max(isShort ? stopped : 0, end - TOKENS.tailChars);
    if (tail < end) readTokens({ tokens, find, codes, end, most: TOKENS_MAX }, findTail(codes, tail, end));
    const isKnown = isPlaced(tokens, find);
    return { buckets: found.subarray(0, findBuckets(tokens, find, found)), isKnown };
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
  readonly find: FindRow;
  readonly codes: Uint16Array;
  readonly end: number;
  /** Limit of tokens, those from earlier parts included. */
  readonly most: number;
}

/** Adds tokens from `from` on until there are enough of them; returns where it stopped. */
function readTokens(range: TokenRange, from: number): number {
  const { codes, end, most, tokens } = range;
  let at = from;
  while (at < end && tokens.count < most) {
    const code = codes[at] as number;
    const kind = kindOf(code);
    tokens.characters[tokens.count] = 0;
    if (kind === LETTER && !isSyllabic(code)) at = addWord(range, at);
    else if (kind === DIGIT) at = addNumber(range, at);
    else {
      tokens.characters[tokens.count] = kind === OTHER ? 0 : 1;
      if (kind !== OTHER || isTellingSign(code)) addToken(range, Math.imul(code + 1, WORD), 0, 0);
      at++;
    }
  }
  return at;
}

function kindOf(code: number): number {
  return (FLAGS[code] as number) & KIND_MASK;
}

/** Korean is read by syllables and pairs of them, as Chinese and Japanese are, since its words carry their particles. */
function isSyllabic(code: number): boolean {
  return code >= 0xac00 && code <= 0xd7a3;
}

/** A word while it is read: itself, its beginning and its ending, hashed; 0 where the word is too short for them. */
const word = { hash: 0, beginning: 0, ending: 0 };

function addWord(range: TokenRange, from: number): number {
  const { codes, end } = range;
  let at = from;
  while (at < end && kindOf(codes[at] as number) === LETTER) at++;
  const length = at - from;
  if (kindOf(codes[at] as number) === DIGIT) {
    const identifier = identifierEnd(codes, from, at);
    if (identifier > 0) return identifier;
    while (kindOf(codes[at] as number) === DIGIT) at++;
  }
  hashWord(codes, from, length);
  if (!addToken(range, word.hash, word.beginning, word.ending)) addSwapped(range, from, length);
  return at;
}

function hashWord(codes: Uint16Array, from: number, length: number): void {
  let hash = 7;
  word.beginning = 0;
  word.ending = 0;
  const hashed = Math.min(length, TOKENS.wordCharsMax);
  for (let at = 0; at < hashed; at++) {
    hash = Math.imul(hash ^ (codes[from + at] as number), 0x01000193) ^ (hash >>> 15);
    if (at === TOKENS.beginningChars - 1) word.beginning = hash;
  }
  word.hash = hash;
  if (length <= TOKENS.beginningChars) {
    word.beginning = 0;
    return;
  }
  let ending = 11;
  for (let at = from + length - TOKENS.endingChars; at < from + length; at++)
    ending = Math.imul(ending ^ (codes[at] as number), 0x01000193);
  word.ending = ending;
}

/** Reads a word that nobody knows as the known one from which it differs by two letters in the wrong order. */
function addSwapped(range: TokenRange, from: number, length: number): void {
  const { codes, tokens } = range;
  if (length <= TOKENS.beginningChars || length > TOKENS.wordCharsMax || tokens.swaps >= TOKENS.swapsMax) {
    addParts(range, word.beginning, word.ending);
    return;
  }
  tokens.swaps++;
  for (let at = from; at < from + length - 1; at++) {
    swap(codes, at);
    hashWord(codes, from, length);
    swap(codes, at);
    if (isKnown(range.find, word.hash, word.beginning) && addToken(range, word.hash, word.beginning, word.ending))
      return;
  }
  hashWord(codes, from, length);
  addParts(range, word.beginning, word.ending);
}

function swap(codes: Uint16Array, at: number): void {
  const first = codes[at] as number;
  codes[at] = codes[at + 1] as number;
  codes[at + 1] = first;
}

/** Numbers are told apart by how many digits they have: 1, 2, 3, 4 or more. */
function addNumber(range: TokenRange, from: number): number {
  const { codes, end } = range;
  let at = from;
  while (at < end && kindOf(codes[at] as number) === DIGIT) at++;
  const identifier = kindOf(codes[at] as number) === LETTER ? identifierEnd(codes, from, at) : 0;
  if (identifier > 0) return identifier;
  addToken(range, Math.imul(Math.min(at - from, TOKENS.digitsMax), 0x68e31da4), 0, 0);
  return at;
}

/** A word that was never learned is left out as if it did not stand there. Says whether it was added. */
function addToken({ tokens, find }: TokenRange, hash: number, beginning: number, ending: number): boolean {
  if (!isKnown(find, hash, beginning)) return false;
  const { count } = tokens;
  tokens.words[count] = hash;
  tokens.beginnings[count] = beginning;
  tokens.endings[count] = ending;
  tokens.count = count + 1;
  return true;
}

/** A mark is one byte, so that a strange word may pass for a known one; that its beginning does too is unlikely. */
function isKnown(find: FindRow, hash: number, beginning: number): boolean {
  return (
    (beginning === 0 || find(featureOf(beginning, BEGINNING), true) >= 0) && find(featureOf(hash, WORD), true) >= 0
  );
}

/** The beginning of a word that is not known may be, as may its ending then. */
function addParts({ tokens, find }: TokenRange, beginning: number, ending: number): void {
  if (beginning === 0 || tokens.partCount + 2 > tokens.parts.length) return;
  if (find(featureOf(beginning, BEGINNING), true) < 0) return;
  tokens.parts[tokens.partCount++] = featureOf(beginning, BEGINNING);
  tokens.parts[tokens.partCount++] = featureOf(ending, ENDING);
}

/** Every sign but spaces, commas and full stops, which stand in all kinds of text. */
function isTellingSign(code: number): boolean {
  return code > 32 ? code !== 44 && code !== 46 : code === 10;
}

function isPlaced({ words, count }: Tokens, find: FindRow): boolean {
  for (let at = 0; at < count; at++) {
    const hash = words[at] as number;
    if (find(featureOf(hash, OPENING)) >= 0 || find(featureOf(hash, CLOSING)) >= 0) return true;
  }
  return false;
}

/** Writes them into `found` and says how many there are. */
function findBuckets(tokens: Tokens, find: FindRow, found: Int32Array): number {
  const { words, beginnings, endings, characters, count } = tokens;
  let size = 0;
  const add = (feature: number) => {
    const row = find(feature);
    if (row >= 0) found[size++] = row;
  };
  let before = 1;
  for (let at = 0; at < count; at++) {
    const hash = words[at] as number;
    add(featureOf(hash, WORD));
    // A single character says little: pairs of them are read throughout.
    if (at >= TOKENS.askingHead && at < count - TOKENS.askingTail && characters[at] === 0) {
      before = hash;
      continue;
    }
    add(featureOf(Math.imul(before, 31) + hash, PAIR));
    if (beginnings[at] !== 0) {
      add(featureOf(beginnings[at] as number, BEGINNING));
      add(featureOf(endings[at] as number, ENDING));
    }
    if (at < TOKENS.opening) add(featureOf(hash, OPENING));
    if (at >= count - TOKENS.closing) add(featureOf(hash, CLOSING));
    before = hash;
  }
  for (let at = 0; at < tokens.partCount; at++) add(tokens.parts[at] as number);
  return size;
}

function featureOf(hash: number, salt: number): number {
  let mixed = Math.imul(hash ^ salt, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}
