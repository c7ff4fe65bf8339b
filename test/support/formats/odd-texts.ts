// Texts of characters that take one to four bytes, and of those that JSON writes as escapes.

import { fc } from "../property.ts";

const PIECES = [
  "a",
  "word ",
  "é",
  "größer",
  "日本",
  "😀",
  "à",
  "\u2028",
  "\u0080",
  "\u0085",
  "ÿ",
  '"',
  "\\",
  "\n",
  "\\u00e9",
  "/",
] as const;
const shortText = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((pieces) => pieces.join(""));
/** Long enough to be left in the body. */
const longText = shortText.map((words) => `${words} and more `.repeat(120));

export const oddText = fc.oneof(shortText, longText);
