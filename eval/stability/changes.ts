// Changes of a prompt that mean nothing: a space, a capital, a typo, a greeting, an identifier. A steady router gives the
// changed prompt the same tier. Each change names the share of prompts whose tier may move.

import { pick, type Random } from "../random.ts";

export interface Change {
  readonly name: string;
  /** The share of prompts that may change their tier at most. */
  readonly aim: number;
  apply(prompt: string, random: Random): string;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const MIXED = `${LETTERS}0123456789`;

export const CHANGES: readonly Change[] = [
  { name: "the same again", aim: 0, apply: (prompt) => prompt },
  { name: "space at the end", aim: 0, apply: (prompt) => `${prompt} ` },
  { name: "line before", aim: 0, apply: (prompt) => `\n${prompt}` },
  { name: "double spaces", aim: 0, apply: (prompt) => prompt.replace(/(?<=\S) (?=\S)/g, "  ") },
  { name: "lower case", aim: 0, apply: (prompt) => prompt.toLowerCase() },
  { name: "upper case", aim: 0, apply: (prompt) => prompt.toUpperCase() },
  { name: "full stop", aim: 0.01, apply: withFullStop },
  { name: "curly quotes", aim: 0.01, apply: withCurlyQuotes },
  { name: "typo", aim: 0.01, apply: withTypo },
  {
    name: "“Please” before",
    aim: 0.01,
    apply: (prompt) => `Please ${prompt.charAt(0).toLowerCase()}${prompt.slice(1)}`,
  },
  { name: "“Hello!” before", aim: 0.03, apply: (prompt) => `Hello! ${prompt}` },
  { name: "“Thanks!” behind", aim: 0.03, apply: (prompt) => `${prompt} Thanks!` },
  { name: "random word before", aim: 0.03, apply: (prompt, random) => `${randomWord(MIXED, random)} ${prompt}` },
  { name: "random word behind", aim: 0.03, apply: (prompt, random) => `${prompt} ${randomWord(MIXED, random)}` },
  { name: "reference line", aim: 0.03, apply: (prompt, random) => `${prompt}\n[ref ${randomWord(MIXED, random)}]` },
];

/** Six characters. */
function randomWord(characters: string, random: Random): string {
  return Array.from({ length: 6 }, () => pick([...characters], random)).join("");
}

/** Words that nobody knows, each asked alone. */
export function unknownWords(count: number, random: Random): readonly string[] {
  return Array.from({ length: count }, (_, at) => randomWord(at % 2 === 0 ? LETTERS : MIXED, random));
}

/** Takes the full stop away where there is one. */
function withFullStop(prompt: string): string {
  if (prompt.endsWith(".")) return prompt.slice(0, -1);
  return /[\p{L}\p{N}]$/u.test(prompt) ? `${prompt}.` : prompt;
}

function withCurlyQuotes(prompt: string): string {
  return prompt.replaceAll("'", "’").replace(/"([^"\n]*)"/g, "“$1”");
}

/** Swaps two neighbours inside one word of five letters or more, in scripts that are typed letter by letter. */
function withTypo(prompt: string, random: Random): string {
  const words = [...prompt.matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{5,}/gu)];
  if (words.length === 0) return prompt;
  const word = pick(words, random);
  const at = word.index + 1 + Math.floor(random() * (word[0].length - 3));
  return `${prompt.slice(0, at)}${prompt.charAt(at + 1)}${prompt.charAt(at)}${prompt.slice(at + 2)}`;
}
