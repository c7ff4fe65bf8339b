// Messages between the primary process and a worker, over a pipe. All messages of one turn of the event loop go out in
// one write. They are structured clones, so that money stays exact.

import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";
import type { LinkService, WorkerLink } from "../core/processes/link.ts";
import { StoreUnavailable } from "../core/store-errors.ts";

/** A call, its answer or its failure. A tuple sends no field names. */
type LinkMessage =
  | readonly [kind: typeof CALL, id: number, service: string, payload: unknown]
  | readonly [kind: typeof ANSWER, id: number, payload: unknown]
  | readonly [kind: typeof FAILURE, id: number, failure: LinkFailure];

const CALL = 0;
const ANSWER = 1;
const FAILURE = 2;

interface LinkPublication {
  readonly topic: string;
  readonly payload: unknown;
}

/** An error as plain data, because classes do not survive a message. */
interface LinkFailure {
  readonly message: string;
  readonly isUnavailable: boolean;
  readonly isUnsent: boolean;
}

interface LinkWaiter {
  /** Time in the clock of `performance.now`. */
  readonly dueAtMs: number;
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Longer than the store takes to give up on a commit. */
const CALL_MS = 15_000;
/** Interval at which overdue calls are looked for. A timer per call would cost more than the call. */
const LOOK_MS = 1_000;

/** One end of a pipe. */
export interface OpenLink extends WorkerLink {
  /** Resolves when the other end is closed. */
  readonly closed: Promise<void>;
  /** Called with the frames of all published messages, to pass them on. */
  onPublished(listener: (frame: Uint8Array) => void): void;
  pass(frame: Uint8Array): void;
}

export function createLink(pipe: Duplex): OpenLink {
  const services = new Map<string, LinkService>();
  const listeners = new Map<string, (payload: unknown) => void>();
  const waiters = new Map<number, LinkWaiter>();
  const { send, pass } = createSender(pipe);
  let onPublished = (frame: Uint8Array): void => {
    const { topic, payload } = fromFrame(frame) as LinkPublication;
    listeners.get(topic)?.(payload);
  };
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
  const take = (message: LinkMessage): void => {
    if (message[0] === CALL) answer(message[1], message[2], message[3]);
    else end(waiters, message);
  };
  readFrames(pipe, { take, takePublished: (frame) => onPublished(frame) });
  const looking = setInterval(() => rejectOverdue(waiters), LOOK_MS).unref();
  const closed = closeOf(pipe).then(() => {
    isClosed = true;
    clearInterval(looking);
    for (const { reject } of waiters.values()) reject(gone());
    waiters.clear();
  });
  return {
    closed,
    onPublished(listener) {
      // Copied, so that a slow reader does not keep the whole received chunk in memory.
      onPublished = (frame) => listener(Uint8Array.from(frame));
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
    publish: (topic, payload) => pass(toFrame(PUBLISHED, { topic, payload } satisfies LinkPublication)),
    on: (topic, listener) => void listeners.set(topic, listener),
  };
}

type LinkEnding = Exclude<LinkMessage, readonly [typeof CALL, ...unknown[]]>;

function end(waiters: Map<number, LinkWaiter>, ending: LinkEnding): void {
  const waiter = waiters.get(ending[1]);
  waiters.delete(ending[1]);
  if (ending[0] === ANSWER) waiter?.resolve(ending[2]);
  else waiter?.reject(toError(ending[2]));
}

function closeOf(pipe: Duplex): Promise<void> {
  // The close event handles a broken pipe.
  pipe.on("error", () => undefined);
  return new Promise((resolve) => pipe.once("close", () => resolve()));
}

/** Rejects overdue calls. Later answers to them are dropped. */
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
  const isUnavailable = error instanceof StoreUnavailable;
  return { message: error.message, isUnavailable, isUnsent: isUnavailable && error.isUnsent };
}

function toError({ message, isUnavailable, isUnsent }: LinkFailure): Error {
  const error = new Error(message);
  return isUnavailable ? new StoreUnavailable(error, { isUnsent }) : error;
}

/** Header of a frame: the length of the rest, and the kind of content. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;

/** A list of messages. */
const MESSAGES = 0;
/** A published message has its own frame, so that the primary process passes the bytes on without reading them. */
const PUBLISHED = 1;

/** A frame of a published message, or other messages in their order. */
type Unsent = Uint8Array | LinkMessage[];

function createSender(pipe: Duplex): { send(message: LinkMessage): void; pass(frame: Uint8Array): void } {
  let unsent: Unsent[] = [];
  const flush = (): void => {
    const frames = unsent.map((next) => (next instanceof Uint8Array ? next : toFrame(MESSAGES, next)));
    unsent = [];
    if (pipe.destroyed) return;
    pipe.cork();
    for (const frame of frames) pipe.write(frame);
    pipe.uncork();
  };
  const add = (next: Unsent): void => {
    unsent.push(next);
    if (unsent.length === 1) setImmediate(flush);
  };
  return {
    send(message) {
      const last = unsent.at(-1);
      if (Array.isArray(last)) last.push(message);
      else add([message]);
    },
    pass: add,
  };
}

function toFrame(kind: number, content: unknown): Uint8Array {
  const body = serialize(content);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  frame[LENGTH_BYTES] = kind;
  frame.set(body, HEADER_BYTES);
  return frame;
}

function fromFrame(frame: Uint8Array): unknown {
  return deserialize(frame.subarray(HEADER_BYTES));
}

interface FrameReader {
  take(message: LinkMessage): void;
  takePublished(frame: Uint8Array): void;
}

function readFrames(pipe: Duplex, { take, takePublished }: FrameReader): void {
  const read = (frame: Buffer): void => {
    if (frame[LENGTH_BYTES] === PUBLISHED) takePublished(frame);
    else for (const message of fromFrame(frame) as readonly LinkMessage[]) take(message);
  };
  let pieces: Buffer[] = [];
  let size = 0;
  pipe.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    const needed = HEADER_BYTES + (firstLength(pieces) ?? 0);
    if (size < needed) return;
    let rest = pieces.length === 1 ? piece : Buffer.concat(pieces);
    for (let end = endOfFrame(rest); end !== null; end = endOfFrame(rest)) {
      read(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    pieces = rest.length === 0 ? [] : [rest];
    size = rest.length;
  });
}

/** Length of the first frame; null until its header has arrived. */
function firstLength([first]: readonly Buffer[]): number | null {
  return first === undefined || first.length < LENGTH_BYTES ? null : first.readUInt32LE();
}

function endOfFrame(bytes: Buffer): number | null {
  if (bytes.length < HEADER_BYTES) return null;
  const end = HEADER_BYTES + bytes.readUInt32LE();
  return end <= bytes.length ? end : null;
}
