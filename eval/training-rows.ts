// The rows that training and the left-out figures start from: our own corpus, public rows, and further tool requests.

import { readCheckouts } from "./calls/checkouts.ts";
import { readFurtherCalls } from "./calls/leaderboard.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { isFresh } from "./fresh/fresh.ts";
import { type Row, readRows } from "./rows.ts";

/** Reads the rows that `--data`, `--packages` and `--checkouts` name. Our own corpus comes first, because the results of a seed depend on the order. */
export function readTrainingRows(root: string): readonly Row[] {
  const own = generateCorpus(root);
  const folder = readOption("data");
  const packages = readOption("packages");
  const known = folder === null ? [] : readRows(folder).filter((row) => !isFresh(row));
  const checkouts = readOption("checkouts");
  return [
    ...own,
    ...known,
    ...(packages === null ? [] : readFurtherCalls(packages)),
    ...(checkouts === null ? [] : readCheckouts(checkouts)),
  ];
}
