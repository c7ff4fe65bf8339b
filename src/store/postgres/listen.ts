// One PostgreSQL connection of its own that listens on a channel, and is made anew for as long as it is wanted.

import pg from "pg";
import type { Changes, ChangesOptions } from "./changes.ts";

export interface ListenOptions extends ChangesOptions {
  readonly channel: string;
}

const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 1_000;

/** Resolves at once; a server that is away now is tried again. */
export function listen(url: string, options: ListenOptions): Changes {
  const { onChange, onLost, channel } = options;
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
    const client = new pg.Client({
      connectionString: url,
      application_name: "switchyard listens",
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
    });
    current = client;
    client.on("error", (error) => lose(client, error));
    client.on("end", () => lose(client, new Error("the connection ended")));
    client.on("notification", onChange);
    client
      .connect()
      .then(() => client.query(`LISTEN ${channel}`))
      .then(() => {
        isLost = false;
        // What was told in the meantime was told to nobody.
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

/** Without a farewell: a server that does not answer would keep us waiting for one. */
function throwAway(client: pg.Client): void {
  client.connection.stream.destroy();
}
