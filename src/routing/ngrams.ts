// Turns a text into hashed word features for the learned part of the classifier: words, pairs of neighbours, beginnings
// and endings of words, and what stands first and last. Reads a bounded number of words from both ends.

import { codesOf, DIGIT, kindOf, LETTER, OTHER, UNSPACED } from "./characters.ts";

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

const WORD = 0x9e3779b1;
const PAIR = 0x85ebca6b;
const BEGINNING = 0xc2b2ae35;
const ENDING = 0x27d4eb2f;
const OPENING = 0x165667b1;
const CLOSING = 0xd3a2646c;

interface Tokens {
  readonly hashes: Uint32Array;
  readonly beginnings: Uint32Array;
  readonly endings: Uint32Array;
  count: number;
}

/** The buckets of a lower-case text's features, repeated as often as they occur. */
export function hashText(lower: string): Int32Array {
  const isShort = lower.length <= HEAD_CHARS + TAIL_CHARS;
  const tokens: Tokens = {
    hashes: new Uint32Array(HEAD_TOKENS + TAIL_TOKENS),
    beginnings: new Uint32Array(HEAD_TOKENS + TAIL_TOKENS),
    endings: new Uint32Array(HEAD_TOKENS + TAIL_TOKENS),
    count: 0,
  };
  const head = codesOf(isShort ? lower : lower.slice(0, HEAD_CHARS));
  const end = readTokens(head, 0, tokens, HEAD_TOKENS);
  const rest = isShort ? lower.slice(Math.max(end, lower.length - TAIL_CHARS)) : lower.slice(-TAIL_CHARS);
  if (rest !== "") readTail(codesOf(rest), tokens);
  return bucketsOf(tokens);
}

/** Only the last tokens of the tail are kept, so they are found from a place that leaves room for them. */
function readTail(codes: Uint16Array, tokens: Tokens): void {
  let at = codes.length;
  let found = 0;
  let before = OTHER;
  while (at > 0 && found < TAIL_TOKENS) {
    const kind = kindOf(codes[at - 1] as number);
    if (kind === UNSPACED || (kind !== OTHER && kind !== before)) found++;
    before = kind;
    at--;
  }
  readTokens(codes, at, tokens, HEAD_TOKENS + TAIL_TOKENS);
}

/** Adds tokens from `at` on until there are `most` of them; returns where it stopped. */
function readTokens(codes: Uint16Array, from: number, tokens: Tokens, most: number): number {
  let at = from;
  while (at < codes.length && tokens.count < most) {
    const code = codes[at] as number;
    const kind = kindOf(code);
    if (kind === LETTER) at = addWord(codes, at, tokens);
    else if (kind === DIGIT) at = addNumber(codes, at, tokens);
    else {
      if (kind === UNSPACED || isTellingMark(code)) addToken(tokens, Math.imul(code + 1, WORD));
      at++;
    }
  }
  return at;
}

const BEGINNING_CHARS = 4;
const ENDING_CHARS = 3;
const WORD_CHARS_MAX = 24;

function addWord(codes: Uint16Array, from: number, tokens: Tokens): number {
  let hash = 7;
  let beginning = 0;
  let at = from;
  while (at < codes.length) {
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
  addToken(tokens, hash, beginning, ending);
  return at;
}

/** Numbers are told apart by how many digits they have: 1, 2, 3, 4 or more. */
function addNumber(codes: Uint16Array, from: number, tokens: Tokens): number {
  let at = from;
  while (at < codes.length && kindOf(codes[at] as number) === DIGIT) at++;
  addToken(tokens, Math.imul(Math.min(at - from, 5), 0x68e31da4));
  return at;
}

function addToken(tokens: Tokens, hash: number, beginning = 0, ending = 0): void {
  const { count } = tokens;
  tokens.hashes[count] = hash;
  tokens.beginnings[count] = beginning;
  tokens.endings[count] = ending;
  tokens.count = count + 1;
}

/** Every mark but spaces, commas and full stops, which stand in all kinds of text. */
function isTellingMark(code: number): boolean {
  return code > 32 ? code !== 44 && code !== 46 : code === 10;
}

function bucketsOf({ hashes, beginnings, endings, count }: Tokens): Int32Array {
  const buckets = new Int32Array(count * PER_TOKEN + OPENING_TOKENS + CLOSING_TOKENS);
  let size = 0;
  let before = 1;
  for (let at = 0; at < count; at++) {
    const hash = hashes[at] as number;
    buckets[size++] = bucketOf(hash, WORD);
    buckets[size++] = bucketOf(Math.imul(before, 31) + hash, PAIR);
    if (beginnings[at] !== 0) {
      buckets[size++] = bucketOf(beginnings[at] as number, BEGINNING);
      buckets[size++] = bucketOf(endings[at] as number, ENDING);
    }
    if (at < OPENING_TOKENS) buckets[size++] = bucketOf(hash, OPENING);
    if (at >= count - CLOSING_TOKENS) buckets[size++] = bucketOf(hash, CLOSING);
    before = hash;
  }
  return buckets.subarray(0, size);
}

function bucketOf(hash: number, salt: number): number {
  let mixed = Math.imul(hash ^ salt, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> (32 - BUCKET_BITS);
}
