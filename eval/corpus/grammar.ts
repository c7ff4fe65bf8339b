// A small template language for prompts: `[a|b]` is a choice (choices may nest), `{slot}` a word of a list,
// `{passage:bank:2-5}` so many sentences of a bank, and `\n` a line break.

import { pick, type Random } from "../random.ts";

export interface WordLists {
  readonly slots: ReadonlyMap<string, readonly string[]>;
  /** Entries are taken as they are, line breaks excepted: code, traces, tables. */
  readonly raw: ReadonlyMap<string, readonly string[]>;
}

/** `@name` opens a list of words divided by `|` or of lines, `@@name` a list of raw lines. */
export function parseLists(text: string): WordLists {
  const slots = new Map<string, string[]>();
  const raw = new Map<string, string[]>();
  let lines: string[] = [];
  let isRaw = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("@")) {
      isRaw = line.startsWith("@@");
      lines = [];
      (isRaw ? raw : slots).set(line.replace(/^@+/, "").trim(), lines);
    } else if (line.trim() !== "") lines.push(...(isRaw || isSentence(line) ? [line] : line.split("|")));
  }
  return { slots, raw };
}

// Sentences of a bank end in a mark; words of a list are many to a line.
function isSentence(line: string): boolean {
  return /[.!?]$/.test(line.trim()) && !line.includes("|");
}

export function expand(template: string, lists: WordLists, random: Random): string {
  const chosen = choose(template, random);
  const filled = fillSlots(chosen, lists, random);
  return filled.replace(/\\([\\nt])/g, (_, mark) => (mark === "n" ? "\n" : mark === "t" ? "\t" : "\\"));
}

function choose(template: string, random: Random): string {
  let text = template;
  for (;;) {
    const close = text.indexOf("]");
    if (close < 0) return text;
    const open = text.lastIndexOf("[", close);
    if (open < 0) return text;
    const choice = pick(text.slice(open + 1, close).split("|"), random);
    text = text.slice(0, open) + choice + text.slice(close + 1);
  }
}

function fillSlots(text: string, lists: WordLists, random: Random, depth = 0): string {
  const filled = text.replace(/\{([a-z]+\d?)(?::([a-z]+):(\d+)-(\d+))?\}/g, (whole, name, bank, low, high) => {
    if (name === "passage") return makePassage(lists, bank, Number(low), Number(high), random);
    const words = lists.slots.get(name);
    if (words !== undefined) return pick(words, random);
    const entries = lists.raw.get(name);
    return entries === undefined ? whole : pick(entries, random);
  });
  return depth < 2 ? fillSlots(filled, lists, random, depth + 1) : filled;
}

function makePassage(lists: WordLists, bank: string, low: number, high: number, random: Random): string {
  const sentences = lists.slots.get(bank) ?? [];
  const count = low + Math.floor(random() * (high - low + 1));
  const start = Math.floor(random() * sentences.length);
  const stride = random() < 0.6 ? 1 : 3;
  const chosen = Array.from({ length: count }, (_, at) => sentences[(start + at * stride) % sentences.length]);
  return chosen.join(" ");
}
