// Hears from PostgreSQL when another process has changed a key or a profile. Only a hint: what is missed while the
// connection is gone is found by polling, and whoever listens looks once more after every reconnect.

export interface Changes {
  close(): Promise<void>;
}

export interface ChangesOptions {
  /** Something may have changed. */
  readonly onChange: () => void;
  /** The connection is gone or cannot be had; it is tried again. Told once until it is back. */
  readonly onLost: (error: Error) => void;
}

const NO_CHANGES: Changes = { close: () => Promise.resolve() };

export async function listenForChanges(database: string, options: ChangesOptions): Promise<Changes> {
  if (database.startsWith("sqlite:")) return NO_CHANGES;
  const { listen } = await import("./listen.ts");
  return listen(database, { ...options, channel: "switchyard_access" });
}
