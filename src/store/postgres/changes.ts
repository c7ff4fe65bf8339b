// Listens to PostgreSQL for changes of keys and profiles by other processes. This is only a hint: polling finds what is
// missed while the connection is down, and every reconnect counts as a change. Speeds of hosts come the same way.

import type pg from "pg";
import { sqlitePathOf } from "../../core/db.ts";

/** A subscription that reconnects until it is closed. */
export interface ChangeListener {
  close(): Promise<void>;
}

export interface ChangesOptions {
  /** Something may have changed. */
  readonly onChange: () => void;
  /** Another process says how fast hosts answered. */
  readonly onSpeeds?: (text: string) => void;
  /** The connection is lost or cannot be opened, and is tried again. Called once until it is back. */
  readonly onLost: (error: Error) => void;
}

const NO_CHANGES: ChangeListener = { close: () => Promise.resolve() };

/** A SQLite file has one process, so nobody else changes anything. */
export async function listenForChanges(database: string, options: ChangesOptions): Promise<ChangeListener> {
  if (sqlitePathOf(database) !== null) return NO_CHANGES;
  // Loaded only where it is used: the client costs a tenth of a second at every start.
  const { default: client } = await import("pg");
  return listen(client.Client, database, options);
}

/** The triggers of the key and profile tables notify this channel. */
const CHANNEL = "switchyard_access";
/** Processes notify this one themselves. */
export const SPEEDS_CHANNEL = "switchyard_speeds";
/** A server that does not answer in this time counts as away. */
const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 1_000;

/** Returns at once; a server that is away now is tried again. */
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
        // Notifications of the meantime were sent to nobody.
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

/** Without a goodbye: a server that does not answer would keep us waiting for one. */
function throwAway(client: pg.Client): void {
  client.connection.stream.destroy();
}
