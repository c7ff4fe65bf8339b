// The live request log: watchers of an account learn of each request that this process has written, and that other
// processes have written some. Keeps nothing, and asks the store only while somebody watches.

import type { Log } from "../core/log.ts";
import type { RequestSummary } from "../core/requests/fields.ts";
import type { RequestLog } from "../core/requests/log.ts";
import type { WrittenRecord } from "../core/requests/waiting.ts";

interface Watcher {
  readonly accountId: string;
  /** A request was written; it can be read. */
  onRequest(line: RequestSummary): void;
  /** Another process has written requests of the account. */
  onOthers(): void;
}

/** The live log: the recorder tells it, watchers receive it. */
export interface Tail {
  tell(records: readonly WrittenRecord[]): void;
  /** Returns what ends it. */
  watch(watcher: Watcher): () => void;
  /** Counts the viewers. */
  count(): number;
  /** True if somebody watches, perhaps in another process. */
  isWatched(): boolean;
  close(): void;
}

export interface TailOptions {
  readonly requests: Pick<RequestLog, "histogram">;
  /** True if other processes may write to the store. */
  readonly isShared: boolean;
  readonly now: () => number;
  readonly log: Log;
  readonly everyMs?: number;
}

/** Pause between two looks for records of other processes, while somebody watches. */
const EVERY_MS = 2_000;
const HOUR_MS = 3_600_000;

export function createTail({ requests, isShared, now, log, everyMs = EVERY_MS }: TailOptions): Tail {
  const watchers = new Set<Watcher>();
  /** By account: what the counters said last, and how many of that are known to be our own. */
  const known = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let isAsking = false;

  async function ask(accountId: string): Promise<void> {
    const counted = await countLately(requests, accountId, now());
    const before = known.get(accountId);
    known.set(accountId, counted);
    if (before === undefined || counted <= before) return;
    for (const watcher of watchers) if (watcher.accountId === accountId) watcher.onOthers();
  }
  async function askAll(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    try {
      for (const accountId of new Set([...watchers].map((watcher) => watcher.accountId))) await ask(accountId);
    } catch (error) {
      log.debug({ event: "live_log.poll_failed", err: error }, "live log could not poll other processes' requests");
    } finally {
      isAsking = false;
    }
  }
  function end(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
    known.clear();
  }

  return {
    tell(records) {
      if (watchers.size === 0) return;
      for (const { accountId, summary } of records) {
        const counted = known.get(accountId);
        if (counted !== undefined) known.set(accountId, counted + 1);
        for (const watcher of watchers) if (watcher.accountId === accountId) watcher.onRequest(summary);
      }
    },
    watch(watcher) {
      watchers.add(watcher);
      if (isShared) timer ??= setInterval(() => void askAll(), everyMs).unref();
      // The next look is compared with this one.
      if (isShared) void askAll();
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) end();
      };
    },
    count: () => watchers.size,
    isWatched: () => watchers.size > 0,
    close() {
      watchers.clear();
      end();
    },
  };
}

/** Requests of this hour and the two around it. The counters know them by hour. */
async function countLately(log: TailOptions["requests"], accountId: string, nowMs: number): Promise<number> {
  const span = { fromMs: nowMs - HOUR_MS, toMs: nowMs + HOUR_MS, step: "hour" as const };
  const { bars } = await log.histogram({ accountId }, span);
  return bars.reduce((sum, { requests }) => sum + requests, 0);
}
