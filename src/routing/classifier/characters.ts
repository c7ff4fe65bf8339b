// Character codes and a table of what each one is: a letter, a digit, a character of a script without spaces, a sign.
// The table has an entry for every character, so that each takes one look-up.

export const OTHER = 0;
export const LETTER = 1;
export const DIGIT = 2;
/** Kana, Han, Thai and Lao, which are written without spaces. */
export const UNSPACED = 3;
/** The bits of a flag that hold the kind. */
export const KIND_MASK = 3;
/** A sign of code, mathematics or asking. */
export const SIGN = 4;
/** A bracket, an operator or the end of a sentence: part of the cognitive load. */
export const LOAD_SIGN = 8;
export const BREAK = 16;
export const BLANK = 32;
/** The highest bit of a flag: a letter beyond the English alphabet. */
export const FOREIGN_BIT = 6;
const FOREIGN = 1 << FOREIGN_BIT;

const SIGNS = "?\\$=!+-/:&|(<*^[{,";
const LOAD_SIGNS = "([{+-*/=<>^%.?!。？！؟।۔";

/** Commas, full stops and question marks of Arabic, Hindi and Greek. */
const STOPS = [0x37e, 0x387, 0x60c, 0x61b, 0x61f, 0x6d4, 0x964, 0x965];

/** By character code, lower case. */
export const FLAGS = Uint8Array.from({ length: 0x10000 }, (_, code) => {
  const kind = kindOf(code);
  return code > 127 && kind !== OTHER ? kind | FOREIGN : kind;
});
for (const sign of SIGNS) setFlag(sign, SIGN);
for (const sign of LOAD_SIGNS) setFlag(sign, LOAD_SIGN);
for (const sign of "؟？π×÷") setFlag(sign, SIGN);
// Arrows and operators.
for (let code = 0x2190; code <= 0x22ff; code++) (FLAGS[code] as number) |= SIGN;
setFlag("\n", BREAK);
setFlag(" ", BLANK);
setFlag("\t", BLANK);

/** Zeros behind the codes of a text, so that a look ahead needs no check for the end. */
export const PADDING = 4;

/**
 * Scratch space that all texts share. It keeps nothing from one call to the next: each call overwrites what it returns.
 * Node runs one text at a time, and a new array for every text costs more than reading a short one.
 */
const shared = Buffer.alloc(2 * 16_384);
const sharedCodes = new Uint16Array(shared.buffer, shared.byteOffset, shared.length / 2);

/**
 * Character codes as an array, which is read several times faster than a string, and zeros behind them. It is valid until
 * the next call: all texts share one array unless they are very long.
 */
export function codesOf(text: string): Uint16Array {
  const size = text.length + PADDING;
  if (size > sharedCodes.length) return longCodesOf(text);
  shared.write(text, "utf16le");
  sharedCodes.fill(0, text.length, size);
  return sharedCodes.subarray(0, size);
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
/** Buffer for the folded text while a text is folded. */
const foldedBytes = Buffer.alloc(shared.length);
const foldedCodes = new Uint16Array(foldedBytes.buffer, foldedBytes.byteOffset, foldedBytes.length / 2);
/** By character code: what it is folded to. 0 where that was not asked yet. */
const FOLDED = new Uint16Array(0x10000);
/** In place of a code: the character becomes several, or depends on its neighbours. */
const NOT_ALONE = 0xffff;
/** Foldings of characters that become several: "ss" for "ß". */
const SEVERAL = new Map<number, string>();

/**
 * Lower case by way of upper case, so that a text and its capitals read the same in every language, with straight quotes.
 * For texts beyond ASCII, a table takes a fifth of the time that V8 takes.
 */
export function foldCase(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const { length } = text;
  if (length > sharedCodes.length) return foldByEngine(text);
  shared.write(text, "utf16le");
  const end = foldCodes(length);
  return end < 0 || end > foldedCodes.length ? foldByEngine(text) : foldedBytes.toString("utf16le", 0, 2 * end);
}

/** Returns how many codes the folded text has; -1 where some of them depend on their neighbours. */
function foldCodes(length: number): number {
  let end = 0;
  for (let at = 0; at < length; at++) {
    const code = sharedCodes[at] as number;
    const known = FOLDED[code] as number;
    const folded = known === 0 ? foldAlone(code) : known;
    if (folded !== NOT_ALONE) foldedCodes[end++] = folded;
    else {
      end = foldToSeveral(code, end);
      if (end < 0) return -1;
    }
  }
  return end;
}

function foldToSeveral(code: number, at: number): number {
  const several = SEVERAL.get(code);
  if (several === undefined) return -1;
  for (let part = 0; part < several.length; part++) foldedCodes[at + part] = several.charCodeAt(part);
  return at + several.length;
}

const CURLY_QUOTES = /[‘’“”]/g;

function foldByEngine(text: string): string {
  return text.toUpperCase().toLowerCase().replace(CURLY_QUOTES, straightQuote);
}

function straightQuote(quote: string): string {
  return quote < "“" ? "'" : '"';
}

function foldAlone(code: number): number {
  if (code === 0) return 0;
  const character = String.fromCharCode(code);
  const folded = foldByEngine(character);
  // A sigma at the end of a word is another letter.
  const hasNeighbours = character.toUpperCase() === "Σ" || beginsCasedPair(code);
  if (!hasNeighbours && folded.length > 1) SEVERAL.set(code, folded);
  FOLDED[code] = hasNeighbours || folded.length > 1 ? NOT_ALONE : folded.charCodeAt(0);
  return FOLDED[code] as number;
}

/** The first half of a pair of surrogates, unless the pair is an emoji, which has no case. */
function beginsCasedPair(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff && (code < 0xd83c || code > 0xd83e);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/**
 * Returns the end of a word that has letters and digits in turns, as identifiers have ("k3x9q1", "7abcde"); 0 for any
 * other word, as "sha256" or "100km". Identifiers mean nothing by themselves. `at` is where the second run of the word
 * begins.
 */
export function identifierEnd(codes: Uint16Array, from: number, at: number): number {
  let runs = 1;
  let end = at;
  let before = OTHER;
  for (;;) {
    const kind = (FLAGS[codes[end] as number] as number) & KIND_MASK;
    if (kind !== LETTER && kind !== DIGIT) break;
    if (kind !== before) runs++;
    before = kind;
    end++;
  }
  const isGlued = before === LETTER && runs === 2 && end - at >= GLUED_LETTERS;
  return isGlued || (runs > 2 && end - from >= IDENTIFIER_CHARS) ? end : 0;
}

const IDENTIFIER_CHARS = 5;
/** Letters behind a number from which they are no unit. */
const GLUED_LETTERS = 4;

function longCodesOf(text: string): Uint16Array {
  const bytes = Buffer.alloc(2 * (text.length + PADDING));
  bytes.write(text, "utf16le");
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length + PADDING);
}

function setFlag(character: string, flag: number): void {
  (FLAGS[character.charCodeAt(0)] as number) |= flag;
}

/** Thai or Lao. */
export function isThai(code: number): boolean {
  return code > 0xe00 && code <= 0xeff;
}

function kindOf(code: number): number {
  if (code < 128) return isDigit(code) ? DIGIT : code >= 97 && code <= 122 ? LETTER : OTHER;
  if (code < 0xc0 || code === 0xd7 || code === 0xf7 || code >= 0xff00 || STOPS.includes(code)) return OTHER;
  if (isThai(code)) return UNSPACED;
  if (code < 0x2000) return LETTER;
  if (code <= 0x303f && (code <= 0x2bff || code >= 0x3000)) return OTHER;
  return code >= 0x3040 && code <= 0x9fff && (code <= 0x30ff || code >= 0x3400) ? UNSPACED : LETTER;
}
