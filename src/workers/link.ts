// Messages between the primary process and a worker, over a pipe. Everything of one turn of the event loop goes out in
// one write. Values cross as structured clones, so money stays exact.

import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";
import type { LinkService, WorkerLink } from "../core/processes/link.ts";
import { StoreUnavailable } from "../core/store-errors.ts";

/** A call, its answer, its failure, or news. A tuple, because names of fields would be sent each time. */
type LinkMessage =
  | readonly [kind: typeof CALL, id: number, service: string, payload: unknown]
  | readonly [kind: typeof ANSWER, id: number, payload: unknown]
  | readonly [kind: typeof FAILURE, id: number, failure: LinkFailure]
  | readonly [kind: typeof NEWS, topic: string, encoded: Uint8Array];

const CALL = 0;
const ANSWER = 1;
const FAILURE = 2;
const NEWS = 3;

/** Classes do not survive a message. */
interface LinkFailure {
  readonly message: string;
  readonly isUnavailable: boolean;
}

interface LinkWaiter {
  /** By the clock of `performance.now`. */
  readonly dueAtMs: number;
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** More than the store itself takes to give up on a commit. */
const CALL_MS = 15_000;
/** How often calls that are overdue are looked for: a timer for each would cost more than the call. */
const LOOK_MS = 1_000;

/** One end of a pipe. */
export interface OpenLink extends WorkerLink {
  /** Resolves when the other end is gone. */
  readonly closed: Promise<void>;
  /** Told of all news, with their topics, for passing them on as they are. */
  onNews(listener: (topic: string, encoded: Uint8Array) => void): void;
  pass(topic: string, encoded: Uint8Array): void;
}

export function createLink(pipe: Duplex): OpenLink {
  const services = new Map<string, LinkService>();
  const listeners = new Map<string, (payload: unknown) => void>();
  const waiters = new Map<number, LinkWaiter>();
  const send = createSender(pipe);
  const pass: OpenLink["pass"] = (topic, encoded) => send([NEWS, topic, encoded]);
  let onNews: OpenLink["pass"] = (topic, encoded) => listeners.get(topic)?.(deserialize(encoded));
  let lastId = 0;
  let isClosed = false;

  const fail = (id: number, error: unknown): void => send([FAILURE, id, toFailure(error as Error)]);
  const answer = (id: number, service: string, payload: unknown): void => {
    try {
      const answered = services.get(service)?.(payload);
      if (answered instanceof Promise) {
        answered.then(
          (value) => send([ANSWER, id, value]),
          (error: unknown) => fail(id, error),
        );
      } else send([ANSWER, id, answered]);
    } catch (error) {
      fail(id, error);
    }
  };
  readFrames(pipe, (message) => {
    if (message[0] === CALL) answer(message[1], message[2], message[3]);
    else if (message[0] === NEWS) onNews(message[1], message[2]);
    else {
      const waiter = waiters.get(message[1]);
      waiters.delete(message[1]);
      if (message[0] === ANSWER) waiter?.resolve(message[2]);
      else waiter?.reject(toError(message[2]));
    }
  });
  const looking = setInterval(() => rejectOverdue(waiters), LOOK_MS).unref();
  const closed = closeOf(pipe).then(() => {
    isClosed = true;
    clearInterval(looking);
    for (const { reject } of waiters.values()) reject(gone());
    waiters.clear();
  });
  return {
    closed,
    onNews(listener) {
      onNews = listener;
    },
    call: (service, payload, withinMs = CALL_MS) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(gone());
        lastId += 1;
        waiters.set(lastId, { resolve, reject, dueAtMs: performance.now() + withinMs });
        send([CALL, lastId, service, payload]);
      }),
    serve: (service, answering) => void services.set(service, answering),
    pass,
    // Encoded here: the process in between need not read what it passes on to many.
    publish: (topic, payload) => pass(topic, serialize(payload)),
    on: (topic, listener) => void listeners.set(topic, listener),
  };
}

function closeOf(pipe: Duplex): Promise<void> {
  // The end of the pipe is what is acted upon.
  pipe.on("error", () => undefined);
  return new Promise((resolve) => pipe.once("close", () => resolve()));
}

/** An answer that comes after all is dropped. */
function rejectOverdue(waiters: Map<number, LinkWaiter>): void {
  const nowMs = performance.now();
  for (const [id, { dueAtMs, reject }] of waiters) {
    if (dueAtMs > nowMs) continue;
    waiters.delete(id);
    reject(new StoreUnavailable(new Error("the other process has not answered in time")));
  }
}

function gone(): StoreUnavailable {
  return new StoreUnavailable(new Error("the other process has ended"));
}

function toFailure(error: Error): LinkFailure {
  return { message: error.message, isUnavailable: error instanceof StoreUnavailable };
}

function toError({ message, isUnavailable }: LinkFailure): Error {
  const error = new Error(message);
  return isUnavailable ? new StoreUnavailable(error) : error;
}

const LENGTH_BYTES = 4;

/** Each frame is a list of messages after its length. */
function createSender(pipe: Duplex): (message: LinkMessage) => void {
  let waiting: LinkMessage[] = [];
  const flush = (): void => {
    const body = serialize(waiting);
    waiting = [];
    if (pipe.destroyed) return;
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32LE(body.length);
    pipe.cork();
    pipe.write(length);
    pipe.write(body);
    pipe.uncork();
  };
  return (message) => {
    waiting.push(message);
    if (waiting.length === 1) setImmediate(flush);
  };
}

function readFrames(pipe: Duplex, take: (message: LinkMessage) => void): void {
  let pieces: Buffer[] = [];
  let size = 0;
  pipe.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    const needed = LENGTH_BYTES + (firstLength(pieces) ?? 0);
    if (size < needed) return;
    let rest = pieces.length === 1 ? piece : Buffer.concat(pieces);
    for (let end = endOfFrame(rest); end !== null; end = endOfFrame(rest)) {
      for (const message of deserialize(rest.subarray(LENGTH_BYTES, end)) as readonly LinkMessage[]) take(message);
      rest = rest.subarray(end);
    }
    pieces = rest.length === 0 ? [] : [rest];
    size = rest.length;
  });
}

/** Null while it is not known. */
function firstLength([first]: readonly Buffer[]): number | null {
  return first === undefined || first.length < LENGTH_BYTES ? null : first.readUInt32LE();
}

function endOfFrame(bytes: Buffer): number | null {
  if (bytes.length < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  return end <= bytes.length ? end : null;
}
