// The load generator, in a process of its own: as fast as the server can, at a fixed rate, or as streams.

import { answerParent } from "../harness/child.ts";
import { Connection, openSocket, prepareRequest, type Reply, type Target } from "./connection.ts";
import { createConversation } from "./conversation.ts";
import { nowUs, readTimestamps } from "./timestamps.ts";

/** Each connection sends again as soon as it was answered. */
interface Saturation {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly forMs: number;
  /** Ends sooner, after so many requests. */
  readonly requestsMax?: number;
}

/** So many requests a second, evenly spaced. */
interface FixedRate {
  readonly target: Target;
  readonly body: object;
  readonly perSecond: number;
  readonly forMs: number;
}

/** So many streams at once. */
interface Streams {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
}

interface StreamTimes {
  readonly firstTokenUs: readonly number[];
  /** From the provider's write to our read, of every chunk but the first of each stream. */
  readonly chunkUs: readonly number[];
}

interface Saturated {
  readonly requests: number;
  readonly seconds: number;
  /** From sending a request to the end of its response. */
  readonly timesUs: Float64Array;
}

/** The operations of this process. */
export type LoadWork = {
  saturate(input: Saturation): Promise<Saturated>;
  holdRate(input: FixedRate): Promise<readonly number[]>;
  readStreams(input: Streams): Promise<StreamTimes>;
  /** Opens streams and leaves them open until `closeStreams`. */
  openStreams(input: Streams): Promise<void>;
  closeStreams(input: null): void;
};

/** Enough that one is nearly always free. */
const RATE_CONNECTIONS = 64;
/** A run that hangs ends with an error. */
const ANSWER_MS_MAX = 30_000;

let openConnections: readonly Connection[] = [];

const work: LoadWork = {
  saturate,
  holdRate,
  readStreams,
  async openStreams(streams) {
    openConnections = await openStreams(streams);
  },
  closeStreams() {
    for (const connection of openConnections) connection.close();
    openConnections = [];
  },
};
answerParent(null, work);

/** Every response must be a 200: a rejected request is cheaper and would flatter the figures. */
async function saturate({ target, body, connections, forMs, requestsMax = Number.POSITIVE_INFINITY }: Saturation) {
  const prepared = prepareRequest(target, body);
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(target.port)));
  const opened: Connection[] = [];
  const timesUs: number[] = [];
  const startedAtUs = nowUs();
  const endsAtUs = startedAtUs + forMs * 1000;
  await inTime(
    Promise.all(
      sockets.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            const nextRequest = createConversation(prepared);
            let sentAtUs = startedAtUs;
            const connection = new Connection(socket, (reply) => {
              if (reply.status !== 200) reject(unexpected(reply));
              const atUs = nowUs();
              timesUs.push(atUs - sentAtUs);
              sentAtUs = atUs;
              if (atUs < endsAtUs && timesUs.length < requestsMax) connection.send(nextRequest());
              else resolve();
            });
            opened.push(connection);
            connection.send(nextRequest());
          }),
      ),
    ),
  );
  for (const connection of opened) connection.close();
  const seconds = (nowUs() - startedAtUs) / 1e6;
  return { requests: timesUs.length, seconds, timesUs: Float64Array.from(timesUs) };
}

/**
 * Requests are sent on schedule on any free connection, whether or not earlier ones were answered. So a slow response
 * delays no other request. Responses are timed from the moment of sending.
 */
async function holdRate({ target, body, perSecond, forMs }: FixedRate): Promise<readonly number[]> {
  const prepared = prepareRequest(target, body);
  const total = Math.round((perSecond * forMs) / 1000);
  const sockets = await Promise.all(Array.from({ length: RATE_CONNECTIONS }, () => openSocket(target.port)));
  const opened: Connection[] = [];
  const timesUs: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  const finished = new Promise<void>((resolve, reject) => {
    const free = sockets.map((socket) => {
      let sentAtUs = 0;
      const nextRequest = createConversation(prepared);
      const connection = new Connection(socket, (reply) => {
        if (reply.status !== 200) reject(unexpected(reply));
        timesUs.push(nowUs() - sentAtUs);
        free.push(send);
        if (timesUs.length === total) resolve();
      });
      opened.push(connection);
      const send = (): void => {
        const request = nextRequest();
        sentAtUs = nowUs();
        connection.send(request);
      };
      return send;
    });
    const startedAtUs = nowUs();
    let sent = 0;
    timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((nowUs() - startedAtUs) / 1e6) * perSecond) + 1);
      // With no free connection the server is far behind; requests that are due wait for one.
      for (; sent < due && free.length > 0; sent++) free.shift()?.();
    }, 1);
  });
  try {
    await inTime(finished);
  } finally {
    clearInterval(timer);
    for (const connection of opened) connection.close();
  }
  return timesUs;
}

/** Reads so many streams to their end. */
async function readStreams({ target, body, connections }: Streams): Promise<StreamTimes> {
  const request = prepareRequest(target, body);
  const firstTokenUs: number[] = [];
  const chunkUs: number[] = [];
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(target.port)));
  const opened: Connection[] = [];
  await inTime(
    Promise.all(
      sockets.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            let sentAtUs = 0;
            let isFirst = true;
            const onReply = (reply: Reply) => (reply.status === 200 ? resolve() : reject(unexpected(reply)));
            const connection = new Connection(socket, onReply, (bytes) => {
              const atUs = nowUs();
              for (const sentUs of readTimestamps(bytes)) {
                if (isFirst) firstTokenUs.push(atUs - sentAtUs);
                else chunkUs.push(atUs - sentUs);
                isFirst = false;
              }
            });
            opened.push(connection);
            // Starts are spread over some milliseconds. Otherwise the queue of a simultaneous start is measured.
            setTimeout(() => {
              sentAtUs = nowUs();
              connection.send(request);
            }, Math.random() * 50);
          }),
      ),
    ),
  );
  for (const connection of opened) connection.close();
  return { firstTokenUs, chunkUs };
}

/** All at once. */
async function openStreams({ target, body, connections }: Streams): Promise<readonly Connection[]> {
  const request = prepareRequest(target, body);
  return inTime(Promise.all(Array.from({ length: connections }, () => openStream(target, request))));
}

/** Resolves with the first token of the stream. */
async function openStream(target: Target, request: Buffer): Promise<Connection> {
  const socket = await openSocket(target.port);
  return new Promise((resolve, reject) => {
    const connection: Connection = new Connection(
      socket,
      (reply) => reject(new Error(`a stream ended too early, with status ${reply.status}`)),
      (bytes) => {
        if (readTimestamps(bytes).length > 0) resolve(connection);
      },
    );
    connection.send(request);
  });
}

function unexpected({ status }: Reply): Error {
  return new Error(`an answer has status ${status}`);
}

/** Rejects when the work takes too long. */
function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("answers did not come in time")), ANSWER_MS_MAX);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
