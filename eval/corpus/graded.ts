// The graded prompts of our own corpus: tasks of one category from the easiest to the hardest, level by level, so that the
// difficulty output learns which words tell a hard request from an easy one of the same category.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pick, type Random } from "../random.ts";
import type { Row } from "../rows.ts";
import type { WordLists } from "./grammar.ts";

/** Wordings of each task. */
const WORDINGS = 6;
/** From a beginner's task to a specialist's. */
const LEVELS = 5;

interface Sheet {
  /** Category of the tasks; null where there are several. */
  readonly category: string | null;
  /** The tier of each level; empty where nothing is said of it. */
  readonly ladder: readonly number[];
  readonly wordings: readonly string[];
  readonly tasks: readonly (readonly [level: number, task: string])[];
}

export function makeGraded(folder: string, lists: WordLists, random: Random): readonly Row[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .flatMap((name) => {
      const sheet = parseSheet(readFileSync(join(folder, name), "utf8"));
      return makeRows(sheet, `own-graded-${name.replace(".txt", "")}`, lists, random);
    });
}

/** `= category ladder…` says what the tasks are, `~` opens a wording, `3:` tasks of level 3 divided by ` | `. */
function parseSheet(text: string): Sheet {
  const lines = text.split("\n");
  const [category = "-", ...ladder] = (lines.find((line) => line.startsWith("= ")) ?? "").slice(2).split(" ");
  return {
    category: category === "-" ? null : category,
    ladder: ladder.map(Number),
    wordings: lines.filter((line) => line.startsWith("~ ")).map((line) => line.slice(2)),
    tasks: lines.flatMap((line) => {
      const match = /^([1-5]): (.+)$/.exec(line);
      return (match?.[2] ?? "")
        .split(" | ")
        .flatMap((task) => (task === "" ? [] : ([[Number(match?.[1]), task]] as const)));
    }),
  };
}

function makeRows(sheet: Sheet, source: string, lists: WordLists, random: Random): readonly Row[] {
  const { category, ladder } = sheet;
  const isGraded = new Set(sheet.tasks.map(([level]) => level)).size > 1;
  const rows = new Map<string, Row>();
  for (const [level, task] of sheet.tasks) {
    const rung = ladder[level - 1];
    const label = {
      ...(category === null ? {} : { category, coding: category === "coding" }),
      ...(rung === undefined ? {} : { ladder: rung }),
      ...(isGraded ? { difficulty: (level * 100) / LEVELS } : {}),
    };
    for (let wording = 0; wording < WORDINGS; wording++) {
      const prompt = fill(
        pick(sheet.wordings, random).replace("{t}", () => task),
        lists,
        random,
      );
      rows.set(prompt, { id: "", source, prompt, label });
    }
  }
  return [...rows.values()].map((row, at) => ({ ...row, id: `${source}-${at}` }));
}

/** Choices that fit any question and say nothing of its difficulty. */
const CHOICES = [
  "it grows with time",
  "it stays the same",
  "it depends on the size",
  "none of these",
  "it is made of parts",
  "it happens once a year",
  "it is the opposite",
  "both of them",
];

function fill(wording: string, lists: WordLists, random: Random): string {
  const words: Readonly<Record<string, () => string>> = {
    n: () => String(10 + Math.floor(random() * 90)),
    d: () => String(2 + Math.floor(random() * 8)),
    x: () => pick(CHOICES, random),
    name: () => pick(lists.slots.get("name") ?? [], random),
    lang: () => pick(lists.slots.get("lang") ?? [], random),
  };
  const filled = wording.replace(/\{(n|d|x|name|lang)\}/g, (whole, name: string) => words[name]?.() ?? whole);
  return filled.replace(/\\([\\n])/g, (_, mark) => (mark === "n" ? "\n" : "\\"));
}
