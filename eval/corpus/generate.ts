// Our own corpus: labelled prompts, conversations and tool requests, all made from the hand-written templates in this
// folder. It takes a fraction of a second and the same seed gives the same rows, so it is made when needed and not kept.

import { join } from "node:path";
import { makeRandom } from "../random.ts";
import type { Row } from "../rows.ts";
import { makeConversations } from "./conversations.ts";
import { makeGraded } from "./graded.ts";
import { makeParallel } from "./parallel.ts";
import { makePrompts, readLists } from "./prompts.ts";
import { makeToolRows } from "./tools.ts";

const CORPUS_SEED = 20_26;

const CONVERSATIONS = 160;

/** The corpus of the checkout at `root`. */
export function generateCorpus(root: string): readonly Row[] {
  const folder = join(root, "eval/corpus/templates");
  const random = makeRandom(CORPUS_SEED);
  const lists = readLists(folder);
  const prompts = makePrompts(folder, lists, random);
  const conversations = makeConversations(prompts, CONVERSATIONS, random);
  const tooled = makeToolRows(folder, lists, random);
  // Numbers of their own: a new template must not shuffle what difficulty is learned from.
  const graded = makeGraded(join(folder, "../graded"), lists, makeRandom(CORPUS_SEED));
  const parallel = makeParallel(join(folder, "../parallel"), lists, makeRandom(CORPUS_SEED));
  return [...prompts, ...conversations, ...tooled, ...graded, ...parallel];
}
