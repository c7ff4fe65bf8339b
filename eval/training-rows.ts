// The rows that training and the left-out figures start from: our own corpus, public rows, and further tool requests.

import { readFurtherCalls } from "./calls.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { isFresh } from "./fresh/fresh.ts";
import { type Row, readRows } from "./rows.ts";

/** Reads the rows that `--data` and `--packages` name. Our own corpus comes first, because the results of a seed depend on the order. */
export function readTrainingRows(root: string): readonly Row[] {
  const own = generateCorpus(root);
  const folder = readOption("data");
  const packages = readOption("packages");
  const known = folder === null ? [] : readRows(folder).filter((row) => !isFresh(row));
  return [...own, ...known, ...(packages === null ? [] : readFurtherCalls(packages))];
}
