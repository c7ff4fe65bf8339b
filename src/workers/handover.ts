// Hands connections from the primary process to workers, and changes two things that Node's cluster module does. Node
// loses a connection whose worker dies before it takes it: here another worker gets it. Node closes the port when the
// last worker ends: here connections wait until another worker listens. Node chooses the worker of a connection, and
// `Turns` decides when it gets it, so that no worker gets many more than the others.

import type { ChildProcess } from "node:child_process";
import { type TakingWorker, Turns } from "./turns.ts";

/** Node's message that hands a connection over. Only its number matters here. */
interface NewConnection {
  readonly act: "newconn";
  readonly seq: number;
}

/** Acknowledges the connection with this number, taken or refused because the worker is closing. */
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

type Emit = (event: string, ...values: readonly unknown[]) => boolean;
type Send = (message: unknown, connection?: unknown, ...rest: readonly unknown[]) => boolean;

export interface Handover {
  /** Before the worker gets its first connection. */
  watch(worker: ChildProcess): void;
  /** The worker takes connections from now on. */
  join(worker: ChildProcess): void;
  /** All workers have been started, and the first one serves: connections are handed over from now on. */
  begin(): void;
  /** The port closes with the last worker from now on. */
  retire(): void;
}

interface WatchedWorker extends TakingWorker {
  /** For the worker and not taken yet. */
  readonly pending: Map<number, Pending>;
  /** Whether it takes connections. */
  hasJoined: boolean;
  /** The end of the last worker, as far as Node has not been told of it. Null while the worker lives. */
  held: (() => void)[] | null;
}

export function createHandover(): Handover {
  const workers = new Map<ChildProcess, WatchedWorker>();
  const joined = (): readonly WatchedWorker[] => [...workers.values()].filter(({ hasJoined }) => hasJoined);
  const turns = new Turns(joined);
  /** Below zero: Node counts its own upwards. */
  let lastSeq = 0;
  let isRetired = false;

  function passOn({ message, connection }: Pending): void {
    const next = [...workers].find(([, { hasJoined }]) => hasJoined);
    lastSeq -= 1;
    if (next === undefined) connection.close();
    else (next[0].send as Send)({ ...message, seq: lastSeq }, connection);
  }

  const isLast = (watched: WatchedWorker): boolean => !isRetired && watched.hasJoined && joined().length === 1;

  function release(): void {
    for (const { held } of [...workers.values()]) for (const tell of held?.splice(0) ?? []) tell();
  }

  return {
    watch(worker) {
      const watched: WatchedWorker = { pending: new Map(), given: 0, hasJoined: false, held: null };
      workers.set(worker, watched);
      turns.expect(watched);
      notePending(worker, watched, turns);
      holdEnd(worker, watched, {
        isLast: () => isLast(watched),
        onEnd() {
          workers.delete(worker);
          const untaken = [...watched.pending.values()];
          watched.pending.clear();
          untaken.forEach(passOn);
          turns.noteEnded(watched);
        },
      });
    },
    join(worker) {
      const watched = workers.get(worker);
      if (watched === undefined) return;
      watched.hasJoined = true;
      release();
      turns.noteJoined(watched);
    },
    begin: () => turns.begin(),
    retire() {
      isRetired = true;
      turns.open();
      release();
    },
  };
}

/** Notes what Node sends to the worker until it is taken, and sends it when it is the worker's turn. */
function notePending(worker: ChildProcess, watched: WatchedWorker, turns: Turns): void {
  const { pending } = watched;
  const send = worker.send.bind(worker) as Send;
  const sendAlive: Send = (...sent) => (watched.held === null ? send(...sent) : true);
  const noted: Send = (message, connection, ...rest) => {
    if (!isNewConnection(message)) return sendAlive(message, connection, ...rest);
    pending.set(message.seq, { message, connection: connection as HandedConnection });
    turns.wait(watched, () => {
      if (pending.has(message.seq)) sendAlive(message, connection, ...rest);
    });
    return true;
  };
  worker.send = noted as ChildProcess["send"];
  worker.on("internalMessage" as "message", (reply: unknown) => {
    const { ack } = reply as WorkerReply;
    const found = ack === undefined ? undefined : pending.get(ack);
    if (ack === undefined || found === undefined) return;
    pending.delete(ack);
    turns.handOut();
    // Nobody needs our end of a connection that was passed on. Node closes its end of all others.
    if (ack < 0) found.connection.close();
  });
}

interface EndOptions {
  isLast(): boolean;
  onEnd(): void;
}

/** Holds back the events that tell Node of the last worker's end, until they are released. */
function holdEnd(worker: ChildProcess, watched: WatchedWorker, { isLast, onEnd }: EndOptions): void {
  const emit = worker.emit.bind(worker) as Emit;
  const setConnected = (connected: boolean): void => void Object.assign(worker, { connected });
  const tell = (event: string, values: readonly unknown[]): void => {
    watched.hasJoined = false;
    emit(event, ...values);
    if (event === "exit") onEnd();
  };
  const emitOrHold: Emit = (event, ...values) => {
    if (event !== "disconnect" && event !== "exit") return emit(event, ...values);
    if (!isLast()) {
      tell(event, values);
      return true;
    }
    // Node sends connections only to a process that is connected. What it sends from now on is pending, and passed on later.
    setConnected(true);
    watched.held ??= [];
    watched.held.push(() => {
      setConnected(false);
      tell(event, values);
    });
    return true;
  };
  worker.emit = emitOrHold as ChildProcess["emit"];
}

function isNewConnection(message: unknown): message is NewConnection {
  return (message as NewConnection | null)?.act === "newconn";
}
