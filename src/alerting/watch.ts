// Watches every minute for what somebody may want to know, and keeps it as events. Each process looks at its own providers;
// what all processes share is looked at by one of them.

import type { AlertEventStore } from "../core/alerts/events.ts";
import { ALERT_KIND_NAMES, ALERT_KINDS, type Observation } from "../core/alerts/kinds.ts";
import type { Log } from "../core/log.ts";

export interface WatchOptions {
  readonly store: AlertEventStore;
  /** Sources of this process. */
  readonly ownSources: readonly EventSource[];
  /** Sources that every process would see alike. */
  readonly sharedSources: readonly EventSource[];
  readonly log: Log;
  readonly now: () => number;
}

export interface EventSource {
  /** Left out: in every round. */
  readonly everyMs?: number;
  look(nowMs: number): readonly Observation[] | Promise<readonly Observation[]>;
}

export interface Watch {
  /** One round. Never rejects. */
  round(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const ROUND_MS = 60_000;
/** The process that looks at what is shared goes on doing so, unless it misses two rounds. */
const TURN_MS = 2.5 * ROUND_MS;
const KEPT_MS = 90 * 24 * 60 * ROUND_MS;
const TURN = "watch";

export function createWatch(options: WatchOptions): Watch {
  const { store, ownSources, sharedSources, log, now } = options;
  const looked = new Map<EventSource, number>();
  let turnEndsMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  async function hasTurn(nowMs: number): Promise<boolean> {
    const isHolder = nowMs < turnEndsMs;
    const untilMs = nowMs + TURN_MS;
    const isMine = await store.claimTurn(TURN, isHolder ? Number.MAX_SAFE_INTEGER : nowMs, untilMs);
    turnEndsMs = isMine ? untilMs : 0;
    return isMine;
  }

  async function lookOnce(): Promise<void> {
    const nowMs = now();
    try {
      await raise(dueOf(ownSources, looked, nowMs), { ...options, looked, nowMs });
      if (!(await hasTurn(nowMs))) return;
      await raise(dueOf(sharedSources, looked, nowMs), { ...options, looked, nowMs });
      await endOld(options, nowMs);
    } catch (err) {
      log.warn({ event: "alert.watch_failed", err }, "events could not be looked for");
    }
  }

  function round(): Promise<void> {
    running ??= lookOnce().finally(() => {
      running = null;
    });
    return running;
  }

  return {
    round,
    start() {
      timer = setInterval(() => void round(), ROUND_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

function dueOf(sources: readonly EventSource[], looked: ReadonlyMap<EventSource, number>, nowMs: number) {
  return sources.filter((source) => {
    const lastMs = looked.get(source);
    return lastMs === undefined || nowMs >= lastMs + (source.everyMs ?? 0);
  });
}

interface Round extends WatchOptions {
  /** Time of the last good look at each source. */
  readonly looked: Map<EventSource, number>;
  readonly nowMs: number;
}

async function raise(sources: readonly EventSource[], { store, log, looked, nowMs }: Round): Promise<void> {
  for (const source of sources) {
    const raised = await store.raise(await source.look(nowMs), nowMs);
    looked.set(source, nowMs);
    for (const { id, kind, accountId, subject, text } of raised) {
      log.warn({ event: "alert.raised", id, kind, accountId, subject }, text);
    }
  }
}

async function endOld({ store, log }: WatchOptions, nowMs: number): Promise<void> {
  for (const kind of ALERT_KIND_NAMES) {
    const ended = await store.end(kind, nowMs - ALERT_KINDS[kind].endsAfterMs, nowMs);
    if (ended > 0) log.info({ event: "alert.ended", kind, ended }, "what was raised is over");
  }
  await store.deleteBefore(nowMs - KEPT_MS);
}
