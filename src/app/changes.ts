// Changes of keys, profiles and configuration by other processes: heard from PostgreSQL, or from the primary process.

import type { Log } from "../core/log.ts";
import { type ChangeListener, listenForChanges } from "../store/postgres/changes.ts";
import { ACCESS_CHANGED, type WorkerSlot } from "./worker.ts";

export function hearOfChanges(database: string, onChange: () => void, log: Log): Promise<ChangeListener> {
  return listenForChanges(database, {
    onChange,
    onLost: (err) => log.warn({ event: "keys.notifications_lost", err }, "change notifications lost; polling instead"),
  });
}

/** From the other workers, and from the primary where it listens for all of them. */
export function hearFrom({ link }: WorkerSlot, onChange: () => void): Promise<ChangeListener> {
  link.on(ACCESS_CHANGED, onChange);
  return Promise.resolve({ close: () => Promise.resolve() });
}
