// Samples of a running gateway's metrics, and a verdict on whether they grow.

import { floors, laterPart, type Point, type Slope, slopeOf } from "./slope.ts";

/** Figures that must not grow, and the growth that is allowed: a share of the mean, or a number, whichever is more. */
const FIGURES = [
  { name: "RSS", unit: "MB", share: 0.08, atLeast: 8, read: megabytes("process_resident_memory_bytes") },
  { name: "heap in use", unit: "MB", share: 0.1, atLeast: 4, read: megabytes("nodejs_heap_size_used_bytes") },
  { name: "external memory", unit: "MB", share: 0.1, atLeast: 4, read: megabytes("nodejs_external_memory_bytes") },
  { name: "file descriptors", unit: "", share: 0, atLeast: 8, read: plain("process_open_fds") },
  { name: "handles", unit: "", share: 0, atLeast: 8, read: plain("nodejs_active_handles_total") },
  { name: "timers", unit: "", share: 0, atLeast: 8, read: labelled("nodejs_active_resources", "Timeout") },
  { name: "sockets", unit: "", share: 0, atLeast: 8, read: labelled("nodejs_active_resources", "TCPSocketWrap") },
  { name: "requests in flight", unit: "", share: 0, atLeast: 8, read: plain("requests_in_flight") },
] as const satisfies readonly Figure[];

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly share: number;
  readonly atLeast: number;
  readonly read: (metrics: string) => number;
}

/** One figure and its trend. */
export interface Judged {
  readonly name: string;
  readonly unit: string;
  readonly first: number;
  readonly last: number;
  readonly slope: Slope;
  readonly isRising: boolean;
}

/** Samples all figures at once. */
export interface Watch {
  sample(): Promise<void>;
  /** The newest sample by name. */
  latest(): Readonly<Record<string, number>>;
  judge(): readonly Judged[];
}

/** Longer than a cycle of the garbage collector. */
const FLOOR_WINDOW_MS = 15_000;
/** In standard errors. */
const SIGNIFICANT = 3;

export function createWatch(url: string): Watch {
  const series = new Map<string, Point[]>(FIGURES.map(({ name }) => [name, []]));
  const startedAtMs = performance.now();
  return {
    async sample() {
      const text = await (await fetch(`${url}/metrics`)).text();
      const atMs = performance.now() - startedAtMs;
      for (const { name, read } of FIGURES) series.get(name)?.push({ atMs, value: read(text) });
    },
    latest: () => Object.fromEntries([...series].map(([name, points]) => [name, points.at(-1)?.value ?? 0])),
    judge: () => FIGURES.map((figure) => judge(figure, series.get(figure.name) ?? [])),
  };
}

/** Both must hold: the rise is large enough to matter, and it is not chance. */
function judge({ name, unit, share, atLeast }: Figure, points: readonly Point[]): Judged {
  const slope = slopeOf(floors(laterPart(points), FLOOR_WINDOW_MS));
  const allowed = Math.max(atLeast, slope.mean * share);
  const isRising = slope.rise > allowed && slope.significance > SIGNIFICANT;
  return { name, unit, first: points[0]?.value ?? 0, last: points.at(-1)?.value ?? 0, slope, isRising };
}

function plain(metric: string): (metrics: string) => number {
  const pattern = new RegExp(`^switchyard_${metric} (\\S+)$`, "m");
  return (metrics) => Number(pattern.exec(metrics)?.[1] ?? 0);
}

function labelled(metric: string, type: string): (metrics: string) => number {
  const pattern = new RegExp(`^switchyard_${metric}\\{type="${type}"\\} (\\S+)$`, "m");
  return (metrics) => Number(pattern.exec(metrics)?.[1] ?? 0);
}

function megabytes(metric: string): (metrics: string) => number {
  const read = plain(metric);
  return (metrics) => read(metrics) / 2 ** 20;
}
