// How long a server took from the moment it had read a request's headers to the end of its answer, by status: what a
// client sees without the time that the client itself, or the system's buffers, took.

import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Summary, summarize } from "../statistics.ts";

export interface AnswerTimes {
  /** In milliseconds. */
  readonly accepted: Summary;
  readonly shed: Summary;
  /** How long the process went without looking at its timers. */
  readonly longestTurnMs: number;
}

export type AnswerTimesWork = {
  /** What has been seen since the last time; the first call begins it. */
  takeAnswerTimes(input: null): AnswerTimes;
};

const TICK_MS = 20;

export function createAnswerTimes(): AnswerTimesWork {
  const begunAtMs = new WeakMap<IncomingMessage, number>();
  let acceptedMs: number[] = [];
  let shedMs: number[] = [];
  let longestTurnMs = 0;
  let isWatching = false;
  // Not before somebody asks: what it costs is no part of the other benchmarks.
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
    takeAnswerTimes() {
      if (!isWatching) watch();
      const times = { accepted: summarize(acceptedMs), shed: summarize(shedMs), longestTurnMs };
      acceptedMs = [];
      shedMs = [];
      longestTurnMs = 0;
      return times;
    },
  };
}
