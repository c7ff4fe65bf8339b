// Tasks of our own corpus in fifteen languages, line by line the same. Learning them teaches the words of each language,
// and what the translations of a task are said to be is pulled together (eval/learn.ts).

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";
import type { Row } from "../rows.ts";
import { expand, type WordLists } from "./grammar.ts";

/** Prompts per line, at most. */
const SAMPLES = 5;

/** `## category ladder difficulty` opens a task; its lines are `language: template`. */
export function makeParallel(folder: string, lists: WordLists, random: Random): readonly Row[] {
  const names = readdirSync(folder).sort();
  const rows = names.flatMap((name) => {
    const [, ...tasks] = readFileSync(join(folder, name), "utf8").split("\n## ");
    return tasks.flatMap((task, at) => makeTask(task, `${name.replace(".txt", "")}-${at}`, lists, random));
  });
  return rows.map((row, at) => ({ ...row, id: `own-parallel-${at}` }));
}

function makeTask(text: string, task: string, lists: WordLists, random: Random): readonly Row[] {
  const [heading = "", ...lines] = text.split("\n");
  const [category = "", ladder, difficulty] = heading.split(" ");
  return lines.flatMap((line) => {
    const match = /^([a-z]{2}): (.+)$/.exec(line);
    if (match === null) return [];
    const [, language = "", template = ""] = match;
    const label = {
      category,
      coding: category === "coding",
      ladder: Number(ladder),
      difficulty: Number(difficulty),
      language,
      task,
    };
    const prompts = new Set(Array.from({ length: SAMPLES }, () => fill(template, lists, random)));
    return [...prompts].map((prompt) => ({ id: "", source: "own-parallel", prompt, label }));
  });
}

function fill(template: string, lists: WordLists, random: Random): string {
  const numbers: Readonly<Record<string, () => string>> = {
    n: () => String(30 + Math.floor(random() * 70)),
    d: () => String(2 + Math.floor(random() * 8)),
  };
  return expand(template, lists, random).replace(/\{([nd])\}/g, (_, name: string) => numbers[name]?.() ?? "");
}
