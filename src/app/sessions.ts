// Wiring of routing sessions: their memory, their table, and the news between workers.

import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { SessionTurn } from "../core/session.ts";
import { createSessionKeeper } from "../gateway/sessions/keeper.ts";
import { createSessionMemory } from "../gateway/sessions/memory.ts";
import { createSessions, type RoutingSessions } from "../gateway/sessions/sessions.ts";
import { createSessionStore } from "../store/session-turns.ts";
import { hasDuties, type WorkerSlot } from "./worker.ts";

interface SessionsContext {
  readonly settings: Pick<Settings, "routing">;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

/** As JSON: every worker reads those of all others, and objects would cost it five times as much. */
const SESSION_TURNS = "session-turns";
const MINUTE_MS = 60_000;
/** Tool loops are remembered even where sessions are off. */
const LOOP_MINUTES = 60;

/** Started; `close` writes what waits. */
export async function openSessions(
  db: Db,
  { settings, log, now, worker }: SessionsContext,
): Promise<RoutingSessions & { close(): Promise<void> }> {
  const { sessionMinutes } = settings.routing;
  const isOn = sessionMinutes > 0;
  const idleMs = (isOn ? sessionMinutes : LOOP_MINUTES) * MINUTE_MS;
  const memory = createSessionMemory(idleMs, now);
  const keeper = createSessionKeeper({
    store: createSessionStore(db),
    learn: memory.learn,
    idleMs,
    isShared: db.kind === "postgres",
    hasDuties: hasDuties(worker),
    now,
    log,
  });
  worker?.link.on(SESSION_TURNS, (turns) => {
    for (const turn of JSON.parse(turns as string) as readonly SessionTurn[]) memory.learn(turn);
  });
  await keeper.start();
  const tell =
    worker === null ? null : createTeller((turns) => worker.link.publish(SESSION_TURNS, JSON.stringify(turns)));
  const share = (turn: SessionTurn): void => {
    keeper.keep(turn);
    tell?.(turn);
  };
  return { ...createSessions({ memory, isOn, now, share }), close: keeper.stop };
}

/** Every worker reads what each one tells, so many turns go together. */
const TELL_MS = 50;

/** At once where the last was told a while ago. Otherwise those of a moment together. */
export function createTeller(tellAll: (turns: readonly SessionTurn[]) => void): (turn: SessionTurn) => void {
  let waiting: SessionTurn[] | null = null;
  const end = (): void => {
    const turns = waiting ?? [];
    waiting = null;
    if (turns.length > 0) begin(turns);
  };
  const begin = (turns: readonly SessionTurn[]): void => {
    waiting = [];
    setTimeout(end, TELL_MS).unref();
    tellAll(turns);
  };
  return (turn) => {
    if (waiting === null) begin([turn]);
    else waiting.push(turn);
  };
}
