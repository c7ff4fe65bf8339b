// The one pass over a text: every character is looked up once, and what it is part of (a word, a number, a line, a sign)
// is counted where that ends. It only counts; signals.ts says what the counts mean.

import * as characters from "./characters.ts";
import { LOAD } from "./constants.ts";
import { type CueCounts, countCues, countSwapped, type LoadWordCounts } from "./cues.ts";
import { CUES } from "./lexicon.ts";

/** Constants of this module: V8 looks one of another module up wherever it stands, which took a third of the reading. */
const { FLAGS, KIND_MASK, OTHER, LETTER, DIGIT, UNSPACED } = characters;
const { SIGN, LOAD_SIGN, BREAK, BLANK, FOREIGN_BIT, PADDING, identifierEnd, isDigit, isThai } = characters;
const { longWordLetters: LONG_WORD_LETTERS } = LOAD;

/** Signs and line starts, counted; those that may count half are counted in halves. */
export class SignCounts {
  lines = 1;
  questions = 0;
  codeHalves = 0;
  mathHalves = 0;
  listItems = 0;
  options = 0;
  brackets = 0;
  commas = 0;
}

/** Size of the table that tells words apart, in bits. Of two words that share a slot, the second is not counted. */
const SLOT_BITS = 11;
/** By slot, the mark of the part that had a word there last: making and clearing slots for each part would cost more. */
const MARKS = new Float64Array(1 << SLOT_BITS);
let newestMark = 0;

/** Counts of the things that one part of a text asks to keep in mind. */
export class LoadCounts implements LoadWordCounts {
  /** No other part has the same. */
  readonly mark = ++newestMark;
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

/** Used for one text after the other: an array of this size is memory of its own, which costs more than counting. */
const HITS = new Int32Array(CUES.length);

/** A text and what has been counted in it so far. Valid until the next one is made. */
export class Scan implements CueCounts {
  readonly codes: Uint16Array;
  readonly hits = HITS.fill(0);
  readonly signs = new SignCounts();
  /** Replaced by another where a new part of the text begins. */
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

  /** Counts from the beginning of a line to `to`, which is the beginning of another or the end of the text. */
  read(from: number, to: number): void {
    const { codes, load, signs } = this;
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
        countLineEnd(signs, last, codes[at - 2] as number);
        signs.lines++;
        last = 0;
        indent = 0;
        isLineStart = true;
        before = OTHER;
        at++;
        continue;
      }
      if (isLineStart) {
        countLineStart(signs, codes, at, indent);
        isLineStart = false;
      }
      if (flags > KIND_MASK) {
        const next = codes[at + 1] as number;
        if ((flags & SIGN) !== 0) countSign(signs, code, last, next);
        if ((flags & LOAD_SIGN) !== 0) countLoadSign(load, code, next === 32 || next === 10 || at + 1 === end);
      }
      last = code;
      const kind = flags & KIND_MASK;
      at = kind === OTHER ? at + 1 : readWord(this, at, before);
      before = kind;
    }
    countLineEnd(signs, last, codes[to - 2] as number);
  }
}

/** Reads what begins here: a run of letters or of digits, or one character that is written without spaces. */
function readWord(scan: Scan, at: number, before: number): number {
  const { codes, load } = scan;
  const kind = (FLAGS[codes[at] as number] as number) & KIND_MASK;
  const isStart = kind === UNSPACED || before === OTHER || before === UNSPACED;
  if (isStart || kind === LETTER) countCues(scan, at, isStart);
  if (kind === UNSPACED) {
    scan.letters++;
    scan.foreignLetters++;
    if (isThai(codes[at] as number)) return readThai(scan, at);
    scan.wordHalves++;
    load.unspaced++;
    countDistinct(load, codes[at] as number, 1);
    return at + 1;
  }
  if (kind === LETTER) return readLetters(scan, at, isStart);
  let next = at + 1;
  while (((FLAGS[codes[next] as number] as number) & KIND_MASK) === DIGIT) next++;
  // Digits at the end of a word are part of it: "python3" has no number in it.
  if (!isStart) return next;
  const identifier = isLetterAt(codes, next) ? identifierEnd(codes, at, next) : 0;
  if (identifier > 0) return identifier;
  scan.wordHalves += 2;
  scan.numbers++;
  load.numbers++;
  return next;
}

/** Counts half a word for every other character and the next: Thai and Lao have an alphabet, and about four letters a word. */
function readThai(scan: Scan, at: number): number {
  if ((scan.letters & 1) === 0) return at + 1;
  const { codes, load } = scan;
  scan.wordHalves++;
  countDistinct(load, Math.imul(codes[at] as number, 31) + (codes[at + 1] as number), 1);
  return at + 1;
}

function isLetterAt(codes: Uint16Array, at: number): boolean {
  return ((FLAGS[codes[at] as number] as number) & KIND_MASK) === LETTER;
}

function readLetters(scan: Scan, from: number, isStart: boolean): number {
  const { codes, load } = scan;
  let foreign = 0;
  let sum = 0;
  let seen = 0;
  let at = from;
  let code = codes[from] as number;
  let flags = FLAGS[code] as number;
  do {
    sum = (sum + Math.imul(code, code)) | 0;
    foreign += flags >> FOREIGN_BIT;
    seen |= flags;
    at++;
    code = codes[at] as number;
    flags = FLAGS[code] as number;
  } while ((flags & KIND_MASK) === LETTER);
  if ((seen & SIGN) !== 0) countSignsWithin(scan, from, at);
  if (isStart) {
    const identifier = (flags & KIND_MASK) === DIGIT ? identifierEnd(codes, from, at) : 0;
    if (identifier > 0) return identifier;
    scan.wordHalves += 2;
    countSwapped(scan, from, at, sum);
  }
  const length = at - from;
  countDistinct(load, wordKey(codes, from, at), 2);
  scan.letters += length;
  scan.foreignLetters += foreign;
  if (length === 1) {
    load.variables++;
    if (isStart && foreign === 0) scan.singles++;
  } else if (length >= LONG_WORD_LETTERS) load.longWords++;
  return at;
}

/** Letters that are signs, as π is; the first one of the word was counted with what stands before it. */
function countSignsWithin({ codes, signs }: Scan, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    const code = codes[at] as number;
    if (((FLAGS[code] as number) & SIGN) !== 0) countSign(signs, code, 0, 0);
  }
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

/** The first character of a line that is not blank. */
function countLineStart(signs: SignCounts, codes: Uint16Array, at: number, indent: number): void {
  if (isBullet(codes[at] as number, codes[at + 1] as number)) signs.listItems++;
  else if (isOption(codes, at)) signs.options++;
  else if (indent >= 2) signs.codeHalves++;
}

/**
 * `last` is the last character of the line that is not blank. Lines of prose do not end in a brace or a semicolon, but for
 * Greek, which asks with it.
 */
function countLineEnd(signs: SignCounts, last: number, before: number): void {
  if (last === 59 && before >= 0x370 && before <= 0x3ff) signs.questions++;
  else if (last === 123 || last === 125 || last === 59) signs.codeHalves += 2;
}

function isBullet(code: number, next: number): boolean {
  const isMark = code === 45 || code === 42 || code === 0x2022;
  return (isMark && next === 32) || (isDigit(code) && (next === 46 || next === 41));
}

/** A single letter from a to j, in brackets or before a full stop or bracket. */
function isOption(codes: Uint16Array, at: number): boolean {
  const letterAt = codes[at] === 40 ? at + 1 : at;
  const letter = codes[letterAt] as number;
  if (letter < 97 || letter > 106) return false;
  const mark = codes[letterAt + 1];
  return mark === 41 || mark === 46 || mark === 0x3001;
}

/** Only for characters with the flag SIGN. `before` is the last character of the line so far that is not blank. */
function countSign(signs: SignCounts, code: number, before: number, after: number): void {
  if (code === 44) signs.commas++;
  else if (code === 63 || code === 0xff1f || code === 0x61f) signs.questions++;
  else if (code > 127) signs.mathHalves += 2;
  else if (code === 92) signs.mathHalves += after >= 97 && after <= 122 ? 2 : 0;
  else if (code === 36) signs.mathHalves += isDigit(after) ? 0 : 1;
  else if (code === 40 || code === 91 || code === 123) {
    signs.brackets++;
    if (after === 41) signs.codeHalves++;
  } else if (isOperatorPair(code, after)) signs.codeHalves++;
  else if (isDigit(before) && (code === 43 || code === 42 || code === 47 || code === 94 || code === 61)) {
    signs.mathHalves++;
  }
}

/** `=>`, `==`, `!=`, `->`, `::`, `&&`, `||`, `()`, `</`, `/>`, `+=`: pairs that prose does not have. */
function isOperatorPair(code: number, after: number): boolean {
  switch (code) {
    case 61:
      return after === 62 || after === 61;
    case 33:
    case 43:
      return after === 61;
    case 45:
    case 47:
      return after === 62;
    case 58:
    case 38:
    case 124:
      return after === code;
    case 60:
      return after === 47;
    default:
      return false;
  }
}

/** Counts a word, or a character that is one, if it is the first of its kind here. */
function countDistinct(counts: LoadCounts, key: number, halves: number): void {
  const slot = Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS);
  if (MARKS[slot] === counts.mark) return;
  MARKS[slot] = counts.mark;
  counts.distinctHalves += halves;
}

/** Only for characters with the flag LOAD_SIGN; `isBeforeSpace` also at the end of a text. */
function countLoadSign(counts: LoadCounts, code: number, isBeforeSpace: boolean): void {
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
    case 0x61f: // ؟
    case 0x6d4: // ۔
    case 0x964: // ।
    case 0x3002: // 。
    case 0xff1f: // ？
    case 0xff01: // ！
      counts.sentences++;
      break;
    default:
      counts.operators++;
  }
}
