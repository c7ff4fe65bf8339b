// The labels of the teacher, an encoder that ships with nothing: what it says of prompts that nobody has labelled. Each fold
// has its own labels, made by a teacher that never saw the sources left out there. E16 of the lab notebook says how they were made.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CATEGORIES } from "../../src/core/decision.ts";
import { TIER_CUTS } from "../../src/routing/classifier/layout.ts";
import { readOption } from "../command.ts";
import { type Example, makeExamples, type Taught } from "../examples.ts";
import type { Row } from "../rows.ts";

/** Prompts as the teacher of a fold labels them; fold 0 leaves nothing out. */
export type TaughtExamples = (fold: number) => readonly Example[];

const DIGEST_BYTES = 32;
const COLUMNS = CATEGORIES.length + TIER_CUTS + 2;
/** A taught prompt beside a labelled one. Of 0.3 and 1 (E16), the one with the better category left out. */
const TAUGHT_WEIGHT = 0.3;

/** `--teacher` names the file of the prompts without labels. The weights that ship learn with it (E20). */
export function readTaught(root: string): TaughtExamples {
  const file = readOption("teacher");
  if (file === null) return () => [];
  const bytes = readFileSync(file);
  const labels = gunzipSync(readFileSync(join(root, "eval/teacher/labels.bin")));
  if (!createHash("sha256").update(bytes).digest().equals(labels.subarray(0, DIGEST_BYTES)))
    throw new Error("eval/teacher/labels.bin was made for another unlabelled.jsonl.");
  const examples = makeExamples(parsePrompts(bytes.toString("utf8")));
  return (fold) =>
    examples.map((example, at) => ({
      ...example,
      weight: TAUGHT_WEIGHT,
      taught: taughtOf((column) => labels[DIGEST_BYTES + (fold * COLUMNS + column) * examples.length + at] as number),
    }));
}

/** A label is a byte; difficulties lie between -2 and 2. */
function taughtOf(byteOf: (column: number) => number): Taught {
  const share = (column: number) => byteOf(column) / 255;
  return {
    categories: Float32Array.from(CATEGORIES, (_, kind) => share(kind)),
    cuts: Float32Array.from({ length: TIER_CUTS }, (_, cut) => share(CATEGORIES.length + cut)),
    coding: share(COLUMNS - 2),
    difficulty: share(COLUMNS - 1) * 4 - 2,
  };
}

function parsePrompts(text: string): readonly Row[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line, at) => {
    const { source, prompt } = JSON.parse(line) as { source: string; prompt: string };
    return { id: `unlabelled:${at}`, source: `unlabelled-${source}`, prompt, label: {} };
  });
}
