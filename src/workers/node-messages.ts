// The only file that knows the private messages of Node's cluster module: how the primary process hands a connection to a
// worker, how the worker acknowledges it, and how the module learns that a worker ended. No page of Node documents them.
// test/fault/processes/node-messages.test.ts runs them on the Node under test, and says what to do where Node changed them.

import type { ChildProcess } from "node:child_process";

/** Node's message that hands a connection over. Other fields are passed on unchanged. */
interface NewConnectionMessage {
  readonly act: "newconn";
  readonly seq: number;
}

/** Acknowledges the connection with this number, taken or refused because the worker is closing. */
interface WorkerReply {
  readonly ack?: number;
  readonly accepted?: boolean;
}

type Send = (message: unknown, connection?: unknown, ...rest: readonly unknown[]) => boolean;
type Emit = (event: string, ...values: readonly unknown[]) => boolean;

/** An accepted connection that nobody reads from yet. */
interface AcceptedConnection {
  close(): void;
}

/** A connection on its way to one worker. */
export interface Handout {
  readonly message: NewConnectionMessage;
  readonly connection: AcceptedConnection;
  /** True where the connection was meant for another worker first. */
  readonly isPassedOn: boolean;
  /** Sends the connection to the worker. */
  deliver(): void;
  /** Tells Node that the connection is taken, by whichever worker. */
  settle(): void;
}

export interface NodeWorkerEvents {
  /** Called when Node has a connection for the worker. The connection waits for `deliver`. */
  onHandout(handout: Handout): void;
  /** Called when the worker has taken the connection, or has refused it and Node looks for another worker. */
  onTaken(handout: Handout): void;
  /** Called when the worker has refused a connection that was passed on to it. */
  onRefused(handout: Handout): void;
  /** Decides whether Node learns of the worker's end now or with `releaseEnd`. */
  mayEnd(): boolean;
  /** Called at the moment in which Node learns of the worker's end. */
  onEnding(): void;
  /** Called when the process has ended and Node knows it. */
  onEnded(): void;
}

/** A worker process whose messages pass through here. */
export interface NodeWorker {
  /** Hands over a connection that was meant for another worker. */
  hand(handout: Handout): void;
  releaseEnd(): void;
}

/** Intercepts the messages of a worker. Call this before the worker gets its first connection. */
export function interceptWorker(worker: ChildProcess, events: NodeWorkerEvents): NodeWorker {
  const end = interceptEnd(worker, events);
  const untaken = new Map<number, Handout>();
  const send = worker.send.bind(worker) as Send;
  const sendAlive: Send = (...sent) => (end.isHeld() ? true : send(...sent));
  const add = (handout: Handout): void => {
    untaken.set(handout.message.seq, handout);
    events.onHandout(handout);
  };
  const handOut: Send = (message, connection, ...rest) => {
    if (!isNewConnection(message)) return sendAlive(message, connection, ...rest);
    add({
      message,
      connection: connection as AcceptedConnection,
      isPassedOn: false,
      deliver: () => void sendAlive(message, connection, ...rest),
      // Node reads this as the worker's own reply: it closes its end of the connection, and the worker may get another.
      settle: () => void worker.emit("internalMessage", { cmd: "NODE_CLUSTER", ack: message.seq, accepted: true }),
    });
    return true;
  };
  worker.send = handOut as ChildProcess["send"];
  worker.on("internalMessage" as "message", (reply: unknown) => {
    const { ack, accepted } = reply as WorkerReply;
    const handout = ack === undefined ? undefined : untaken.get(ack);
    if (ack === undefined || handout === undefined) return;
    untaken.delete(ack);
    if (handout.isPassedOn && accepted === false) return events.onRefused(handout);
    events.onTaken(handout);
    if (handout.isPassedOn) handout.settle();
  });
  /** Numbers below zero, because Node counts upwards from zero. */
  let lastSeq = 0;
  return {
    hand({ message, connection, settle }) {
      lastSeq -= 1;
      const passed = { ...message, seq: lastSeq };
      add({ message: passed, connection, isPassedOn: true, deliver: () => void sendAlive(passed, connection), settle });
    },
    releaseEnd: end.release,
  };
}

/** Holds back the events that tell Node of a worker's end. */
function interceptEnd(worker: ChildProcess, { mayEnd, onEnding, onEnded }: NodeWorkerEvents) {
  let held: (() => void)[] | null = null;
  const emit = worker.emit.bind(worker) as Emit;
  const setConnected = (connected: boolean): void => void Object.assign(worker, { connected });
  const tell = (event: string, values: readonly unknown[]): void => {
    onEnding();
    emit(event, ...values);
    if (event === "exit") onEnded();
  };
  const emitOrHold: Emit = (event, ...values) => {
    if (event !== "disconnect" && event !== "exit") return emit(event, ...values);
    if (mayEnd()) {
      tell(event, values);
      return true;
    }
    // Node sends connections only to connected processes. Later connections go to other workers.
    setConnected(true);
    held ??= [];
    held.push(() => {
      setConnected(false);
      tell(event, values);
    });
    return true;
  };
  worker.emit = emitOrHold as ChildProcess["emit"];
  return {
    isHeld: () => held !== null,
    release() {
      for (const event of held?.splice(0) ?? []) event();
    },
  };
}

function isNewConnection(message: unknown): message is NewConnectionMessage {
  return (message as NewConnectionMessage | null)?.act === "newconn";
}
