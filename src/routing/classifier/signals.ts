// Measures of a text: words, lines, signs of code and mathematics, the cues of the lexicon, and the cognitive load.
// The measures say nothing of tiers or categories.

import { codesOf, foldCase, PADDING } from "./characters.ts";
import { EXAMPLES, LOAD } from "./constants.ts";
import { nameCues } from "./cues.ts";
import type { Cue } from "./lexicon.ts";
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

/**
 * Looks at odd places only, because one of two blanks side by side stands there. V8's own search stops at every blank
 * and takes twice as long.
 */
function hasDoubleBlank(codes: Uint16Array): boolean {
  for (let at = 1; at < codes.length; at += 2) {
    if (codes[at] === 32 && (codes[at - 1] === 32 || codes[at + 1] === 32)) return true;
  }
  return false;
}

export interface Signals {
  readonly length: number;
  /** Start of the question when solved examples stand before it; 0 otherwise. */
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
  /** Amount that has to be kept in mind at once. */
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

/** Starts of the parts of a text, each on a line of its own. */
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

/** Finds the start of the question when examples with answers stand before it; 0 otherwise. */
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

/** Tells whether a line begins like the first choice of a test: "a.", "(a)", "a)". */
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

/** Characters at either end in which courtesies are looked for. */
const END_CHARS = 80;
/** Greeting, please and thank you may follow one another; more than this is no courtesy. */
const CUTS_MAX = 4;

const GREETING =
  "hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus|guten (?:tag|morgen|abend)|bonjour|bonsoir|salut|hola|buen(?:os días|as tardes|as noches)|olá|oi|bom dia|boa (?:tarde|noite)|ciao|buongiorno|buonasera|привет|здравствуй(?:те)?|добрый день|merhaba|selam|hej|cześć|dzień dobry";
const COMPANY =
  "there|again|all|everyone|everybody|team|folks|guys|friend|assistant|ai|bot|zusammen|à tous|a todos|a tutti|всем";
const PLEASE =
  "please|pls|plz|kindly|bitte|por favor|s'il (?:te|vous) pla[iî]t|svp|per (?:favore|piacere)|пожалуйста|lütfen|proszę|alsjeblieft|snälla";
const THANKS =
  "thanks|thank you|thx|many thanks|much appreciated|cheers|danke|vielen dank|merci|gracias|muchas gracias|grazie|obrigad[oa]|спасибо|teşekkürler|dziękuję|bedankt|tack";
const HOW_MUCH =
  "so much|very much|a lot|a bunch|a million|in advance|again|schön|sehr|im voraus|beaucoup|d'avance|de antemano|de antemão|mille|in anticipo|большое|заранее";

/** A greeting or "please" before the request. */
const OPENING = new RegExp(
  `^(?:(?:${GREETING})(?: (?:${COMPANY}))?(?:[,.!:;–—-]+\\s*|\\s+)|(?:${PLEASE})[,:]?\\s+|(?:你好|您好|こんにちは|안녕하세요)[，,。.!！、\\s]*)(?=\\S)`,
  "u",
);
/** Thanks behind it, apart from the request or with emphasis: "how do you say thank you" asks for just that. */
const CLOSING = new RegExp(
  `(?:(?<=[,.!?;:\\n]) *\\n*(?:${THANKS})(?: (?:${HOW_MUCH}))*[\\s.!]*|\\s(?:${THANKS})(?: (?:${HOW_MUCH}))*\\s*!+\\s*|[,;:]? (?:${PLEASE})[\\s.!]*|(?:谢谢|多谢|ありがとうございます|ありがとう|よろしくお願いします|감사합니다)[。.!！\\s]*)$`,
  "u",
);
/** A last line that names a case or an identifier: "[ref k3x9q1]", "Ticket #4821". */
const REFERENCE =
  /\n\s*(?:\[[^\]\n]{1,40}\]|(?:ref|reference|ticket|case|req|request id|trace id|id)\b[ :#.=-]+[\w-]{3,24})[\s.!]*$/u;
const REFERS = /\n\s*\[?(?:ref|reference|ticket|case|req|request|trace|id|msg|order)\b|\d/u;
/** Full stops and exclamation marks end a request without saying more. */
const LAST_STOP = /\s*[.!。！][\s.!。！]*$/u;
const FIRST_WORD = /^([a-z0-9]{5,24})\s+(?=\S)/;
const LAST_WORD = /\s([a-z0-9]{5,24})[\s.!]*$/;
/** Remainder that must still ask for something: three words, or four characters of a script without spaces. */
const REQUEST = /\S\s+\S+\s+\S|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7a3]{4}/u;

/** The request itself, from a text in lower case. Greetings and thanks with hardly a word beside them stay. */
export function withoutNoise(lower: string): string {
  let text = lower;
  for (let cuts = 0; cuts < CUTS_MAX; cuts++) {
    const next = cutEnd(cutOpening(text));
    if (next === text) break;
    text = next;
  }
  if (text !== lower && !REQUEST.test(text.slice(0, 4 * END_CHARS))) {
    // A reference is never what is asked.
    text = cutReference(lower);
  }
  return cutStop(text);
}

function cutStop(text: string): string {
  const tail = text.slice(-8);
  const cut = tail.replace(LAST_STOP, "");
  return cut === tail ? text : text.slice(0, text.length - tail.length + cut.length) || text;
}

function cutOpening(text: string): string {
  const head = text.slice(0, END_CHARS);
  const opening = OPENING.exec(head);
  if (opening !== null) return text.slice(opening[0].length);
  const word = FIRST_WORD.exec(head);
  return word !== null && isIdentifier(word[1] as string) ? text.slice(word[0].length) : text;
}

function cutEnd(text: string): string {
  const tail = text.slice(-END_CHARS);
  const last = lastWordOf(tail);
  const closing = LAST_WORDS.has(last) || last.charCodeAt(last.length - 1) > 0x2fff ? CLOSING.exec(tail) : null;
  if (closing !== null) return text.slice(0, text.length - closing[0].length);
  const word = isIdentifier(last) ? LAST_WORD.exec(tail) : null;
  if (word !== null) return text.slice(0, text.length - word[0].length);
  return tail.includes("\n") ? cutReference(text) : text;
}

/** Words that a courtesy may end with: only behind one of them is it looked for. */
const LAST_WORDS = new Set(
  [THANKS, HOW_MUCH, PLEASE]
    .flatMap((phrases) => phrases.split("|"))
    .flatMap((phrase) => {
      const last = phrase.slice(phrase.lastIndexOf(" ") + 1);
      return last === "obrigad[oa]" ? ["obrigado", "obrigada"] : last === "pla[iî]t" ? ["plait", "plaît"] : [last];
    }),
);

function lastWordOf(tail: string): string {
  let end = tail.length;
  while (end > 0 && END_MARKS.includes(tail.charAt(end - 1))) end--;
  let from = end;
  while (from > 0 && !WORD_BREAKS.includes(tail.charAt(from - 1))) from--;
  return tail.slice(from, end);
}

const END_MARKS = " \n\t.!。！";
const WORD_BREAKS = " \n\t,.!?;:";

function cutReference(text: string): string {
  const reference = REFERENCE.exec(text.slice(-END_CHARS));
  if (reference === null || !REFERS.test(reference[0])) return text;
  return text.slice(0, text.length - reference[0].length);
}

const IDENTIFIER = /^[a-z0-9]{5,24}$/;

/** Letters and digits in turns, as in "k3x9q1"; not "sha256" and not "100km". */
function isIdentifier(word: string): boolean {
  return (
    IDENTIFIER.test(word) && /\d/.test(word) && /[a-z]/.test(word) && !/^(?:[a-z]{2,}\d{1,4}|\d+[a-z]{1,4})$/.test(word)
  );
}
