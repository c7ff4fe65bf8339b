// Trends: a straight line through samples by least squares, and whether it rises more than chance explains.

/** One sample. */
export interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** A line through samples. */
export interface Slope {
  readonly mean: number;
  readonly perHour: number;
  /** Rise of the line over the time of the samples. */
  readonly rise: number;
  /** The rise in units of its standard error; beyond 3 it is not chance. */
  readonly significance: number;
}

const HOUR_MS = 3_600_000;

/** Flat when there are too few points to tell. */
export function slopeOf(points: readonly Point[]): Slope {
  const count = points.length;
  if (count < 3) return { mean: points[0]?.value ?? 0, perHour: 0, rise: 0, significance: 0 };
  const meanMs = sum(points.map(({ atMs }) => atMs)) / count;
  const mean = sum(points.map(({ value }) => value)) / count;
  const spread = sum(points.map(({ atMs }) => (atMs - meanMs) ** 2));
  const perMs = sum(points.map(({ atMs, value }) => (atMs - meanMs) * (value - mean))) / spread;
  const errors = points.map(({ atMs, value }) => (value - mean - perMs * (atMs - meanMs)) ** 2);
  const uncertainty = Math.sqrt(sum(errors) / (count - 2) / spread);
  const lengthMs = (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0);
  const significance = uncertainty === 0 ? Math.sign(perMs) * Number.MAX_SAFE_INTEGER : perMs / uncertainty;
  return { mean, perHour: perMs * HOUR_MS, rise: perMs * lengthMs, significance };
}

/** The lowest point of each window: what remains without garbage and short peaks. */
export function floors(points: readonly Point[], windowMs: number): readonly Point[] {
  const lowest = new Map<number, Point>();
  for (const point of points) {
    const window = Math.floor(point.atMs / windowMs);
    const known = lowest.get(window);
    if (known === undefined || point.value < known.value) lowest.set(window, point);
  }
  return [...lowest.values()];
}

/** Without the beginning, in which caches fill and code is compiled. */
export function laterPart(points: readonly Point[], fraction = 0.6): readonly Point[] {
  const first = points[0]?.atMs ?? 0;
  const last = points.at(-1)?.atMs ?? 0;
  return points.filter(({ atMs }) => atMs >= last - (last - first) * fraction);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
