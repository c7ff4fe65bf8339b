// Judges whether two answers to one request agree. Only what a machine can judge is judged: tool calls, JSON and short answers.
// Two longer texts are unclear, however many words they share.

import type { CapturedToolCall } from "../../core/call-report.ts";
import type { SampleVerdict } from "../../core/requests/outcomes.ts";

export interface SaidAnswer {
  readonly text: string;
  readonly toolCalls: readonly CapturedToolCall[];
}

export interface AnswerComparison {
  readonly verdict: SampleVerdict;
  /** The similarity of the texts; null where tool calls were compared. */
  readonly similarity: number | null;
}

/** In words. A name, a number, a label or a short sentence: two right ones read alike. */
const SHORT_WORDS = 6;
/** Enough to tell how alike two texts are. */
const WORDS_MAX = 5_000;

export function compareAnswers(live: SaidAnswer, second: SaidAnswer): AnswerComparison {
  if (live.toolCalls.length > 0 || second.toolCalls.length > 0) {
    return { verdict: compareCalls(live.toolCalls, second.toolCalls), similarity: null };
  }
  const words = [wordsOf(live.text), wordsOf(second.text)] as const;
  return { verdict: compareTexts(live.text, second.text, words), similarity: similarityOf(...words) };
}

/** Calls that are made at once have no order. */
function compareCalls(live: readonly CapturedToolCall[], second: readonly CapturedToolCall[]): SampleVerdict {
  const listOf = (calls: readonly CapturedToolCall[], write: (call: CapturedToolCall) => string): string =>
    JSON.stringify(calls.map(write).sort());
  const whole = ({ name, arguments: given }: CapturedToolCall): string => `${name} ${canonicalText(given)}`;
  if (listOf(live, whole) === listOf(second, whole)) return "same";
  const name = (call: CapturedToolCall): string => call.name;
  return listOf(live, name) === listOf(second, name) ? "same_tool" : "different";
}

function compareTexts(
  live: string,
  second: string,
  [a, b]: readonly [readonly string[], readonly string[]],
): SampleVerdict {
  const [json, other] = [jsonOf(live), jsonOf(second)];
  if (json !== null && other !== null) return json === other ? "same" : "different";
  if (a.join(" ") === b.join(" ")) return "same";
  if (a.length > SHORT_WORDS && b.length > SHORT_WORDS) return "unclear";
  // A short answer inside a sentence may be the same one, or its opposite.
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const isWithin = short.length > 0 && ` ${long.join(" ")} `.includes(` ${short.join(" ")} `);
  return isWithin || long.length > SHORT_WORDS ? "unclear" : "different";
}

/** With the sign of a number, and what joins the parts of a word. */
const WORD = /(?:(?<![\p{L}\p{N}])-(?=\p{N}))?[\p{L}\p{N}]+(?:[.,:/'’_-][\p{L}\p{N}]+)*|[+<>=%€$]/gu;

/** Case, marks of formatting and punctuation say nothing about an answer; those within a word or number do. */
function wordsOf(text: string): readonly string[] {
  const words = text.normalize("NFKC").replaceAll("−", "-").toLowerCase().match(WORD);
  return (words ?? []).slice(0, WORDS_MAX);
}

/** The share of the words of both texts that the other text has as well. */
function similarityOf(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 1;
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const left = counts.get(word) ?? 0;
    if (left > 0) shared += 1;
    counts.set(word, left - 1);
  }
  return (2 * shared) / (a.length + b.length);
}

/** Models put JSON between fences. Null for what is not an object or a list. */
function jsonOf(text: string): string | null {
  const bare = text.trim().replace(/^```(?:json)?\s*([\s\S]*?)\s*```$/, "$1");
  return /^[[{]/.test(bare) ? canonicalJson(bare) : null;
}

function canonicalText(text: string): string {
  return canonicalJson(text) ?? text;
}

/** The same value gives the same text, whatever the order of its fields. */
function canonicalJson(text: string): string | null {
  try {
    return JSON.stringify(sorted(JSON.parse(text)));
  } catch {
    return null;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
