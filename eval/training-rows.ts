// The rows that training and the left-out figures start from: our own corpus, public rows, and further tool requests.

import { readFurtherCalls } from "./calls.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { isFresh } from "./fresh/fresh.ts";
import { type Row, readRows } from "./rows.ts";

/** As `--data` and `--packages` say. Our own corpus first: its place in the order is part of what the seed gives. */
export function readTrainingRows(root: string): readonly Row[] {
  const own = generateCorpus(root);
  const folder = readOption("data");
  const packages = readOption("packages");
  const known = folder === null ? [] : readRows(folder).filter((row) => !isFresh(row));
  return [...own, ...known, ...(packages === null ? [] : readFurtherCalls(packages))];
}
