// Shared rate-limit windows in the memory of the primary process, for workers that share a SQLite file.

import { type CallWindows, type SecondCount, takeFrom } from "../../core/processes/call-window.ts";

/** Interval at which empty windows are removed. */
const SWEEP_SECONDS = 60;

interface Window {
  counts: readonly SecondCount[];
  /** Second from which on the window is empty. */
  emptyAtSecond: number;
}

/** Makes windows by a clock that only goes forward, so that setting the machine's clock back freezes none. */
export function createMemoryWindows(clock: () => number = () => performance.now()): CallWindows {
  const windows = new Map<string, Window>();
  let sweptAtSecond = 0;

  function sweep(second: number): void {
    if (second - sweptAtSecond < SWEEP_SECONDS) return;
    sweptAtSecond = second;
    for (const [id, { emptyAtSecond }] of windows) if (emptyAtSecond < second) windows.delete(id);
  }

  return {
    take(requests) {
      const nowMs = clock();
      const second = Math.floor(nowMs / 1000);
      sweep(second);
      const taken = requests.map((request) => {
        const found = takeFrom(windows.get(request.id)?.counts ?? [], request, nowMs);
        windows.set(request.id, { counts: found.counts, emptyAtSecond: second + request.spanSeconds });
        return found;
      });
      return Promise.resolve(taken);
    },
    close: () => Promise.resolve(),
  };
}
