// Deletes what is older than it may be, a few rows at a time, so that nobody waits for it: request records, stored
// responses, files, and the audit log.

import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "../core/log.ts";

/** Old records may stay a few minutes longer; deleting them must not be noticed. */
const EVERY_MS = 10 * 60 * 1000;
const FIRST_MS = 5_000;
/** Few rows at a time with a pause between, so that writes get their turn. */
const STEP_ROWS = 500;
const STEP_PAUSE_MS = 50;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Written out, so that each name of an event is found where it is logged. */
const EVENTS = {
  records: { done: "records.pruned", failed: "records.prune_failed" },
  audit: { done: "audit.pruned", failed: "audit.prune_failed" },
  responses: { done: "responses.pruned", failed: "responses.prune_failed" },
  files: { done: "files.pruned", failed: "files.prune_failed" },
} as const;

export interface RetentionOptions {
  readonly subject: keyof typeof EVENTS;
  readonly store: {
    /** Deletes at most `limit` rows that are older than this, and says how many it deleted. */
    deleteBefore(cutoffMs: number, limit: number): Promise<number>;
  };
  /** Read for every round, because it can change at run time. */
  readonly days: () => number;
  readonly now: () => number;
  readonly log: Log;
}

/** Runs by itself once it is started. */
export interface Retention {
  /** One round: until nothing is too old, or until stopped. */
  sweep(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

export function createRetention({ subject, store, days, now, log }: RetentionOptions): Retention {
  const timers: NodeJS.Timeout[] = [];
  let isStopped = false;
  let running: Promise<number> | null = null;

  async function deleteAll(): Promise<number> {
    const keptDays = days();
    let deleted = 0;
    for (let step = STEP_ROWS; step === STEP_ROWS && !isStopped; ) {
      step = await store.deleteBefore(now() - keptDays * DAY_MS, STEP_ROWS);
      deleted += step;
      if (step === STEP_ROWS) await wait(STEP_PAUSE_MS);
    }
    if (deleted > 0)
      log.info({ event: EVENTS[subject].done, [subject]: deleted, days: keptDays }, `deleted old ${subject}`);
    return deleted;
  }
  async function sweep(): Promise<number> {
    running ??= deleteAll().finally(() => {
      running = null;
    });
    return running;
  }
  const quietly = (): void => {
    sweep().catch((error) =>
      log.warn({ event: EVENTS[subject].failed, err: error }, `old ${subject} could not be deleted; retrying later`),
    );
  };

  return {
    sweep,
    start() {
      timers.push(setTimeout(quietly, FIRST_MS).unref(), setInterval(quietly, EVERY_MS).unref());
    },
    async stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      await running?.catch(() => undefined);
    },
  };
}
