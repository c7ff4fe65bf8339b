// Measures a text in one pass: words, lines, marks of code and mathematics, and the cues of the lexicon.
// It knows nothing of tiers or categories.

import { codesOf, PADDING } from "./characters.ts";
import { findParts, LoadCounts, measureLoad, type Parts } from "./cognitive-load.ts";
import { nameCues } from "./cues.ts";
import type { Cue } from "./lexicon.ts";
import type { Marks } from "./punctuation.ts";
import { Reading, scan } from "./scan.ts";

export interface Signals {
  readonly length: number;
  /** Where, in the lower-case text, the question begins when solved examples stand before it; 0 otherwise. */
  readonly questionAt: number;
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

export function readSignals(text: string): Signals {
  const lower = text.toLowerCase();
  const reading = new Reading(codesOf(lower));
  const parts = findParts(lower, reading.codes);
  const load = readParts(reading, parts);
  const { marks } = reading;
  return {
    length: lower.length,
    questionAt: parts.question,
    words: reading.wordHalves / 2,
    numbers: reading.numbers,
    letters: reading.letters,
    foreignLetters: reading.foreignLetters,
    lines: marks.lines,
    questions: marks.questions,
    codeMarks: marks.codeHalves / 2,
    mathMarks: marks.mathHalves / 2,
    listItems: marks.listItems,
    options: marks.options,
    brackets: marks.brackets,
    commas: marks.commas,
    singles: reading.singles,
    load,
    cues: nameCues(reading.hits),
    hasFence: lower.includes("```"),
    hasStackTrace: hasStackTrace(lower, marks),
  };
}

/** Everything is counted over the whole text, the load over the question and its choices only. Returns the load. */
function readParts(reading: Reading, parts: Parts): number {
  const end = reading.codes.length - PADDING;
  if (parts.question > 0) {
    scan(reading, 0, parts.question);
    reading.load = new LoadCounts();
  }
  const question = reading.load;
  scan(reading, parts.question, parts.choices);
  if (parts.choices === end) {
    // The end of a text counts as a line break.
    return measureLoad({ questionChars: end - parts.question + 1, choicesChars: 0, question, choices: NO_LOAD });
  }
  const choices = new LoadCounts();
  reading.load = choices;
  scan(reading, parts.choices, end);
  // The line break before the choices is theirs.
  const questionChars = parts.choices - parts.question - 1;
  return measureLoad({ questionChars, choicesChars: end - parts.choices + 2, question, choices });
}

const NO_LOAD = new LoadCounts();
const TRACES = ["traceback (most recent", "goroutine 1 ["];
const INDENTED_TRACES = ["\n\tat ", "\n    at ", "\n  at ", '\n  file "'];

/** Looked for only where what was counted allows it: searching a long text costs as much as counting does. */
function hasStackTrace(lower: string, { brackets, codeHalves }: Marks): boolean {
  return (
    (brackets > 0 && TRACES.some((trace) => lower.includes(trace))) ||
    (codeHalves > 0 && INDENTED_TRACES.some((trace) => lower.includes(trace))) ||
    lower.includes("panicked at")
  );
}
