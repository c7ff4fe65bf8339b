// The numbers a router is judged by: classes, ladder, rank of difficulty, and what routing by it would gain.

/** Scores for telling classes apart. */
export interface Classes {
  readonly count: number;
  readonly accuracy: number;
  readonly macroF1: number;
  readonly f1: Readonly<Record<string, number>>;
  /** By truth, then by answer. */
  readonly confusion: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export function scoreClasses(pairs: readonly (readonly [truth: string, answer: string])[]): Classes {
  const confusion: Record<string, Record<string, number>> = {};
  for (const [truth, answer] of pairs) {
    const row = confusion[truth] ?? {};
    row[answer] = (row[answer] ?? 0) + 1;
    confusion[truth] = row;
  }
  const f1 = Object.fromEntries(Object.keys(confusion).map((name) => [name, f1Of(name, pairs)]));
  const right = pairs.filter(([truth, answer]) => truth === answer).length;
  return { count: pairs.length, accuracy: right / pairs.length, macroF1: mean(Object.values(f1)), f1, confusion };
}

export function f1Of(name: string, pairs: readonly (readonly [string, string])[]): number {
  const hits = pairs.filter(([truth, answer]) => truth === name && answer === name).length;
  const wrong = pairs.filter(([truth, answer]) => (truth === name) !== (answer === name)).length;
  return hits === 0 ? 0 : (2 * hits) / (2 * hits + wrong);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Spearman's rank correlation; ties share their mean rank. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranksOf(a), ranksOf(b)];
  const [meanX, meanY] = [mean(x), mean(y)];
  let [both, squareX, squareY] = [0, 0, 0];
  for (let at = 0; at < x.length; at++) {
    const [dx, dy] = [(x[at] as number) - meanX, (y[at] as number) - meanY];
    both += dx * dy;
    squareX += dx * dx;
    squareY += dy * dy;
  }
  return squareX > 0 && squareY > 0 ? both / Math.sqrt(squareX * squareY) : 0;
}

function ranksOf(values: readonly number[]): number[] {
  const order = values.map((_, at) => at).sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Array<number>(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && values[order[to + 1] as number] === values[order[from] as number]) to++;
    for (let at = from; at <= to; at++) ranks[order[at] as number] = (from + to) / 2;
    from = to + 1;
  }
  return ranks;
}

/** Results of a weak and a strong model on one prompt, and the score that would choose between them. */
export interface Outcome {
  readonly score: number;
  readonly weak: number;
  readonly strong: number;
}

/**
 * The average share of the gap between a weak and a strong model that is recovered when the highest scores go to the
 * strong one, over all shares of requests sent there: 0.5 is chance. Equal scores count as in random order.
 */
export function gapRecovered(outcomes: readonly Outcome[]): number {
  const gap = mean(outcomes.map(({ strong }) => strong)) - mean(outcomes.map(({ weak }) => weak));
  if (Math.abs(gap) < 1e-9) return Number.NaN;
  const sorted = [...outcomes].sort((a, b) => b.score - a.score);
  let [area, gained, from] = [0, 0, 0];
  while (from < sorted.length) {
    let to = from;
    let gain = 0;
    while (to < sorted.length && sorted[to]?.score === sorted[from]?.score) {
      gain += (sorted[to]?.strong ?? 0) - (sorted[to]?.weak ?? 0);
      to++;
    }
    area += ((to - from) * (gained + gain / 2)) / (gap * sorted.length * sorted.length);
    gained += gain;
    from = to;
  }
  return area;
}
