// The one pass over a text: every character is looked up once, and what it is part of (a word, a number, a line, a sign)
// is counted where that ends.

import { BLANK, BREAK, DIGIT, FLAGS, KIND_MASK, LETTER, LOAD, OTHER, PADDING, SIGN, UNSPACED } from "./characters.ts";
import { countDistinct, countLoadSign, LONG_WORD, LoadCounts } from "./cognitive-load.ts";
import { type Hearing, hearCues } from "./cues.ts";
import { CUES } from "./lexicon.ts";
import { countLineEnd, countLineStart, countSign, Marks } from "./punctuation.ts";

/** A text and what has been counted in it so far. */
export class Reading implements Hearing {
  readonly codes: Uint16Array;
  readonly hits = new Int32Array(CUES.length);
  readonly marks = new Marks();
  /** Exchanged for another where a new part of the text begins. */
  load = new LoadCounts();
  /** A character of a script without spaces is half a word. */
  wordHalves = 0;
  numbers = 0;
  /** Words of a single letter. */
  singles = 0;
  letters = 0;
  /** Letters beyond the English alphabet. */
  foreignLetters = 0;

  constructor(codes: Uint16Array) {
    this.codes = codes;
  }
}

/** Counts from the beginning of a line to `to`, which is the beginning of another or the end of the text. */
export function scan(reading: Reading, from: number, to: number): void {
  const { codes, load, marks } = reading;
  const end = codes.length - PADDING;
  let before = OTHER;
  let last = 0;
  let indent = 0;
  let isLineStart = true;
  let at = from;
  while (at < to) {
    const code = codes[at] as number;
    const flags = FLAGS[code] as number;
    if (flags === BLANK) {
      if (isLineStart) indent += code === 32 ? 1 : 4;
      before = OTHER;
      at++;
      continue;
    }
    if (flags === BREAK) {
      countLineEnd(marks, last);
      marks.lines++;
      last = 0;
      indent = 0;
      isLineStart = true;
      before = OTHER;
      at++;
      continue;
    }
    if (isLineStart) {
      countLineStart(marks, codes, at, indent);
      isLineStart = false;
    }
    if (flags > KIND_MASK) {
      const next = codes[at + 1] as number;
      if ((flags & SIGN) !== 0) countSign(marks, code, last, next);
      if ((flags & LOAD) !== 0) countLoadSign(load, code, next === 32 || next === 10 || at + 1 === end);
    }
    last = code;
    const kind = flags & KIND_MASK;
    at = kind === OTHER ? at + 1 : readWord(reading, at, before);
    before = kind;
  }
  countLineEnd(marks, last);
}

/** Reads what begins here: a run of letters or of digits, or one character that is written without spaces. */
function readWord(reading: Reading, at: number, before: number): number {
  const { codes, load } = reading;
  const kind = (FLAGS[codes[at] as number] as number) & KIND_MASK;
  const isStart = kind === UNSPACED || before === OTHER || before === UNSPACED;
  if (isStart || kind === LETTER) hearCues(reading, at, isStart);
  if (kind === UNSPACED) {
    reading.wordHalves++;
    reading.letters++;
    reading.foreignLetters++;
    load.unspaced++;
    countDistinct(load, codes[at] as number, 1);
    return at + 1;
  }
  if (isStart) reading.wordHalves += 2;
  if (kind === LETTER) return readLetters(reading, at, isStart);
  reading.numbers++;
  load.numbers++;
  let next = at + 1;
  while (((FLAGS[codes[next] as number] as number) & KIND_MASK) === DIGIT) next++;
  return next;
}

function readLetters(reading: Reading, from: number, isStart: boolean): number {
  const { codes, load } = reading;
  let foreign = 0;
  let at = from;
  let flags = FLAGS[codes[from] as number] as number;
  while ((flags & KIND_MASK) === LETTER) {
    if (flags !== LETTER) {
      foreign++;
      if ((flags & SIGN) !== 0 && at > from) countSign(reading.marks, codes[at] as number, 0, 0);
    }
    at++;
    flags = FLAGS[codes[at] as number] as number;
  }
  const length = at - from;
  countDistinct(load, wordKey(codes, from, at), 2);
  reading.letters += length;
  reading.foreignLetters += foreign;
  if (length === 1) {
    load.variables++;
    if (isStart && foreign === 0) reading.singles++;
  } else if (length >= LONG_WORD) load.longWords++;
  return at;
}

/** Five places of a word tell it apart from nearly every other of a text, at any length for the same price. */
function wordKey(codes: Uint16Array, from: number, to: number): number {
  const length = to - from;
  let key = length;
  key = Math.imul(key, 31) + (codes[from] as number);
  key = Math.imul(key, 31) + (codes[from + (length >> 2)] as number);
  key = Math.imul(key, 31) + (codes[from + (length >> 1)] as number);
  key = Math.imul(key, 31) + (codes[to - 2] as number);
  return Math.imul(key, 31) + (codes[to - 1] as number);
}
