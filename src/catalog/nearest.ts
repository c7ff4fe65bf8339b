// Finds what was probably meant by a word that nothing knows.

const PREFIX_LENGTH_MIN = 3;

/** The candidate nearest in spelling, or null when none is within so many edits and worth naming. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  limit: number = Math.max(1, Math.floor(word.length / 3)),
): string | null {
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = isPrefix(word, candidate) ? limit : editDistance(plain(word), plain(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** "warning" for "warn", "max" for "maxOutput": as near as the limit allows, so that a better match still wins. */
function isPrefix(word: string, candidate: string): boolean {
  const [shorter, longer] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  return shorter.length >= PREFIX_LENGTH_MIN && plain(longer).startsWith(plain(shorter)) && shorter !== longer;
}

/** Case, hyphens and underscores are what people mix up most; they do not count as differences. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours, each counted as one. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) cost = Math.min(cost, (beforePrevious[column - 2] as number) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] as number;
}
