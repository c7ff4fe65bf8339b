// Writes our own corpus: labelled prompts, conversations and tool requests, all made from the hand-written
// templates in this folder. The same seed gives the same file.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeRandom } from "../random.ts";
import type { Row } from "../rows.ts";
import { makeConversations } from "./conversations.ts";
import { makeGraded } from "./graded.ts";
import { makePrompts, readLists } from "./prompts.ts";
import { makeToolRows } from "./tools.ts";

export const CORPUS_SEED = 20_26;

const CONVERSATIONS = 160;

export function generateCorpus(folder: string): readonly Row[] {
  const random = makeRandom(CORPUS_SEED);
  const lists = readLists(folder);
  const prompts = makePrompts(folder, lists, random);
  const conversations = makeConversations(prompts, CONVERSATIONS, random);
  const tooled = makeToolRows(folder, lists, random);
  // Numbers of their own: a new template must not shuffle what difficulty is learned from.
  const graded = makeGraded(join(folder, "../graded"), lists, makeRandom(CORPUS_SEED));
  return [...prompts, ...conversations, ...tooled, ...graded];
}

/** Rewrites the corpus of the checkout at `root`. */
export function writeCorpus(root: string): void {
  const rows = generateCorpus(join(root, "eval/corpus/templates"));
  writeFileSync(join(root, "eval/corpus/corpus.jsonl"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
}
