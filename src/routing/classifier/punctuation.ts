// Counts what is not words: signs of code and mathematics, questions, lists, choices, brackets.

import { isDigit } from "./characters.ts";

/** Signs and line starts, counted; those that may count half are counted in halves. */
export class Marks {
  lines = 1;
  questions = 0;
  codeHalves = 0;
  mathHalves = 0;
  listItems = 0;
  options = 0;
  brackets = 0;
  commas = 0;
}

/** The first character of a line that is not blank. */
export function countLineStart(marks: Marks, codes: Uint16Array, at: number, indent: number): void {
  if (isBullet(codes[at] as number, codes[at + 1] as number)) marks.listItems++;
  else if (isOption(codes, at)) marks.options++;
  else if (indent >= 2) marks.codeHalves++;
}

/** `last` is the last character of the line that is not blank. Lines of prose do not end in a brace or a semicolon. */
export function countLineEnd(marks: Marks, last: number): void {
  if (last === 123 || last === 125 || last === 59) marks.codeHalves += 2;
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
export function countSign(marks: Marks, code: number, before: number, after: number): void {
  if (code === 44) marks.commas++;
  else if (code === 63 || code === 0xff1f || code === 0x61f) marks.questions++;
  else if (code > 127) marks.mathHalves += 2;
  else if (code === 92) marks.mathHalves += after >= 97 && after <= 122 ? 2 : 0;
  else if (code === 36) marks.mathHalves += isDigit(after) ? 0 : 1;
  else if (code === 40 || code === 91 || code === 123) {
    marks.brackets++;
    if (after === 41) marks.codeHalves++;
  } else if (isOperatorPair(code, after)) marks.codeHalves++;
  else if (isDigit(before) && (code === 43 || code === 42 || code === 47 || code === 94 || code === 61)) {
    marks.mathHalves++;
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
