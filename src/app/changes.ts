// Watches for changes of keys, profiles and configuration by other processes, and for the host speeds that these observed.
// Messages come from PostgreSQL or from the primary process.

import type { Log } from "../core/log.ts";
import { type ChangeListener, listenForChanges } from "../store/postgres/changes.ts";
import { ACCESS_CHANGED, HOST_SPEEDS, type WorkerSlot } from "./worker.ts";

interface ChangeListeners {
  readonly onChange: () => void;
  readonly onSpeeds: (text: string) => void;
}

export function watchDatabase(database: string, listeners: ChangeListeners, log: Log): Promise<ChangeListener> {
  return listenForChanges(database, {
    ...listeners,
    onLost: (err) => log.warn({ event: "keys.notifications_lost", err }, "change notifications lost; polling instead"),
  });
}

/** Watches for changes by other workers, and for PostgreSQL messages that the primary process passes on. */
export function watchPrimary({ link }: WorkerSlot, { onChange, onSpeeds }: ChangeListeners): Promise<ChangeListener> {
  link.on(ACCESS_CHANGED, onChange);
  link.on(HOST_SPEEDS, (text) => onSpeeds(text as string));
  return Promise.resolve({ close: () => Promise.resolve() });
}
