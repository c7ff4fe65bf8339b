// Upkeep of stored state: stops cancelled responses, fails those of dead processes, and keeps accounts within their size.

import type { Log } from "../../core/log.ts";
import type { ResponseUpkeepStore } from "../../core/responses/stored.ts";
import type { BackgroundRuns } from "./background.ts";

/** The interval at which cancellations by other processes are looked for. */
const CANCEL_MS = 1_000;
/** The interval at which responses of dead processes are failed. */
const ABANDONED_MS = 5_000;
const SIZE_MS = 10 * 60 * 1000;
/** An account is measured each time it has stored another such part of what it may have. */
const PARTS_MEASURED = 16;

export interface StateUpkeepOptions {
  readonly store: ResponseUpkeepStore;
  readonly runs: BackgroundRuns;
  readonly bytesPerAccount: () => number;
  readonly log: Log;
}

export interface StateUpkeep {
  start(): Promise<void>;
  stop(): void;
  /** Between two measurements an account is over its limit by a part of it at most, for each process. */
  noteStored(accountId: string, bytes: number): void;
}

export function createStateUpkeep(options: StateUpkeepOptions): StateUpkeep {
  const { store, runs, bytesPerAccount, log } = options;
  const timers: NodeJS.Timeout[] = [];
  const storedSince = new Map<string, number>();
  const warn = (error: unknown): void =>
    log.warn({ event: "responses.upkeep_failed", err: error }, "upkeep of stored responses failed; retrying");

  async function stopCancelled(): Promise<void> {
    const running = runs.all();
    if (running.length === 0) return;
    const stopped = new Set(await store.stopped(running.map(({ name }) => name)));
    for (const { name, cancellation } of running) if (stopped.has(name)) cancellation.abort();
  }

  async function failAbandoned(): Promise<void> {
    const failed = await store.failAbandoned();
    if (failed > 0)
      log.warn({ event: "responses.abandoned", responses: failed }, "background responses of a dead process failed");
  }

  async function trim(accountId: string): Promise<void> {
    const deleted = await store.trim(accountId, bytesPerAccount());
    if (deleted > 0)
      log.info({ event: "responses.trimmed", accountId, deleted }, "deleted the oldest responses of a full account");
  }

  async function trimAll(): Promise<void> {
    for (const accountId of await store.oversized(bytesPerAccount())) await trim(accountId);
  }

  return {
    async start() {
      // The gateway serves without stored contents, too.
      await failAbandoned().catch(warn);
      const jobs = [every(CANCEL_MS, stopCancelled, warn), every(ABANDONED_MS, failAbandoned, warn)];
      timers.push(...jobs, every(SIZE_MS, trimAll, warn));
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
    noteStored(accountId, bytes) {
      const since = (storedSince.get(accountId) ?? 0) + bytes;
      const isDue = since >= bytesPerAccount() / PARTS_MEASURED;
      if (isDue) {
        storedSince.delete(accountId);
        trim(accountId).catch(warn);
      } else storedSince.set(accountId, since);
    },
  };
}

/** One round at a time: a slow database does not collect them. */
function every(ms: number, work: () => Promise<void>, onError: (error: unknown) => void): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onError)
      .finally(() => {
        isRunning = false;
      });
  }, ms).unref();
}
