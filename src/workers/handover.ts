// Connections on their way from the primary process to a worker. Node keeps its end of one open until the worker has said
// that it took it, and forgets it when the worker dies first. Here it goes to another worker then.

import type { ChildProcess } from "node:child_process";

/** Node's message that hands a connection over; all of it is Node's own business but for the number. */
interface NewConnection {
  readonly act: "newconn";
  readonly seq: number;
}

/** What Node says when it was taken, or was not because the worker closes. */
interface WorkerReply {
  readonly ack?: number;
}

/** An accepted connection that nobody reads from yet. */
interface HandedConnection {
  close(): void;
}

interface Pending {
  readonly message: NewConnection;
  readonly connection: HandedConnection;
}

type Send = (message: unknown, connection?: unknown, ...rest: readonly unknown[]) => boolean;

export interface Handover {
  /** Before the worker gets its first connection. */
  watch(worker: ChildProcess): void;
  /** The worker has ended: what it did not take goes to others, or is closed where there are none. */
  moveAll(worker: ChildProcess): void;
}

export function createHandover(): Handover {
  const workers = new Map<ChildProcess, Map<number, Pending>>();
  /** Below zero: Node counts its own upwards. */
  let lastSeq = 0;

  function passOn({ message, connection }: Pending): void {
    const next = [...workers.keys()].find((worker) => worker.connected);
    lastSeq -= 1;
    if (next === undefined) connection.close();
    else (next.send as Send)({ ...message, seq: lastSeq }, connection);
  }

  return {
    watch(worker) {
      const pending = new Map<number, Pending>();
      workers.set(worker, pending);
      const send = worker.send.bind(worker) as Send;
      const watched: Send = (message, connection, ...rest) => {
        if (isNewConnection(message)) pending.set(message.seq, { message, connection: connection as HandedConnection });
        return send(message, connection, ...rest);
      };
      worker.send = watched as ChildProcess["send"];
      worker.on("internalMessage" as "message", (reply: unknown) => {
        const { ack } = reply as WorkerReply;
        const found = ack === undefined ? undefined : pending.get(ack);
        if (ack === undefined || found === undefined) return;
        pending.delete(ack);
        // Our end of what was passed on: taken or not, it is of no more use. Of all others Node takes care.
        if (ack < 0) found.connection.close();
      });
    },
    moveAll(worker) {
      const pending = workers.get(worker);
      workers.delete(worker);
      for (const one of pending?.values() ?? []) passOn(one);
    },
  };
}

function isNewConnection(message: unknown): message is NewConnection {
  return (message as NewConnection | null)?.act === "newconn";
}
