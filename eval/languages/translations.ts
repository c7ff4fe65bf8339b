// Public sets with the same task in several languages. They are measured as a whole, as shares of pairs: no row of them is
// read while rules, word lists or settings are made, and none is learned from, but for a few questions of xquad.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readLines } from "../fresh/fresh.ts";

/** One task by language. */
type Task = ReadonlyMap<string, string>;

export interface TranslatedSet {
  readonly name: string;
  readonly tasks: readonly Task[];
}

/** `folder` holds files of public repositories in folders of these names, or of some of them. */
export function readTranslations(folder: string): readonly TranslatedSet[] {
  return SETS.filter(([set]) => existsSync(join(folder, set))).map(([set, kind, read]) => ({
    name: `${set} (${kind})`,
    tasks: align(folder, set, read),
  }));
}

/** Each with the kind of its prompts. Nothing was chosen on msvamp and vicuna. */
const SETS: readonly (readonly [set: string, kind: string, read: (file: string) => readonly string[]])[] = [
  ["mgsm", "school sums", readSums],
  ["msvamp", "school sums", (file) => readLines<{ m_query: string }>(file).map(({ m_query: query }) => query)],
  ["llmzoo", "open requests", readRequests],
  ["vicuna", "open requests", (file) => readLines<{ text: string }>(file).map(({ text }) => text)],
  ["xquad", "short questions", readQuestions],
];

/** Files whose prompts are in the same order; the language is the last name before the ending. */
function align(folder: string, set: string, read: (file: string) => readonly string[]): readonly Task[] {
  const tasks: Map<string, string>[] = [];
  for (const name of readdirSync(join(folder, set)).sort()) {
    const language = /([a-z]{2}|[A-Z][a-z]+)\d*\.\w+$/.exec(name)?.[1] ?? name;
    for (const [at, prompt] of read(join(folder, set, name)).entries()) {
      tasks[at] ??= new Map();
      tasks[at].set(language, prompt);
    }
  }
  return tasks;
}

function readSums(file: string): readonly string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => (line.trim() === "" ? [] : [line.split("\t")[0] as string]));
}

function readRequests(file: string): readonly string[] {
  return readLines<{ query: string }>(file).map(({ query }) => query);
}

interface Article {
  readonly paragraphs: readonly { readonly qas: readonly { readonly question: string }[] }[];
}

function readQuestions(file: string): readonly string[] {
  const { data } = JSON.parse(readFileSync(file, "utf8")) as { data: readonly Article[] };
  return data.flatMap(({ paragraphs }) => paragraphs.flatMap(({ qas }) => qas.map(({ question }) => question)));
}
