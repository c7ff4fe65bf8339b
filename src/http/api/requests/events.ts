// GET /api/events: the request log as it grows, as server-sent events. A stream ends when its user signs out or loses the
// account, when the client disconnects, and when the process ends.

import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import type { RequestFilter } from "../../../core/requests/log.ts";
import { matchesFilter } from "../../../core/requests/match.ts";
import type { OperatorContext } from "../../context.ts";
import { createEventQueue, type EventQueue } from "../../exchange/event-queue.ts";
import { identify, ownMemberOf, permitted } from "../../exchange/identity.ts";
import { relayPieces, sendStream } from "../../exchange/stream.ts";
import { eventStream } from "../../openapi/operation.ts";
import { AnyObject } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { accountOf } from "../exchange.ts";
import { type ApiRoute, get, sentAs } from "../route.ts";
import { filterOf, filters } from "./filter.ts";
import { namesOf, writeSummary } from "./line.ts";

/** Events that may wait for one client. A slower client misses some, and is told. */
const WAITING_MAX = 200;
/** Each open stream holds a connection and a queue. */
const STREAMS_MAX = 200;
/** One account may not take them all. */
const STREAMS_PER_ACCOUNT_MAX = 50;
/** Interval of checks that notice a log-out on another page or in another process. */
const CHECK_MS = 5_000;
/** A comment, which clients skip; it keeps proxies from closing a quiet stream. */
const PING = ": still here\n\n";

/** Smaller numbers, for tests. */
interface EventsOptions {
  readonly checkMs?: number;
  readonly streamsMax?: number;
  readonly streamsPerAccountMax?: number;
}

/** The route keeps a list of its open streams, one for each server. */
export function eventsRoute(options: EventsOptions = {}): ApiRoute {
  const { checkMs = CHECK_MS, streamsMax = STREAMS_MAX, streamsPerAccountMax = STREAMS_PER_ACCOUNT_MAX } = options;
  return get("watchRequests", "/api/events", {
    summary: "The log as it grows: server-sent events ready, request (a RequestLine), changed, missed and alive",
    access: "readRequests",
    parameters: filters,
    response: sentAs(eventStream(AnyObject)),
    hasHead: false,
    serve(edge, server) {
      /** The open streams, each with the account it is about. */
      const open = new Map<EventQueue, string>();
      const isFull = (accountId: string): boolean =>
        open.size >= streamsMax || [...open.values()].filter((one) => one === accountId).length >= streamsPerAccountMax;
      // Before the server waits for its connections: a stream without end would keep it from closing.
      server.addHook("preClose", async () => {
        for (const queue of open.keys()) queue.end();
      });
      return async ({ request, reply }) => {
        const filter = await filterOf(request, edge);
        if (isFull(filter.accountId)) throw tooMany();
        const queue = createEventQueue(WAITING_MAX);
        open.set(queue, filter.accountId);
        const stopWatching = watch(queue, filter, edge);
        const checking = setInterval(() => void endWhenRefused(request, { queue, filter }, edge), checkMs);
        reply.raw.once("close", () => queue.end());
        queue.push("ready", {});
        try {
          await sendStream(reply, { relay: relayPieces(queue.texts()), ping: PING }, edge.settings.server.writeStallMs);
        } finally {
          clearInterval(checking);
          stopWatching();
          open.delete(queue);
        }
        return reply;
      };
    },
  });
}

/** Returns the function that stops watching. */
function watch(queue: EventQueue, filter: RequestFilter, edge: OperatorContext): () => void {
  return edge.records.tail.watch({
    accountId: filter.accountId,
    onRequest: (line) => {
      if (!matchesFilter(filter, line)) return;
      // A line does not have its texts, so whether the words are in them is for the list to say.
      if (filter.words !== undefined) queue.push("changed", {});
      else queue.push("request", writeSummary(line, namesOf(edge, filter.accountId)));
    },
    onOthers: () => queue.push("changed", {}),
  });
}

interface Watching {
  readonly queue: EventQueue;
  readonly filter: RequestFilter;
}

/** Checked again and again: logins end, roles change, and people lose an account. While the store is down, nothing changes. */
async function endWhenRefused(
  request: FastifyRequest,
  { queue, filter }: Watching,
  edge: OperatorContext,
): Promise<void> {
  try {
    await identify(request, edge);
    await permitted("readRequests")(request);
    const accountId = await accountOf(request, edge);
    const own = ownMemberOf(request);
    // Somebody who became a member, or moved, opens another stream, which shows what is theirs.
    if (accountId !== filter.accountId || (own !== null && filter.memberId !== own.id)) return queue.end();
    // An event, because a page does not see comments and could not tell a dead connection from a quiet one.
    queue.push("alive", {});
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) queue.end();
  }
}

/** A page that gets this falls back to polling. */
function tooMany(): GatewayError {
  const message = TEXT.tooManyViews;
  return new GatewayError("unavailable", message, { code: "too_many_streams", retryAfterSeconds: 30 });
}
