// The load generator for overload, in a process of its own. A closed loop sends again when it was answered; an open loop
// sends on schedule whatever happens to earlier requests. Accepted and rejected requests are counted apart.

import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answerParent } from "../harness/child.ts";
import { Connection, openSocket, prepareRequest, type Reply, type Target } from "./connection.ts";
import { nowUs } from "./timestamps.ts";

/** So many clients, each with one request at a time. */
interface ClosedLoop {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly forMs: number;
  readonly settledAfterMs: number;
  /** True makes a rejected client wait as `Retry-After` says, as official clients do. Otherwise it sends again at once. */
  readonly obeysRetryAfter: boolean;
}

/** So many requests a second, over a fixed set of connections. */
interface OpenLoop {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly perSecond: number;
  readonly forMs: number;
  readonly settledAfterMs: number;
}

/** Observations of one generator. Samples are not summarized here, because the outcomes of several generators are joined. */
export interface LoadOutcome {
  readonly seconds: number;
  readonly acceptedMs: readonly number[];
  /** The accepted ones that were sent after `settledAfterMs`. */
  readonly settledMs: readonly number[];
  /** Rejected with 503. */
  readonly shedMs: readonly number[];
  /** Answers with another status than 200 and 503. */
  readonly others: number;
  /** Not answered at the end, nor in the grace period after it. */
  readonly unanswered: number;
  /** Time of the last 503, in seconds from the start; null when there was none. */
  readonly lastShedSeconds: number | null;
  /** Requests of the open loop that found no free connection when they were due. */
  readonly late: number;
}

/** So many streams, each on a new connection, opened at an even pace. */
interface Streams {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly overMs: number;
}

export interface StreamsOutcome {
  /** From when each stream was due until its first bytes arrived. */
  readonly begunMs: readonly number[];
  readonly refused: number;
  /** Neither begun nor rejected with 503. */
  readonly lost: number;
  /** Start of the last request. */
  readonly seconds: number;
}

/** The operations of this process. */
export type OverloadWork = {
  runClosedLoop(input: ClosedLoop): Promise<LoadOutcome>;
  runOpenLoop(input: OpenLoop): Promise<LoadOutcome>;
  /** Opens streams and keeps them open until `closeStreams`. */
  openStreams(input: Streams): Promise<StreamsOutcome>;
  closeStreams(input: null): void;
};

/** Connections are opened in groups, so that opening them does not become a load of its own. */
const OPEN_AT_ONCE = 200;
/** Time for responses after the end. */
const GRACE_MS = 30_000;

let streams: Socket[] = [];

const work: OverloadWork = {
  runClosedLoop,
  runOpenLoop,
  openStreams,
  closeStreams() {
    for (const socket of streams) socket.destroy();
    streams = [];
  },
};
answerParent(null, work);

/** Each client stops at its first reply after the end. */
async function runClosedLoop({
  target,
  body,
  connections,
  forMs,
  settledAfterMs,
  obeysRetryAfter,
}: ClosedLoop): Promise<LoadOutcome> {
  const request = prepareRequest(target, body);
  const sockets = await openSockets(target.port, connections);
  const tally = createTally(settledAfterMs);
  const endsAtUs = nowUs() + forMs * 1000;
  const clients = sockets.map((socket) => {
    let sentAtUs = 0;
    let finish = (): void => {};
    const connection = new Connection(socket, (reply) => {
      tally.answered(reply, sentAtUs);
      const waitMs = obeysRetryAfter && reply.status === 503 ? reply.retryAfterSeconds * 1000 : 0;
      if (nowUs() + waitMs * 1000 >= endsAtUs) finish();
      else if (waitMs > 0) setTimeout(send, waitMs);
      else send();
    });
    const send = (): void => {
      sentAtUs = nowUs();
      tally.sent();
      connection.send(request);
    };
    send();
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await withTimeout(Promise.all(clients), forMs);
  for (const socket of sockets) socket.destroy();
  return tally.outcome();
}

/** Timed from when a request was due: waiting for a free connection counts, too. */
async function runOpenLoop({
  target,
  body,
  connections,
  perSecond,
  forMs,
  settledAfterMs,
}: OpenLoop): Promise<LoadOutcome> {
  const request = prepareRequest(target, body);
  const sockets = await openSockets(target.port, connections);
  const tally = createTally(settledAfterMs);
  const total = Math.round((perSecond * forMs) / 1000);
  let timer: NodeJS.Timeout | undefined;
  const finished = new Promise<void>((resolve) => {
    let answered = 0;
    const free = sockets.map((socket) => {
      let dueAtUs = 0;
      const connection = new Connection(socket, (reply) => {
        tally.answered(reply, dueAtUs);
        answered += 1;
        free.push(send);
        if (answered === total) resolve();
      });
      const send = (atUs: number): void => {
        dueAtUs = atUs;
        tally.sent();
        connection.send(request);
      };
      return send;
    });
    const startedAtUs = nowUs();
    const dueAt = (index: number): number => startedAtUs + (index * 1e6) / perSecond;
    let next = 0;
    timer = setInterval(() => {
      const atUs = nowUs();
      for (; next < total && dueAt(next) <= atUs; next += 1) {
        const send = free.pop();
        if (send === undefined) return tally.late();
        send(dueAt(next));
      }
    }, 1);
  });
  await withTimeout(finished, forMs);
  clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  return tally.outcome();
}

/** Only the status of each stream is read. */
async function openStreams({ target, body, connections, overMs }: Streams): Promise<StreamsOutcome> {
  const request = prepareRequest(target, body);
  const startedAtUs = nowUs();
  const begunMs: number[] = [];
  let refused = 0;
  let lastBegunAtUs = startedAtUs;
  const open = async (index: number): Promise<void> => {
    const dueAtUs = startedAtUs + (1000 * overMs * index) / connections;
    await sleep((dueAtUs - nowUs()) / 1000);
    const socket = await openSocket(target.port);
    streams.push(socket);
    socket.write(request);
    const [bytes] = (await once(socket, "data")) as [Buffer];
    const status = bytes.toString("latin1", 9, 12);
    if (status === "503") refused += 1;
    if (status !== "200") return;
    lastBegunAtUs = nowUs();
    begunMs.push((lastBegunAtUs - dueAtUs) / 1000);
  };
  const all = Array.from({ length: connections }, (_, index) => open(index).catch(() => {}));
  await withTimeout(Promise.all(all), overMs);
  const seconds = (lastBegunAtUs - startedAtUs) / 1e6;
  return { begunMs, refused, lost: connections - begunMs.length - refused, seconds };
}

/** Counts replies by status, with their times. */
function createTally(settledAfterMs: number) {
  const startedAtUs = nowUs();
  const acceptedMs: number[] = [];
  const settledMs: number[] = [];
  const shedMs: number[] = [];
  let sent = 0;
  let others = 0;
  let late = 0;
  let lastShedAtUs: number | null = null;
  return {
    sent(): void {
      sent += 1;
    },
    late(): void {
      late += 1;
    },
    answered({ status }: Reply, sinceUs: number): void {
      const atUs = nowUs();
      const tookMs = (atUs - sinceUs) / 1000;
      if (status === 200) {
        acceptedMs.push(tookMs);
        if (sinceUs - startedAtUs >= settledAfterMs * 1000) settledMs.push(tookMs);
      } else if (status === 503) {
        shedMs.push(tookMs);
        lastShedAtUs = atUs;
      } else others += 1;
    },
    outcome(): LoadOutcome {
      return {
        seconds: (nowUs() - startedAtUs) / 1e6,
        acceptedMs,
        settledMs,
        shedMs,
        others,
        unanswered: sent - acceptedMs.length - shedMs.length - others,
        lastShedSeconds: lastShedAtUs === null ? null : (lastShedAtUs - startedAtUs) / 1e6,
        late,
      };
    },
  };
}

/** Connects in groups. */
async function openSockets(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Math.min(OPEN_AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, () => openSocket(port)))));
  }
  return sockets;
}

/** Also ends when responses never come; they are then missing from the counts. */
function withTimeout(all: Promise<unknown>, forMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, forMs + GRACE_MS);
  });
  return Promise.race([all, late]).finally(() => clearTimeout(timer));
}
