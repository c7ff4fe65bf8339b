// Counts what is not words: signs of code and mathematics, questions, lists, choices, brackets.

import { isDigit } from "./characters.ts";

const IS_SIGN = Uint8Array.from({ length: 128 }, (_, code) =>
  "?\\$=!+-/:&|(<*^[{,".includes(String.fromCharCode(code)) ? 1 : 0,
);

/** Signs and line starts, counted. */
export interface Marks {
  lines: number;
  questions: number;
  codeMarks: number;
  mathMarks: number;
  listItems: number;
  options: number;
  brackets: number;
  commas: number;
}

export function countMarks(codes: Uint16Array): Marks {
  const marks: Marks = {
    lines: 1,
    questions: 0,
    codeMarks: 0,
    mathMarks: 0,
    listItems: 0,
    options: 0,
    brackets: 0,
    commas: 0,
  };
  let last = 0;
  let indent = 0;
  let isLineStart = true;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number;
    if (code === 10) {
      marks.lines++;
      if (endsAsCode(last)) marks.codeMarks++;
      last = 0;
      indent = 0;
      isLineStart = true;
      continue;
    }
    if (code === 32 || code === 9) {
      if (isLineStart) indent += code === 9 ? 4 : 1;
      continue;
    }
    if (isLineStart) {
      isLineStart = false;
      if (isBullet(code, codes[at + 1] ?? 0)) marks.listItems++;
      else if (isOption(codes, at)) marks.options++;
      else if (indent >= 2) marks.codeMarks += 0.5;
    }
    if (code > 127) countForeignSign(marks, code);
    else if (IS_SIGN[code] === 1) countSign(marks, code, last, codes[at + 1] ?? 0);
    last = code;
  }
  if (endsAsCode(last)) marks.codeMarks++;
  return marks;
}

/** Lines of prose do not end in a brace or a semicolon. */
function endsAsCode(code: number): boolean {
  return code === 123 || code === 125 || code === 59;
}

function isBullet(code: number, next: number): boolean {
  const isMark = code === 45 || code === 42 || code === 0x2022;
  return (isMark && next === 32) || (isDigit(code) && (next === 46 || next === 41));
}

/** A single letter from a to j, in brackets or before a full stop or bracket. */
function isOption(codes: Uint16Array, at: number): boolean {
  const letterAt = codes[at] === 40 ? at + 1 : at;
  const letter = codes[letterAt] ?? 0;
  const mark = codes[letterAt + 1] ?? 0;
  return letter >= 97 && letter <= 106 && (mark === 41 || mark === 46 || mark === 0x3001);
}

function countForeignSign(marks: Marks, code: number): void {
  if (code === 0xff1f || code === 0x61f) marks.questions++;
  else if (code === 0x3c0 || code === 0xd7 || code === 0xf7 || (code >= 0x2190 && code <= 0x22ff)) marks.mathMarks++;
}

function countSign(marks: Marks, code: number, before: number, after: number): void {
  if (code === 63) marks.questions++;
  else if (code === 44) marks.commas++;
  else if (code === 92) marks.mathMarks += after >= 97 && after <= 122 ? 1 : 0;
  else if (code === 36) marks.mathMarks += isDigit(after) ? 0 : 0.5;
  else if (code === 40 || code === 91 || code === 123) {
    marks.brackets++;
    if (after === 41) marks.codeMarks += 0.5;
  } else if (isOperatorPair(code, after)) marks.codeMarks += 0.5;
  else if (isDigit(before) && (code === 43 || code === 42 || code === 47 || code === 94 || code === 61)) {
    marks.mathMarks += 0.5;
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
