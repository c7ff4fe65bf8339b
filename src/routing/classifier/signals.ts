// Measures of a text: words, lines, signs of code and mathematics, the cues of the lexicon, and the cognitive load.
// They say nothing of tiers or categories.

import { codesOf, foldCase, PADDING } from "./characters.ts";
import { EXAMPLES, LOAD } from "./constants.ts";
import { nameCues } from "./cues.ts";
import type { Cue } from "./lexicon.ts";
import { withoutNoise } from "./noise.ts";
import { LoadCounts, Scan, type SignCounts } from "./scan.ts";

/** A text that has been read: lower-cased once and measured, for every step that looks at it. */
export interface PromptText {
  readonly text: string;
  readonly lower: string;
  /** `lower` without courtesies and identifiers at its ends: what is measured. */
  readonly asked: string;
  readonly signals: Signals;
}

export function readPrompt(text: string): PromptText {
  const lower = fold(text);
  const asked = withoutNoise(lower);
  return { text, lower, asked, signals: measure(asked) };
}

/** Blanks inside a line, and what stands before them; those at its beginning tell code from prose. Looking back is slow. */
const EXTRA_BLANKS = /(\S)[ \t]{2,}(?=\S)/g;

/** In one case, with straight quotes and single blanks. */
function fold(text: string): string {
  const folded = foldCase(text);
  return hasDoubleBlank(codesOf(folded)) ? folded.replace(EXTRA_BLANKS, "$1 ") : folded;
}

/** Of two blanks side by side one stands at an odd place. V8's own search stops at every blank, and takes twice as long. */
function hasDoubleBlank(codes: Uint16Array): boolean {
  for (let at = 1; at < codes.length; at += 2) {
    if (codes[at] === 32 && (codes[at - 1] === 32 || codes[at + 1] === 32)) return true;
  }
  return false;
}

export interface Signals {
  readonly length: number;
  /** Where, in what is asked, the question begins when solved examples stand before it; 0 otherwise. */
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

function measure(lower: string): Signals {
  const scan = new Scan(codesOf(lower));
  const parts = findParts(lower, scan.codes);
  const load = readParts(scan, parts);
  const { signs } = scan;
  return {
    length: lower.length,
    questionAt: parts.question,
    words: scan.wordHalves / 2,
    numbers: scan.numbers,
    letters: scan.letters,
    foreignLetters: scan.foreignLetters,
    lines: signs.lines,
    questions: signs.questions,
    codeMarks: signs.codeHalves / 2,
    mathMarks: signs.mathHalves / 2,
    listItems: signs.listItems,
    options: signs.options,
    brackets: signs.brackets,
    commas: signs.commas,
    singles: scan.singles,
    load,
    cues: nameCues(scan.hits),
    hasFence: lower.includes("```"),
    hasStackTrace: hasStackTrace(lower, signs),
  };
}

/** Everything is counted over the whole text, the load over the question and its choices only. Returns the load. */
function readParts(scan: Scan, parts: Parts): number {
  const end = scan.codes.length - PADDING;
  if (parts.question > 0) {
    scan.read(0, parts.question);
    scan.load = new LoadCounts();
  }
  const question = scan.load;
  scan.read(parts.question, parts.choices);
  if (parts.choices === end) {
    // The end of a text counts as a line break.
    return measureLoad({ questionChars: end - parts.question + 1, choicesChars: 0, question, choices: NO_LOAD });
  }
  const choices = new LoadCounts();
  scan.load = choices;
  scan.read(parts.choices, end);
  // The line break before the choices is theirs.
  const questionChars = parts.choices - parts.question - 1;
  return measureLoad({ questionChars, choicesChars: end - parts.choices + 2, question, choices });
}

const NO_LOAD = new LoadCounts();

/** Where the parts of a text begin, each on a line of its own. */
interface Parts {
  /** 0 where no solved examples stand before the question. */
  readonly question: number;
  /** The end of the text where there are no choices. */
  readonly choices: number;
}

/** `codes` are those of the lower-case text. */
function findParts(lower: string, codes: Uint16Array): Parts {
  const question = findQuestion(lower);
  return { question, choices: findChoices(lower, codes, question) };
}

/** The two parts of a text whose load is measured. */
interface LoadParts {
  /** Characters of the question and of the choices. */
  readonly questionChars: number;
  readonly choicesChars: number;
  readonly question: LoadCounts;
  /** Their words are not counted, their numbers and signs are. */
  readonly choices: LoadCounts;
}

/**
 * The cognitive load: how much has to be kept in mind at once. The words of choices and solved examples do not count: they
 * are longer where the question is easier. Within one category it ranks difficulty better than length does (E6).
 */
function measureLoad({ questionChars, choicesChars, question, choices }: LoadParts): number {
  let load = LOAD.length * Math.log1p(questionChars + LOAD.unspacedExtra * question.unspaced);
  load += LOAD.choices * Math.log1p(choicesChars);
  load += LOAD.distinct * Math.log1p(question.distinctHalves / 2);
  load += LOAD.choiceNumbers * Math.log1p(choices.numbers);
  load += LOAD.numbers * Math.log1p(question.numbers + choices.numbers);
  load += LOAD.longWords * Math.log1p(question.longWords);
  load += LOAD.conditions * Math.log1p(question.conditions);
  load += LOAD.quantities * Math.log1p(question.quantities);
  load += LOAD.operators * Math.log1p(question.operators + choices.operators);
  load += LOAD.brackets * Math.log1p(question.brackets + choices.brackets);
  load += LOAD.variables * Math.log1p(question.variables + choices.variables);
  load += LOAD.sentences * Math.log1p(question.sentences + choices.sentences);
  return load;
}

const ANSWER_LABELS = ["answer:", "\na:", "output:", "答案："];

/** Where the question begins when examples with answers stand before it; 0 otherwise. */
function findQuestion(lower: string): number {
  // Every label has one, and most texts have none: searching for each label costs as much as counting does.
  if (!lower.includes(":") && !lower.includes("：")) return 0;
  for (const label of ANSWER_LABELS) {
    // V8 searches forwards several times faster than backwards.
    const last = lower.includes(label) ? lower.lastIndexOf(label) : -1;
    if (last <= 0) continue;
    const isOpen = lower.length - last < label.length + EXAMPLES.openLabelChars;
    const solved = isOpen ? lower.lastIndexOf(label, last - 1) : last;
    if (solved <= 0 || lower.lastIndexOf(label, solved - 1) < 0) continue;
    const end = lower.indexOf("\n\n", solved);
    if (end >= 0 && lower.length - end > EXAMPLES.questionCharsMin) return end + 2;
  }
  return 0;
}

function findChoices(lower: string, codes: Uint16Array, question: number): number {
  for (let at = lower.indexOf("\n", question); at >= 0; at = lower.indexOf("\n", at + 1)) {
    if (opensChoices(codes, at + 1)) return at + 1;
  }
  return codes.length - PADDING;
}

/** Whether a line begins as the first choice of a test does: "a.", "(a)", "a)". */
function opensChoices(codes: Uint16Array, from: number): boolean {
  let at = from;
  while (codes[at] === 32) at++;
  if (codes[at] === 0x28) at++;
  return codes[at] === 0x61 && (codes[at + 1] === 0x2e || codes[at + 1] === 0x29);
}

const TRACES = ["traceback (most recent", "goroutine 1 ["];
const INDENTED_TRACES = ["\n\tat ", "\n    at ", "\n  at ", '\n  file "'];

/** Looked for only where what was counted allows it: searching a long text costs as much as counting does. */
function hasStackTrace(lower: string, { brackets, codeHalves }: SignCounts): boolean {
  return (
    (brackets > 0 && TRACES.some((trace) => lower.includes(trace))) ||
    (codeHalves > 0 && INDENTED_TRACES.some((trace) => lower.includes(trace))) ||
    lower.includes("panicked at")
  );
}
