// Limits log lines that repeat: so many of one event are written in each window, and one line then says how many were not.
// A fault that happens a thousand times a second must neither fill a disk nor hide other lines.

import type { LogEvent } from "../core/events.ts";

export interface Repeats {
  /** Counts a line of the event, and tells whether it is written. */
  allows(event: LogEvent): boolean;
  /** Reports what was left out so far, and begins another window. */
  close(): void;
}

const WINDOW_MS = 10_000;
const LINES_MAX = 100;

/** Operators count requests by this line, so every one is written. */
const UNLIMITED: LogEvent = "request.completed";

export function createRepeats(report: (event: LogEvent, leftOut: number) => void): Repeats {
  const counts = new Map<LogEvent, number>();
  let endsAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [event, count] of counts) if (count > LINES_MAX) report(event, count - LINES_MAX);
    counts.clear();
  };
  return {
    allows(event) {
      if (event === UNLIMITED) return true;
      const nowMs = performance.now();
      if (nowMs >= endsAtMs) {
        close();
        endsAtMs = nowMs + WINDOW_MS;
      }
      const count = (counts.get(event) ?? 0) + 1;
      counts.set(event, count);
      if (count > LINES_MAX) timer ??= setTimeout(close, WINDOW_MS).unref();
      return count <= LINES_MAX;
    },
    close,
  };
}
