// Turns a text into hashed word features for the learned part of the classifier: words, pairs of neighbours, beginnings
// and endings of words, and what stands first and last. Reads a bounded number of words from both ends.

import { codesOf, DIGIT, FLAGS, KIND_MASK, LETTER, OTHER, PADDING, UNSPACED } from "./characters.ts";

/** How many buckets the hashes fall into; the weights have one row for each. */
export const BUCKET_BITS = 16;
export const BUCKETS = 1 << BUCKET_BITS;

const HEAD_TOKENS = 64;
const TAIL_TOKENS = 40;
/** How many tokens from either end are also told apart by standing there. */
const OPENING_TOKENS = 10;
const CLOSING_TOKENS = 14;
/** The characters that are looked at to find the tokens of either end. */
const HEAD_CHARS = 1800;
const TAIL_CHARS = 800;

const PER_TOKEN = 5;
/** What is asked stands at either end; of what lies between only the words are heard, so that a pasted text does not drown it. */
const ASKING_HEAD = 28;
const ASKING_TAIL = 24;

const WORD = 0x9e3779b1;
const PAIR = 0x85ebca6b;
const BEGINNING = 0xc2b2ae35;
const ENDING = 0x27d4eb2f;
const OPENING = 0x165667b1;
const CLOSING = 0xd3a2646c;

const TOKENS_MAX = HEAD_TOKENS + TAIL_TOKENS;

interface Tokens {
  readonly hashes: Uint32Array;
  readonly beginnings: Uint32Array;
  readonly endings: Uint32Array;
  count: number;
}

/** Filled anew for every text: making arrays costs more than filling them. */
const TOKENS: Tokens = {
  hashes: new Uint32Array(TOKENS_MAX),
  beginnings: new Uint32Array(TOKENS_MAX),
  endings: new Uint32Array(TOKENS_MAX),
  count: 0,
};
const FOUND = new Int32Array(TOKENS_MAX * PER_TOKEN + OPENING_TOKENS + CLOSING_TOKENS);

/** The buckets of a lower-case text's features, repeated as often as they occur. */
export function hashText(lower: string): Int32Array {
  const codes = codesOf(lower);
  const end = codes.length - PADDING;
  const isShort = end <= HEAD_CHARS + TAIL_CHARS;
  TOKENS.count = 0;
  const headEnd = isShort ? end : HEAD_CHARS;
  const stopped = readTokens({ codes, end: headEnd, most: HEAD_TOKENS }, 0);
  const tail = Math.max(isShort ? stopped : 0, end - TAIL_CHARS);
  if (tail < end) readTokens({ codes, end, most: TOKENS_MAX }, findTail(codes, tail, end));
  return FOUND.slice(0, findBuckets(TOKENS));
}

/** Only the last tokens of the tail are kept, so they are found from a place that leaves room for them. */
function findTail(codes: Uint16Array, from: number, end: number): number {
  let at = end;
  let found = 0;
  let before = OTHER;
  while (at > from && found < TAIL_TOKENS) {
    const kind = kindOf(codes[at - 1] as number);
    if (kind === UNSPACED || (kind !== OTHER && kind !== before)) found++;
    before = kind;
    at--;
  }
  return at;
}

interface Stretch {
  readonly codes: Uint16Array;
  readonly end: number;
  /** How many tokens there may be altogether. */
  readonly most: number;
}

/** Adds tokens from `from` on until there are enough of them; returns where it stopped. */
function readTokens(stretch: Stretch, from: number): number {
  const { codes, end, most } = stretch;
  let at = from;
  while (at < end && TOKENS.count < most) {
    const code = codes[at] as number;
    const kind = kindOf(code);
    if (kind === LETTER) at = addWord(codes, at, end);
    else if (kind === DIGIT) at = addNumber(codes, at, end);
    else {
      if (kind === UNSPACED || isTellingMark(code)) addToken(Math.imul(code + 1, WORD), 0, 0);
      at++;
    }
  }
  return at;
}

function kindOf(code: number): number {
  return (FLAGS[code] as number) & KIND_MASK;
}

const BEGINNING_CHARS = 4;
const ENDING_CHARS = 3;
const WORD_CHARS_MAX = 24;

function addWord(codes: Uint16Array, from: number, end: number): number {
  let hash = 7;
  let beginning = 0;
  let at = from;
  while (at < end) {
    const code = codes[at] as number;
    if (kindOf(code) !== LETTER) break;
    if (at - from < WORD_CHARS_MAX) hash = Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15);
    if (at - from === BEGINNING_CHARS - 1) beginning = hash;
    at++;
  }
  const length = at - from;
  let ending = 0;
  if (length > BEGINNING_CHARS) {
    ending = 11;
    for (let back = at - ENDING_CHARS; back < at; back++)
      ending = Math.imul(ending ^ (codes[back] as number), 0x01000193);
  } else beginning = 0;
  addToken(hash, beginning, ending);
  return at;
}

/** Numbers are told apart by how many digits they have: 1, 2, 3, 4 or more. */
function addNumber(codes: Uint16Array, from: number, end: number): number {
  let at = from;
  while (at < end && kindOf(codes[at] as number) === DIGIT) at++;
  addToken(Math.imul(Math.min(at - from, 5), 0x68e31da4), 0, 0);
  return at;
}

function addToken(hash: number, beginning: number, ending: number): void {
  const { count } = TOKENS;
  TOKENS.hashes[count] = hash;
  TOKENS.beginnings[count] = beginning;
  TOKENS.endings[count] = ending;
  TOKENS.count = count + 1;
}

/** Every mark but spaces, commas and full stops, which stand in all kinds of text. */
function isTellingMark(code: number): boolean {
  return code > 32 ? code !== 44 && code !== 46 : code === 10;
}

/** Writes them into FOUND and says how many there are. */
function findBuckets({ hashes, beginnings, endings, count }: Tokens): number {
  let size = 0;
  let before = 1;
  for (let at = 0; at < count; at++) {
    const hash = hashes[at] as number;
    FOUND[size++] = bucketOf(hash, WORD);
    if (at >= ASKING_HEAD && at < count - ASKING_TAIL) {
      before = hash;
      continue;
    }
    FOUND[size++] = bucketOf(Math.imul(before, 31) + hash, PAIR);
    if (beginnings[at] !== 0) {
      FOUND[size++] = bucketOf(beginnings[at] as number, BEGINNING);
      FOUND[size++] = bucketOf(endings[at] as number, ENDING);
    }
    if (at < OPENING_TOKENS) FOUND[size++] = bucketOf(hash, OPENING);
    if (at >= count - CLOSING_TOKENS) FOUND[size++] = bucketOf(hash, CLOSING);
    before = hash;
  }
  return size;
}

function bucketOf(hash: number, salt: number): number {
  let mixed = Math.imul(hash ^ salt, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> (32 - BUCKET_BITS);
}
