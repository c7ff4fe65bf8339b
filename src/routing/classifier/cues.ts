// The search for words of the lexicon. A table leads from the first four characters of a word, or from two where it is
// shorter, to the entries that begin so. Entries lie one after the other in flat arrays, which is what makes it fast.

import * as characters from "./characters.ts";
import { CUE_HITS } from "./constants.ts";
import { CUES, type Cue, LEXICON, LOAD_WORDS } from "./lexicon.ts";

/** Constants of this module, as in scan.ts: V8 looks one of another module up wherever it stands. */
const { FLAGS, KIND_MASK, LETTER, PADDING, UNSPACED } = characters;

/** Words that add to the cognitive load instead of naming a cue. */
export interface LoadWordCounts {
  conditions: number;
  quantities: number;
}

/** A text and where the hits are counted. */
export interface CueCounts {
  readonly codes: Uint16Array;
  /** Hits of each cue, in units of CUE_HITS.unit. */
  readonly hits: Int32Array;
  readonly load: LoadWordCounts;
}

/** Counts every entry that stands at this place; those of the cues only where a word begins, not behind digits. */
export function countCues(counts: CueCounts, at: number, isStart: boolean): void {
  const { codes } = counts;
  const first = codes[at] as number;
  const third = codes[at + 2] as number;
  const fourth = codes[at + 3] as number;
  const short = hashOn(first, codes[at + 1] as number);
  const longList = TABLE.get(hashOn(hashOn(short, third), fourth));
  if (longList !== 0) countList(counts, at, longList, isStart);
  if (first < LATIN_END && isLetter(third) && isLetter(fourth)) return;
  const shortList = TABLE.get(short);
  if (shortList !== 0) countList(counts, at, shortList, isStart);
}

function countList({ codes, hits, load }: CueCounts, at: number, list: number, isStart: boolean): void {
  const textEnd = codes.length - PADDING;
  const end = LIST_STARTS[list + 1] as number;
  for (let entry = LIST_STARTS[list] as number; entry < end; entry++) {
    const from = WORD_STARTS[entry] as number;
    const length = (WORD_STARTS[entry + 1] as number) - from;
    if (at + length > textEnd) continue;
    // Entries of one list begin alike, so they are compared from their ends.
    let rest = length - 1;
    while (rest >= 0 && codes[at + rest] === WORDS[from + rest]) rest--;
    if (rest >= 0 || (IS_WHOLE[entry] === 1 && isLetter(codes[at + length] as number))) continue;
    const cue = ENTRY_CUES[entry] as number;
    if (cue === CONDITION) load.conditions++;
    else if (cue === QUANTITY) load.quantities++;
    else if (isStart) (hits[cue] as number) += weightAt(at, textEnd);
  }
}

/**
 * Counts the entry from which a word that begins at `from` differs by two neighbours in the wrong order. `sum` is that of
 * its letters, each squared: it is the same in whatever order they stand.
 */
export function countSwapped({ codes, hits, load }: CueCounts, from: number, to: number, sum: number): void {
  const length = to - from;
  if (length < SWAPPED_LETTERS_MIN) return;
  const entry = SWAPS.get(sum) - 1;
  if (entry < 0) return;
  const start = WORD_STARTS[entry] as number;
  if ((WORD_STARTS[entry + 1] as number) - start !== length) return;
  let at = 0;
  while (at < length && codes[from + at] === WORDS[start + at]) at++;
  // The entry itself is counted elsewhere.
  if (at >= length - 1) return;
  if (codes[from + at] !== WORDS[start + at + 1] || codes[from + at + 1] !== WORDS[start + at]) return;
  for (let rest = at + 2; rest < length; rest++) if (codes[from + rest] !== WORDS[start + rest]) return;
  const cue = ENTRY_CUES[entry] as number;
  if (cue === CONDITION) load.conditions++;
  else if (cue === QUANTITY) load.quantities++;
  else (hits[cue] as number) += weightAt(from, codes.length - PADDING);
}

const { openingChars, endChars, unit: FULL_HIT } = CUE_HITS;
const OPENING_HIT = CUE_HITS.opening * FULL_HIT;
const MIDDLE_HIT = CUE_HITS.middle * FULL_HIT;

function weightAt(at: number, end: number): number {
  if (at < openingChars) return OPENING_HIT;
  return at < endChars || at > end - endChars ? FULL_HIT : MIDDLE_HIT;
}

function isLetter(code: number): boolean {
  return ((FLAGS[code] as number) & KIND_MASK) === LETTER;
}

function hashOn(hash: number, code: number): number {
  return Math.imul(hash, 0x2c9277b5) ^ code;
}

/** The words of the load stand behind the cues. */
const CONDITION = CUES.length;
const QUANTITY = CUES.length + 1;

const LONG = 4;
/** Spreads keys over the slots: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1;

/** End of the Latin alphabets; other scripts have short stems. */
const LATIN_END = 0x370;

interface LexiconEntry {
  readonly word: string;
  /** Ends where the word ends; a stem may go on. */
  readonly isWhole: boolean;
  readonly cue: number;
}

/**
 * A table from 32-bit integers to small positive ones, filled once and asked for every word of a text: several times
 * faster than a Map.
 */
export class IntTable {
  private readonly keys: Int32Array;
  private readonly values: Uint16Array;
  private readonly shift: number;
  private size = 0;

  /** `bits` has room for half of 2^bits keys: fuller tables search long. */
  constructor(bits: number) {
    this.keys = new Int32Array(1 << bits);
    this.values = new Uint16Array(1 << bits);
    this.shift = 32 - bits;
  }

  /** 0 where the key is not known. Most are not, which the small values alone tell. */
  get(key: number): number {
    const { keys, values } = this;
    let slot = Math.imul(key, SPREAD) >>> this.shift;
    for (;;) {
      const value = values[slot] as number;
      if (value === 0 || keys[slot] === key) return value;
      slot = slot + 1 === keys.length ? 0 : slot + 1;
    }
  }

  set(key: number, value: number): void {
    if (value < 1 || value > 0xffff) throw new Error(`${value} does not fit the table`);
    let slot = Math.imul(key, SPREAD) >>> this.shift;
    while (this.values[slot] !== 0 && this.keys[slot] !== key) slot = slot + 1 === this.keys.length ? 0 : slot + 1;
    if (this.values[slot] === 0) this.size++;
    if (this.size * 2 > this.keys.length) throw new Error("the table is too small");
    this.keys[slot] = key;
    this.values[slot] = value;
  }
}

const TABLE = new IntTable(13);
const LISTS = groupEntries();
const ENTRIES = LISTS.flat();
/** Starts of the entries of each list, and the end of the last one; the first list is the empty one. */
const LIST_STARTS = startsOf(LISTS.map((list) => list.length));
const WORDS = Uint16Array.from(ENTRIES.flatMap(({ word }) => Array.from(word, codeOf)));
const WORD_STARTS = startsOf(ENTRIES.map(({ word }) => word.length));
const IS_WHOLE = Uint8Array.from(ENTRIES, ({ isWhole }) => (isWhole ? 1 : 0));
const ENTRY_CUES = Uint8Array.from(ENTRIES, ({ cue }) => cue);

/** Shorter words are others with two letters swapped too often: "form", "from". */
const SWAPPED_LETTERS_MIN = 5;
/** Entries that are another word with two letters swapped: "angel", "there", "slave". */
const OTHER_WORDS = new Set("angle angles three salve combien lettre carta sonra roots median".split(" "));
const SWAPS = findSwaps();

function findSwaps(): IntTable {
  const table = new IntTable(13);
  for (const [at, { word }] of ENTRIES.entries()) {
    if (word.length < SWAPPED_LETTERS_MIN || !/^\p{L}+$/u.test(word) || OTHER_WORDS.has(word)) continue;
    const sum = Array.from(word, codeOf).reduce((before, code) => (before + Math.imul(code, code)) | 0, 0);
    if (table.get(sum) === 0) table.set(sum, at + 1);
  }
  return table;
}

function groupEntries(): readonly (readonly LexiconEntry[])[] {
  const lists: LexiconEntry[][] = [[]];
  for (const entry of listEntries()) {
    const key = keyOf(entry);
    if (TABLE.get(key) === 0) TABLE.set(key, lists.push([]) - 1);
    lists[TABLE.get(key)]?.push(entry);
  }
  return lists;
}

function listEntries(): readonly LexiconEntry[] {
  const read = (words: readonly string[], cue: number) => words.map((word) => readEntry(word, cue));
  return [
    ...CUES.flatMap((name, cue) => LEXICON[name].flatMap((line) => read(line.split("|"), cue))),
    ...read(LOAD_WORDS.conditions.split(" "), CONDITION),
    ...read(LOAD_WORDS.quantities.split(" "), QUANTITY),
  ];
}

function readEntry(text: string, cue: number): LexiconEntry {
  const word = (text.endsWith("*") ? text.slice(0, -1) : text).toUpperCase().toLowerCase();
  const isUnspaced = ((FLAGS[codeOf(word)] as number) & KIND_MASK) === UNSPACED;
  // Latin words of four letters and more are not looked for among the shorter entries.
  const isStem = text.endsWith("*");
  const isMissed = isStem && word.length < LONG && codeOf(word) < LATIN_END;
  if (isMissed) throw new Error(`the stem ${text} is shorter than four characters`);
  return { word, isWhole: !isStem && !isUnspaced, cue };
}

function keyOf({ word }: LexiconEntry): number {
  const [first = 0, second = 0, ...others] = Array.from(word, codeOf);
  const short = hashOn(first, second);
  return word.length < LONG ? short : others.slice(0, LONG - 2).reduce(hashOn, short);
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

function startsOf(lengths: readonly number[]): Int32Array {
  const starts = new Int32Array(lengths.length + 1);
  for (const [at, length] of lengths.entries()) starts[at + 1] = (starts[at] as number) + length;
  return starts;
}

const NO_HITS = Object.fromEntries(CUES.map((cue) => [cue, 0])) as Record<Cue, number>;

/** The hits of each cue by its name. */
export function nameCues(hits: Int32Array): Record<Cue, number> {
  const named = { ...NO_HITS };
  for (let at = 0; at < CUES.length; at++) named[CUES[at] as Cue] = (hits[at] as number) / FULL_HIT;
  return named;
}
