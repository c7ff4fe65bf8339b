// Response times as the server sees them, by status: from the request's headers to the end of the response. Delays of the
// client and of the system's buffers are not in them.

import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Summary, summarize } from "../harness/statistics.ts";

export interface ResponseTimes {
  /** In milliseconds. */
  readonly accepted: Summary;
  readonly shed: Summary;
  /** The longest time in which the process did not look at its timers. */
  readonly longestTurnMs: number;
}

export type ResponseTimesWork = {
  /** Times since the last call. The first call starts the measurement. */
  takeResponseTimes(input: null): ResponseTimes;
};

/** Time between two checks of the event loop. */
const TICK_MS = 20;

export function createResponseTimes(): ResponseTimesWork {
  const begunAtMs = new WeakMap<IncomingMessage, number>();
  let acceptedMs: number[] = [];
  let shedMs: number[] = [];
  let longestTurnMs = 0;
  let isWatching = false;
  // Only on request: its cost must not be part of the other benchmarks.
  function watch(): void {
    isWatching = true;
    subscribe("http.server.request.start", (message) => {
      begunAtMs.set((message as { request: IncomingMessage }).request, performance.now());
    });
    subscribe("http.server.response.finish", (message) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      const tookMs = performance.now() - (begunAtMs.get(request) ?? Number.NaN);
      if (response.statusCode === 200) acceptedMs.push(tookMs);
      else if (response.statusCode === 503) shedMs.push(tookMs);
    });
    let tickedAtMs = performance.now();
    setInterval(() => {
      const atMs = performance.now();
      longestTurnMs = Math.max(longestTurnMs, atMs - tickedAtMs - TICK_MS);
      tickedAtMs = atMs;
    }, TICK_MS).unref();
  }
  return {
    takeResponseTimes() {
      if (!isWatching) watch();
      const times = { accepted: summarize(acceptedMs), shed: summarize(shedMs), longestTurnMs };
      acceptedMs = [];
      shedMs = [];
      longestTurnMs = 0;
      return times;
    },
  };
}
