// The load generator for more than a server can do, a process of its own: a crowd that comes back as soon as it was
// answered, or requests that leave on a timetable whatever happens to the earlier ones. It tells answers from refusals.

import type { Socket } from "node:net";
import { answerParent } from "./child.ts";
import { Connection, openSocket, prepareRequest, type Reply, type Target } from "./connection.ts";
import { nowUs } from "./marks.ts";
import { type Summary, summarize } from "./statistics.ts";

export interface Crowd {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly forMs: number;
  readonly settledAfterMs: number;
  /** Whether who is refused comes back after the time that `Retry-After` says, as official clients do, or at once. */
  readonly isPatient: boolean;
}

export interface Offer {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
  readonly perSecond: number;
  readonly forMs: number;
  readonly settledAfterMs: number;
}

/** Times in milliseconds. */
export interface Outcome {
  readonly seconds: number;
  readonly accepted: Summary;
  /** Those of them that were sent after `settledAfterMs`. */
  readonly settled: Summary;
  readonly shed: Summary;
  /** Answers with another status than 200 and 503. */
  readonly others: number;
  /** What was not answered when time was up, and a while after. */
  readonly unanswered: number;
  /** When the last refusal came, in seconds from the start; null when there was none. */
  readonly lastShedSeconds: number | null;
  /** How many of the requests on the timetable found no free connection when they were due. */
  readonly late: number;
}

export interface Streams {
  readonly target: Target;
  readonly body: object;
  readonly connections: number;
}

export type CrowdWork = {
  gather(input: Crowd): Promise<Outcome>;
  offer(input: Offer): Promise<Outcome>;
  /** Opens so many streams at once and leaves them open until `closeStreams`; how many began. */
  openStreams(input: Streams): Promise<{ readonly begun: number; readonly seconds: number }>;
  closeStreams(input: null): void;
};

const OPEN_AT_ONCE = 200;
const PATIENCE_MS = 30_000;

let streams: readonly Socket[] = [];

const work: CrowdWork = {
  gather,
  offer,
  openStreams,
  closeStreams() {
    for (const socket of streams) socket.destroy();
    streams = [];
  },
};
answerParent(null, work);

async function gather({ target, body, connections, forMs, settledAfterMs, isPatient }: Crowd): Promise<Outcome> {
  const request = prepareRequest(target, body);
  const sockets = await openSockets(target.port, connections);
  const notes = createNotes(settledAfterMs);
  const endsAtUs = nowUs() + forMs * 1000;
  const members = sockets.map((socket) => {
    let sentAtUs = 0;
    let leave = (): void => {};
    const connection = new Connection(socket, (reply) => {
      notes.answered(reply, sentAtUs);
      const waitMs = isPatient && reply.status === 503 ? reply.retryAfterSeconds * 1000 : 0;
      if (nowUs() + waitMs * 1000 >= endsAtUs) leave();
      else if (waitMs > 0) setTimeout(send, waitMs);
      else send();
    });
    const send = (): void => {
      sentAtUs = nowUs();
      notes.sent();
      connection.send(request);
    };
    send();
    return new Promise<void>((resolve) => {
      leave = resolve;
    });
  });
  await withPatience(Promise.all(members), forMs);
  for (const socket of sockets) socket.destroy();
  return notes.outcome();
}

/** Timed from when a request was due, so that one that waits for a free connection is not flattered by it. */
async function offer({ target, body, connections, perSecond, forMs, settledAfterMs }: Offer): Promise<Outcome> {
  const request = prepareRequest(target, body);
  const sockets = await openSockets(target.port, connections);
  const notes = createNotes(settledAfterMs);
  const total = Math.round((perSecond * forMs) / 1000);
  let timer: NodeJS.Timeout | undefined;
  const finished = new Promise<void>((resolve) => {
    let answered = 0;
    const free = sockets.map((socket) => {
      let dueAtUs = 0;
      const connection = new Connection(socket, (reply) => {
        notes.answered(reply, dueAtUs);
        answered += 1;
        free.push(send);
        if (answered === total) resolve();
      });
      const send = (atUs: number): void => {
        dueAtUs = atUs;
        notes.sent();
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
        if (send === undefined) return notes.late();
        send(dueAt(next));
      }
    }, 1);
  });
  await withPatience(finished, forMs);
  clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  return notes.outcome();
}

async function openStreams({ target, body, connections }: Streams) {
  const request = prepareRequest(target, body);
  streams = await openSockets(target.port, connections);
  const startedAtUs = nowUs();
  let begun = 0;
  const heads = streams.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.once("data", (bytes) => {
          if (bytes.toString("latin1", 9, 12) === "200") begun += 1;
          resolve();
        });
        socket.write(request);
      }),
  );
  await withPatience(Promise.all(heads), 0);
  return { begun, seconds: (nowUs() - startedAtUs) / 1e6 };
}

function createNotes(settledAfterMs: number) {
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
    outcome(): Outcome {
      return {
        seconds: (nowUs() - startedAtUs) / 1e6,
        accepted: summarize(acceptedMs),
        settled: summarize(settledMs),
        shed: summarize(shedMs),
        others,
        unanswered: sent - acceptedMs.length - shedMs.length - others,
        lastShedSeconds: lastShedAtUs === null ? null : (lastShedAtUs - startedAtUs) / 1e6,
        late,
      };
    },
  };
}

async function openSockets(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Math.min(OPEN_AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, () => openSocket(port)))));
  }
  return sockets;
}

/** Ends also when answers never come; they are then missing from the counts. */
function withPatience(all: Promise<unknown>, forMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, forMs + PATIENCE_MS);
  });
  return Promise.race([all, late]).finally(() => clearTimeout(timer));
}
