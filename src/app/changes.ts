// Changes of keys, profiles and configuration by other processes, and the speeds of hosts that they saw: heard from
// PostgreSQL, or from the primary process.

import type { Log } from "../core/log.ts";
import { type ChangeListener, listenForChanges } from "../store/postgres/changes.ts";
import { ACCESS_CHANGED, HOST_SPEEDS, type WorkerSlot } from "./worker.ts";

interface Hearing {
  readonly onChange: () => void;
  readonly onSpeeds: (text: string) => void;
}

export function hearOfChanges(database: string, hearing: Hearing, log: Log): Promise<ChangeListener> {
  return listenForChanges(database, {
    ...hearing,
    onLost: (err) => log.warn({ event: "keys.notifications_lost", err }, "change notifications lost; polling instead"),
  });
}

/** From the other workers, and from the primary where it listens for all of them. */
export function hearFrom({ link }: WorkerSlot, { onChange, onSpeeds }: Hearing): Promise<ChangeListener> {
  link.on(ACCESS_CHANGED, onChange);
  link.on(HOST_SPEEDS, (text) => onSpeeds(text as string));
  return Promise.resolve({ close: () => Promise.resolve() });
}
