// Measures a text in one pass: words, lines, marks of code and mathematics, and the cues of the lexicon.
// It knows nothing of tiers or categories.

import { codesOf, DIGIT, kindOf, LETTER, OTHER, UNSPACED } from "./characters.ts";
import { CUES, type Cue, LEXICON } from "./lexicon.ts";
import { measureLoad } from "./load.ts";
import { countMarks } from "./marks.ts";

export interface Signals {
  readonly length: number;
  /** Words; a character of a script without spaces counts half a word. */
  readonly words: number;
  readonly lines: number;
  readonly questions: number;
  readonly numbers: number;
  /** Lines that end or begin as only code does, and operators that only code has. */
  readonly codeMarks: number;
  readonly hasFence: boolean;
  readonly hasStackTrace: boolean;
  /** TeX commands, formula signs and arithmetic between numbers. */
  readonly mathMarks: number;
  readonly listItems: number;
  /** Lines that open as the choices of a test do: "A.", "(b)", "C)". */
  readonly options: number;
  readonly brackets: number;
  readonly commas: number;
  /** Words of a single letter, as variables are. */
  readonly singles: number;
  readonly letters: number;
  /** Letters beyond the English alphabet. */
  readonly foreignLetters: number;
  /** How much has to be kept in mind at once. */
  readonly load: number;
  readonly cues: Readonly<Record<Cue, number>>;
}

interface Entry {
  readonly codes: Uint16Array;
  /** How many of its characters a hit in the index has compared already. */
  readonly compared: number;
  readonly isStem: boolean;
  /** The cue's place in CUES. */
  readonly cue: number;
}

/** How far into a text an opening word reaches, and how long its first and last stretch are, in characters. */
const OPENING = 48;
const STRETCH = 400;

/** Where the Latin alphabets end. */
const LATIN_END = 0x370;

const NO_CUES = Object.fromEntries(CUES.map((cue) => [cue, 0])) as Record<Cue, number>;
const ENTRIES = indexEntries();

const STACK_TRACES = [
  "traceback (most recent",
  "panicked at",
  "\n\tat ",
  "\n    at ",
  "\n  at ",
  '\n  file "',
  "goroutine 1 [",
];

export function readSignals(text: string): Signals {
  const lower = text.toLowerCase();
  const codes = codesOf(lower);
  // Named one by one: spreading into a new object costs several times what counting a short text does.
  const { lines, questions, codeMarks, mathMarks, listItems, options, brackets, commas } = countMarks(codes);
  const { words, numbers, singles, letters, foreignLetters, cues } = countWords(codes);
  return {
    length: lower.length,
    words,
    numbers,
    letters,
    foreignLetters,
    lines,
    questions,
    codeMarks,
    mathMarks,
    listItems,
    options,
    brackets,
    commas,
    singles,
    load: measureLoad(lower, codes),
    cues,
    hasFence: lower.includes("```"),
    hasStackTrace: STACK_TRACES.some((trace) => lower.includes(trace)),
  };
}

function countWords(
  codes: Uint16Array,
): Pick<Signals, "words" | "numbers" | "singles" | "letters" | "foreignLetters" | "cues"> {
  const hits = new Float64Array(CUES.length);
  const tailStart = codes.length - STRETCH;
  let words = 0;
  let numbers = 0;
  let singles = 0;
  let letters = 0;
  let foreignLetters = 0;
  let before = OTHER;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number;
    const kind = kindOf(code);
    const isStart = kind === UNSPACED || (kind !== OTHER && (before === OTHER || before === UNSPACED));
    if (kind === DIGIT && before !== DIGIT) numbers++;
    if (kind === LETTER || kind === UNSPACED) {
      letters++;
      if (code > 127) foreignLetters++;
    }
    before = kind;
    if (!isStart) continue;
    words += kind === UNSPACED ? 0.5 : 1;
    if (kind === LETTER && code < 128 && kindOf(codes[at + 1] ?? 0) !== LETTER) singles++;
    const entries = ENTRIES.get(entryKey(codes, at));
    if (entries === undefined) continue;
    const weight = at < OPENING ? 2 : at < STRETCH || at > tailStart ? 1 : 0.25;
    for (const entry of entries) if (isAt(codes, at, entry)) (hits[entry.cue] as number) += weight;
  }
  return {
    words,
    numbers,
    singles,
    letters,
    foreignLetters,
    cues: nameHits(hits),
  };
}

function isAt(codes: Uint16Array, at: number, entry: Entry): boolean {
  const wanted = entry.codes;
  for (let offset = entry.compared; offset < wanted.length; offset++) {
    if (codes[at + offset] !== wanted[offset]) return false;
  }
  return entry.isStem || kindOf(codes[at + wanted.length] ?? 0) !== LETTER;
}

function nameHits(hits: Float64Array): Record<Cue, number> {
  const cues = { ...NO_CUES };
  for (let index = 0; index < hits.length; index++) cues[CUES[index] as Cue] = hits[index] as number;
  return cues;
}

/** Latin words are told apart by three characters, a missing third being 0; other scripts by two. */
function entryKey(codes: Uint16Array, at: number): number {
  const first = codes[at] as number;
  const second = codes[at + 1] ?? 0;
  if (first >= LATIN_END) return (first << 16) | second;
  const third = codes[at + 2] ?? 0;
  if (second >= 1024 || (third >= 1024 && kindOf(third) === LETTER)) return 0;
  return (first << 20) | (second << 10) | (kindOf(third) === LETTER ? third : 0);
}

function indexEntries(): ReadonlyMap<number, readonly Entry[]> {
  const index = new Map<number, Entry[]>();
  for (const [cue, name] of CUES.entries()) {
    for (const word of LEXICON[name].flatMap((line) => line.split("|"))) {
      const isMarked = word.endsWith("*");
      const codes = codesOf(isMarked ? word.slice(0, -1) : word);
      const key = entryKey(codes, 0);
      const compared = (codes[0] as number) < LATIN_END && kindOf(codes[2] ?? 0) === LETTER ? 3 : 2;
      const entry = {
        codes,
        compared,
        isStem: isMarked || kindOf(codes[0] as number) === UNSPACED,
        cue,
      };
      const bucket = index.get(key);
      if (bucket === undefined) index.set(key, [entry]);
      else bucket.push(entry);
    }
  }
  return index;
}
