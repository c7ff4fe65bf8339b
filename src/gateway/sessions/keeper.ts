// Keeps turns of sessions beyond this process: told to the other workers, written in batches off the request's path, read at
// the start and, where several gateways share a database, every few seconds. A request never waits for it.

import type { Log } from "../../core/log.ts";
import { type SessionTurn, type TurnStore, turnKey } from "../../core/session.ts";

export interface SessionKeeper {
  /** To be written with the next batch. */
  keep(turn: SessionTurn): void;
  /** Reads what is known, then runs by itself. */
  start(): Promise<void>;
  /** Writes what waits. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly store: TurnStore;
  readonly learn: (turn: SessionTurn) => void;
  /** A session that was silent for so long is over. */
  readonly idleMs: () => number;
  /** True when other gateways write to the same database. */
  readonly isShared: boolean;
  /** True when this process deletes old turns for all of them. */
  readonly hasDuties: boolean;
  readonly now: () => number;
  readonly log: Log;
}

const FLUSH_MS = 1_000;
const READ_EVERY = 2;
const DELETE_EVERY = 60;
/** Clocks of other machines may be off by this much. */
const CLOCK_SKEW_MS = 5_000;
/** Read at once: as many as are remembered of a busy time. */
const READ_MAX = 10_000;
const DELETE_MAX = 5_000;
/** While the database is away or slow, further turns are let go. */
const WAITING_MAX = 20_000;

export function createSessionKeeper(options: KeeperOptions): SessionKeeper {
  const { store, learn, idleMs, isShared, hasDuties, now, log } = options;
  const { keep, flush } = createWaiting(store, log);
  let readSinceMs = 0;
  let rounds = 0;
  let hasMoreToDelete = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const atMs = now();
    const turns = await store.since(Math.max(readSinceMs, atMs - idleMs()), READ_MAX);
    readSinceMs = atMs - CLOCK_SKEW_MS;
    for (const turn of turns.toReversed()) learn(turn);
  }
  async function round(): Promise<void> {
    rounds += 1;
    await flush();
    try {
      if (isShared && rounds % READ_EVERY === 0) await read();
      if (hasDuties && (hasMoreToDelete || rounds % DELETE_EVERY === 0)) {
        hasMoreToDelete = (await store.deleteBefore(now() - idleMs(), DELETE_MAX)) === DELETE_MAX;
      }
    } catch (err) {
      log.debug({ event: "sessions.store_away", err }, "sessions could not be read");
    }
  }
  const next = (): void => {
    timer = setTimeout(() => {
      running = round().then(() => (timer === null ? undefined : next()));
    }, FLUSH_MS).unref();
  };
  return {
    keep,
    async start() {
      try {
        await read();
      } catch (err) {
        log.warn({ event: "sessions.unread", err }, "sessions of earlier runs could not be read");
      }
      next();
    },
    flush,
    async stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await running;
      await flush();
    },
  };
}

/** Turns that are not written yet, the last of each session and thread. */
function createWaiting(store: KeeperOptions["store"], log: Log): Pick<SessionKeeper, "keep" | "flush"> {
  let waiting = new Map<string, SessionTurn>();
  return {
    keep(turn) {
      if (waiting.size < WAITING_MAX) waiting.set(turnKey(turn), turn);
    },
    async flush() {
      if (waiting.size === 0) return;
      const batch = waiting;
      waiting = new Map();
      try {
        await store.write([...batch.values()]);
      } catch (err) {
        log.debug({ event: "sessions.store_away", err }, "sessions could not be written; they are kept in memory");
        if (batch.size + waiting.size <= WAITING_MAX) waiting = new Map([...batch, ...waiting]);
      }
    },
  };
}

/** Every worker reads the turns of all others, so many travel together. */
const TELL_MS = 50;

/** Tells an item at once if the last was told a while ago. Otherwise collects those of a moment and tells them together. */
export function createTeller<Item = SessionTurn>(
  tellAll: (items: readonly Item[]) => void,
  everyMs = TELL_MS,
): (item: Item) => void {
  let waiting: Item[] | null = null;
  const end = (): void => {
    const items = waiting ?? [];
    waiting = null;
    if (items.length > 0) begin(items);
  };
  const begin = (items: readonly Item[]): void => {
    waiting = [];
    setTimeout(end, everyMs).unref();
    tellAll(items);
  };
  return (item) => {
    if (waiting === null) begin([item]);
    else waiting.push(item);
  };
}
