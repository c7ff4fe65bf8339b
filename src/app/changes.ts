// Watches for changes of keys, profiles and configuration by other processes, and for the host speeds that these observed.
// Messages come from PostgreSQL or from the primary process.

import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import { type ChangeListener, listenForChanges } from "../store/postgres/changes.ts";
import type { SharedSpeeds } from "./speeds.ts";
import { ACCESS_CHANGED, HOST_SPEEDS, type WorkerSlot } from "./worker.ts";

interface ChangeListeners {
  readonly onChange: () => void;
  readonly onSpeeds: (text: string) => void;
}

interface Followers {
  readonly people: { nudge(): void };
  readonly configuration: { readonly versions: { nudge(): void } };
  readonly speeds: SharedSpeeds;
  readonly log: Log;
  readonly worker: WorkerSlot | null;
}

/** Watches for changes by other processes. A worker gets changes from the primary, which listens for all workers. */
export function followChanges({ database }: Pick<Settings, "database">, parts: Followers): Promise<ChangeListener> {
  const { people, configuration, speeds, log, worker } = parts;
  const onChange = (): void => {
    people.nudge();
    configuration.versions.nudge();
  };
  const listeners = { onChange, onSpeeds: speeds.receive };
  return worker === null ? watchDatabase(database, listeners, log) : watchPrimary(worker, listeners);
}

export function watchDatabase(database: string, listeners: ChangeListeners, log: Log): Promise<ChangeListener> {
  return listenForChanges(database, {
    ...listeners,
    onLost: (err) => log.warn({ event: "keys.notifications_lost", err }, "change notifications lost; polling instead"),
  });
}

/** Watches for changes by other workers, and for PostgreSQL messages that the primary process passes on. */
function watchPrimary({ link }: WorkerSlot, { onChange, onSpeeds }: ChangeListeners): Promise<ChangeListener> {
  link.on(ACCESS_CHANGED, onChange);
  link.on(HOST_SPEEDS, (text) => onSpeeds(text as string));
  return Promise.resolve({ close: () => Promise.resolve() });
}
