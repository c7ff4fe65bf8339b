// Connections on their way from the primary process to a worker. Node keeps its end of one open until the worker has said
// that it took it, and forgets it when the worker dies first. Here it goes to another worker then. Node also closes the
// port when the last worker leaves. Here that one stays listed until another listens, so that connections wait.
//
// Clients keep their connections, so each worker should get as many as the others. Node gives the next one to whichever
// worker is free first: of many that come at once, some got three times as many as others (18 November 2026). Here the one
// that got the fewest takes it. At the start, connections wait for all workers, or the first would get them all.

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

type Emit = (event: string, ...values: readonly unknown[]) => boolean;
type Send = (message: unknown, connection?: unknown, ...rest: readonly unknown[]) => boolean;

export interface Handover {
  /** Before the worker gets its first connection. */
  watch(worker: ChildProcess): void;
  /** The worker takes connections from now on. */
  join(worker: ChildProcess): void;
  /** Connections need not wait for all workers from now on. */
  open(): void;
  /** The port closes with the last worker from now on. */
  retire(): void;
}

/** How long connections wait for another worker. Then the port closes until there is one. */
const HELD_MS_MAX = 10_000;

/** For so many workers. */
export function createHandover(count: number): Handover {
  const workers = new Map<ChildProcess, WatchedWorker>();
  const joined = (): readonly WatchedWorker[] => [...workers.values()].filter(({ hasJoined }) => hasJoined);
  const queue = createQueue(count, joined);
  let isRetired = false;
  let holding: NodeJS.Timeout | undefined;

  const isLast = (watched: WatchedWorker): boolean => !isRetired && watched.hasJoined && joined().length === 1;

  function release(): void {
    clearTimeout(holding);
    for (const { held } of [...workers.values()]) for (const tell of held?.splice(0) ?? []) tell();
  }

  return {
    watch(worker) {
      const send = worker.send.bind(worker) as Send;
      const watched: WatchedWorker = { send, pending: new Map(), given: 0, hasJoined: false, held: null };
      workers.set(worker, watched);
      redirect(worker, watched, queue);
      holdEnd(worker, watched, {
        isLast: () => isLast(watched),
        onHold() {
          holding = setTimeout(release, HELD_MS_MAX).unref();
        },
        onEnd() {
          workers.delete(worker);
          queue.takeBack(watched);
        },
      });
    },
    join(worker) {
      const watched = workers.get(worker);
      if (watched !== undefined) queue.join(watched);
      release();
    },
    open: queue.open,
    retire() {
      isRetired = true;
      queue.open();
      release();
    },
  };
}

interface WatchedWorker {
  /** As Node would. */
  readonly send: Send;
  /** Sent to the worker and not taken yet. */
  readonly pending: Map<number, Pending>;
  /** How many connections it got, and as many as any other had when it joined. */
  given: number;
  /** Whether it takes connections. */
  hasJoined: boolean;
  /** Of the last worker: what Node is yet to be told about its end. Null while it lives. */
  held: (() => void)[] | null;
}

/** Connections in the order in which they came, and who gets the next one. */
interface ConnectionQueue {
  add(one: Pending): void;
  taken(seq: number): void;
  join(worker: WatchedWorker): void;
  /** What a worker that ended has not taken goes to others. */
  takeBack(ended: WatchedWorker): void;
  open(): void;
}

/** How long connections wait for the other workers at the start. */
const STARTING_MS_MAX = 10_000;

function createQueue(count: number, joined: () => readonly WatchedWorker[]): ConnectionQueue {
  const waiting = new Map<number, Pending>();
  let isOpen = false;
  /** Workers that neither listen nor have failed yet. */
  let starting = count;
  let deadline: NodeJS.Timeout | undefined;

  /** Node knows a connection by its number, whichever worker replies. */
  function giveOut(): void {
    if (!isOpen) return;
    for (const [seq, one] of waiting) {
      const next = nextOf(joined());
      if (next === undefined) return;
      waiting.delete(seq);
      next.given += 1;
      next.pending.set(seq, one);
      next.send(one.message, one.connection);
    }
  }

  function open(): void {
    clearTimeout(deadline);
    isOpen = true;
    giveOut();
  }

  function noteStart(): void {
    starting -= 1;
    if (starting === 0) open();
  }

  return {
    add(one) {
      waiting.set(one.message.seq, one);
      giveOut();
    },
    taken(seq) {
      // Also one whose worker has ended since.
      waiting.delete(seq);
      for (const { pending } of joined()) pending.delete(seq);
      giveOut();
    },
    join(worker) {
      worker.given = Math.max(0, ...joined().map(({ given }) => given));
      worker.hasJoined = true;
      deadline ??= setTimeout(open, STARTING_MS_MAX).unref();
      noteStart();
      giveOut();
    },
    takeBack({ pending }) {
      noteStart();
      for (const [seq, one] of pending) waiting.set(seq, one);
      if (joined().length > 0) return giveOut();
      for (const { connection } of waiting.values()) connection.close();
      waiting.clear();
    },
    open,
  };
}

/** The one that got the fewest, unless it is slow to take them: half of Node's places are left for the others. */
function nextOf(joined: readonly WatchedWorker[]): WatchedWorker | undefined {
  const pendingMax = Math.ceil(joined.length / 2);
  const ready = joined.filter(({ held, pending }) => held === null && pending.size < pendingMax);
  const fewest = Math.min(...ready.map(({ given }) => given));
  return ready.find(({ given }) => given === fewest);
}

/** Puts what Node sends to this worker into the queue. */
function redirect(worker: ChildProcess, watched: WatchedWorker, queue: ConnectionQueue): void {
  const redirected: Send = (message, connection, ...rest) => {
    if (isNewConnection(message)) queue.add({ message, connection: connection as HandedConnection });
    else if (watched.held === null) return watched.send(message, connection, ...rest);
    return true;
  };
  worker.send = redirected as ChildProcess["send"];
  worker.on("internalMessage" as "message", (reply: unknown) => {
    const { ack } = reply as WorkerReply;
    if (ack !== undefined) queue.taken(ack);
  });
}

interface EndOptions {
  isLast(): boolean;
  /** Called once, with the first event that is held. */
  onHold(): void;
  onEnd(): void;
}

/** Node hears of the end of the last worker only when that is released. */
function holdEnd(worker: ChildProcess, watched: WatchedWorker, { isLast, onHold, onEnd }: EndOptions): void {
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
    // Node may still send it a connection, which is then pending as well. It sends none to a process that is not connected.
    setConnected(true);
    if (watched.held === null) onHold();
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
