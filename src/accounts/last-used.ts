// Last-used times of keys: gathered in memory and written in batches, never once per request. Behaviour 3.

import type { KeyRecord, KeyStore } from "../core/keys.ts";
import type { Log } from "../core/log.ts";

export interface LastUsed {
  note(id: string, atMs: number): void;
  /** The record with the newer of the stored and the gathered time. */
  overlay(key: KeyRecord): KeyRecord;
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export function createLastUsed(options: {
  readonly store: KeyStore;
  readonly log: Log;
  readonly flushMs: number;
}): LastUsed {
  const { store, log, flushMs } = options;
  const gathered = new Map<string, number>();
  let flushing: ReadonlyMap<string, number> = new Map();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  const write = async (): Promise<void> => {
    flushing = new Map(gathered);
    gathered.clear();
    try {
      await store.touch(flushing);
    } catch (error) {
      // Kept for the next flush, unless the key was used again meanwhile.
      for (const [id, atMs] of flushing) if (!gathered.has(id)) gathered.set(id, atMs);
      log.warn({ event: "keys.last_used_failed", err: error }, "last-used times could not be written; retrying later");
    } finally {
      flushing = new Map();
      running = null;
    }
  };
  const flush = async (): Promise<void> => {
    if (running !== null) await running;
    if (gathered.size === 0) return;
    running ??= write();
    await running;
  };

  return {
    note: (id, atMs) => void gathered.set(id, atMs),
    overlay: (key) => {
      const atMs = Math.max(key.lastUsedAtMs ?? 0, gathered.get(key.id) ?? 0, flushing.get(key.id) ?? 0);
      return atMs === 0 ? key : { ...key, lastUsedAtMs: atMs };
    },
    flush,
    start: () => {
      timer ??= setInterval(() => void flush(), flushMs).unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await flush();
    },
  };
}
