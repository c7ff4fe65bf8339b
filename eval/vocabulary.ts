// The features that get a row of the word table: those that enough training prompts have. All others count for nothing.

import { BUCKETS, createWordHasher, type FindRow, takeRow } from "../src/routing/classifier/features.ts";

/** Prompts that must have a feature before it is learned: what fewer have is chance. Set by hand. */
const PROMPTS_MIN = 2;

/** The marks of the table's rows, words before pairs and commoner features first: the rarest may go without a row. */
export function makeMarks(texts: readonly string[]): Uint8Array {
  const words = countFeatures(texts, (count) => (feature, isWord) => {
    if (isWord) count(feature);
    return 0;
  });
  const isKnown = (feature: number) => (words.get(feature) ?? 0) >= PROMPTS_MIN;
  const all = countFeatures(texts, (count) => (feature, isWord) => {
    if (isWord) return isKnown(feature) ? 0 : -1;
    count(feature);
    return 0;
  });
  const marks = new Uint8Array(BUCKETS);
  const learned = [...all].filter(([, count]) => count >= PROMPTS_MIN);
  learned.sort(([a, m], [b, n]) => Number(words.has(b)) - Number(words.has(a)) || n - m || a - b);
  for (const [feature] of learned) takeRow(marks, feature);
  return marks;
}

/** Counts the texts that have each feature. */
function countFeatures(
  texts: readonly string[],
  makeFinder: (count: (feature: number) => void) => FindRow,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  const found = new Set<number>();
  const hash = createWordHasher(makeFinder((feature) => found.add(feature)));
  for (const text of texts) {
    found.clear();
    hash(text);
    for (const feature of found) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  return counts;
}
