// Wiring of routing sessions: their memory, their table, and the news between workers.

import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { SessionTurn } from "../core/session.ts";
import { createSessionKeeper } from "../gateway/sessions/keeper.ts";
import { createSessionMemory } from "../gateway/sessions/memory.ts";
import { createSessions, type RoutingSessions } from "../gateway/sessions/sessions.ts";
import { createSessionStore } from "../store/session-turns.ts";
import { hasDuties, type WorkerPlace } from "./worker.ts";

interface SessionsContext {
  readonly settings: Pick<Settings, "routing">;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerPlace | null;
}

const SESSION_TURN = "session-turn";
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
  worker?.link.on(SESSION_TURN, (turn) => memory.learn(turn as SessionTurn));
  await keeper.start();
  const share = (turn: SessionTurn): void => {
    keeper.keep(turn);
    worker?.link.publish(SESSION_TURN, turn);
  };
  return { ...createSessions({ memory, isOn, now, share }), close: keeper.stop };
}
