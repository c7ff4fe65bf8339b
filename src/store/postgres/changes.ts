// Listens to PostgreSQL for changes of keys and profiles by other processes, and for host speeds. Messages are only hints:
// polling finds changes while the connection is down, and every reconnect counts as a change.

import type pg from "pg";
import { sqlitePathOf } from "../../core/db.ts";

/** A subscription that reconnects until it is closed. */
export interface ChangeListener {
  close(): Promise<void>;
}

export interface ChangesOptions {
  /** Called when keys, profiles or configuration may have changed. */
  readonly onChange: () => void;
  /** Called with host speeds of another process. */
  readonly onSpeeds?: (text: string) => void;
  /** Called once when the connection is lost or cannot be opened. It is retried until it is back. */
  readonly onLost: (error: Error) => void;
}

const NO_CHANGES: ChangeListener = { close: () => Promise.resolve() };

/** Watches for changes. On SQLite no other process makes any. */
export async function listenForChanges(database: string, options: ChangesOptions): Promise<ChangeListener> {
  if (sqlitePathOf(database) !== null) return NO_CHANGES;
  // Loaded only if configured: the client takes a tenth of a second at every start.
  const { default: client } = await import("pg");
  return listen(client.Client, database, options);
}

/** Channel that the triggers of the key and profile tables notify. */
const CHANNEL = "switchyard_access";
/** Channel that processes notify themselves. */
export const SPEEDS_CHANNEL = "switchyard_speeds";
/** Time after which a silent server counts as away. */
const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 1_000;

/** Starts to listen and returns at once. A server that is away is retried. */
function listen(Client: typeof pg.Client, url: string, { onChange, onSpeeds, onLost }: ChangesOptions): ChangeListener {
  let current: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isLost = false;

  const lose = (client: pg.Client, error: Error): void => {
    if (client !== current || isClosed) return;
    current = null;
    if (!isLost) onLost(error);
    isLost = true;
    throwAway(client);
    timer = setTimeout(open, RETRY_MS).unref();
  };
  const open = (): void => {
    const client = new Client({
      connectionString: url,
      application_name: "switchyard listens",
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
    });
    current = client;
    client.on("error", (error) => lose(client, error));
    client.on("end", () => lose(client, new Error("the connection ended")));
    client.on("notification", ({ channel, payload = "" }) => {
      if (channel === SPEEDS_CHANNEL) onSpeeds?.(payload);
      else onChange();
    });
    client
      .connect()
      .then(() => client.query(`LISTEN ${CHANNEL}; LISTEN ${SPEEDS_CHANNEL}`))
      .then(() => {
        isLost = false;
        // Notifications during the outage are lost.
        onChange();
      })
      .catch((error: Error) => lose(client, error));
  };

  open();
  return {
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      if (current !== null) throwAway(current);
    },
  };
}

/** Closes without a goodbye, because a silent server would delay it. */
function throwAway(client: pg.Client): void {
  client.connection.stream.destroy();
}
