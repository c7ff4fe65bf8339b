// The plain prompts of our own corpus, from the templates beside this file: English by category and difficulty,
// other languages by category.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pick, type Random } from "../random.ts";
import type { Row } from "../rows.ts";
import { expand, parseLists, type WordLists } from "./grammar.ts";

/** Prompts per template, at most. Set by hand, no experiment recorded. */
const SAMPLES_ENGLISH = 17;
const SAMPLES_OTHER = 9;

export function readLists(folder: string): WordLists {
  const text = ["slots.txt", "passages.txt"].map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  return parseLists(text);
}

export function makePrompts(folder: string, lists: WordLists, random: Random): readonly Row[] {
  const rows: Row[] = [];
  for (const name of readdirSync(folder).sort()) {
    const text = readFileSync(join(folder, name), "utf8");
    if (name.startsWith("english-")) rows.push(...makeEnglish(text, lists, random));
    if (name.startsWith("languages-")) rows.push(...makeOthers(text, lists, random));
  }
  return withoutDoubles(rows);
}

function withoutDoubles(rows: readonly Row[]): readonly Row[] {
  const byPrompt = new Map(rows.map((row) => [row.prompt, row]));
  return [...byPrompt.values()].map((row, at) => ({ ...row, id: `${row.source}-${at}` }));
}

/** Labels of a block of templates. */
interface Heading {
  readonly category: string;
  readonly ladder: number;
  readonly difficulty: number;
  readonly language: string;
}

/** `## category ladder difficulty` opens a block; every other line is a template. */
function makeEnglish(text: string, lists: WordLists, random: Random): readonly Row[] {
  const rows: Row[] = [];
  let heading: Heading = { category: "general", ladder: 2, difficulty: 0, language: "en" };
  for (const line of text.split("\n")) {
    if (line.startsWith("## ")) {
      const [category = "", ladder, difficulty] = line.slice(3).split(" ");
      heading = { category, ladder: Number(ladder), difficulty: Number(difficulty), language: "en" };
    } else if (line.trim() !== "") {
      for (const prompt of sample({ template: line, most: SAMPLES_ENGLISH, lists, random })) {
        rows.push(makeRow(vary(prompt, heading, random), heading));
      }
    }
  }
  return rows;
}

/** `# language` opens a block of lines `category ladder: template`. */
function makeOthers(text: string, lists: WordLists, random: Random): readonly Row[] {
  const rows: Row[] = [];
  let language = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) language = line.slice(2).trim();
    const match = /^([a-z_]+) (\d): (.+)$/.exec(line);
    if (match === null) continue;
    const [, category = "", ladder, template = ""] = match;
    const heading = { category, ladder: Number(ladder), difficulty: Number(ladder) * 20, language };
    for (const prompt of sample({ template, most: SAMPLES_OTHER, lists, random })) {
      rows.push(makeRow(prompt, heading));
    }
  }
  return rows;
}

interface Sampling {
  readonly template: string;
  readonly most: number;
  readonly lists: WordLists;
  readonly random: Random;
}

/** Different prompts only; a template that has few forms gives few. */
function sample({ template, most, lists, random }: Sampling): ReadonlySet<string> {
  const found = new Set<string>();
  for (let tries = 0; tries < most * 2 && found.size < most; tries++) {
    const prompt = expand(template, lists, random).trim();
    if (prompt !== "") found.add(prompt);
  }
  return found;
}

const OPENINGS = ["Hi, ", "Hello! ", "Hey, ", "Please help: ", "Quick question: ", "I have a question. ", "Hi there. "];
const CLOSINGS = [" Thanks!", " Thank you.", " Thanks in advance.", " Please be brief.", " pls"];

/** People write in small letters, greet before they ask, and thank afterwards. */
function vary(prompt: string, { category }: Heading, random: Random): string {
  const chance = random();
  if (chance < 0.12) return prompt.toLowerCase();
  if (chance < 0.16) return prompt.replace(/[?.!]$/, "");
  if (category === "chitchat") return prompt;
  if (chance < 0.21) return pick(OPENINGS, random) + prompt.charAt(0).toLowerCase() + prompt.slice(1);
  if (chance < 0.24 && !prompt.includes("\n")) return prompt + pick(CLOSINGS, random);
  return prompt;
}

function makeRow(prompt: string, { category, ladder, difficulty, language }: Heading): Row {
  const label = { category, coding: category === "coding", ladder, difficulty, language };
  return { id: "", source: language === "en" ? "own-english" : "own-languages", prompt, label };
}
