// Stored responses: GET, DELETE and cancel of one, and its input items. Those of another account do not exist.

import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import type { JsonItem, StoredResponse } from "../../../core/responses/stored.ts";
import { eventsAfter, visibleEvents } from "../../../formats/openai-responses/stored/events.ts";
import { visibleResponse, writeItemList } from "../../../formats/openai-responses/stored/items.ts";
import { replayEvents } from "../../../formats/openai-responses/stored/replay.ts";
import type { CallContext } from "../../context.ts";
import { relayPieces, sendStream } from "../../exchange/stream.ts";
import * as TEXT from "../../text.ts";
import { type IdRequest, nameOf, pageOf, readFlag, readPage, readWhole, showsEncrypted } from "./paging.ts";

export const EVENT_STREAM = "text/event-stream; charset=utf-8";
export const PING = ": keep-alive\n\n";
/** Interval at which the state of a response in another process is read. */
const POLL_MS = 500;

/** Background responses may hold all slots of a key; they are polled, cancelled and deleted all the same. */
const NO_SLOT = { config: { needsNoSlot: true } };

type StoredContext = Pick<CallContext, "state" | "settings">;

export function registerStoredResponses(server: FastifyInstance, edge: StoredContext): void {
  const { responses, runs } = edge.state;
  const find = async (request: IdRequest): Promise<StoredResponse> => {
    const name = nameOf(request, responseNotFound);
    const stored = await responses.find(name);
    if (stored === null) throw responseNotFound(name.id);
    return stored;
  };

  server.get("/v1/responses/:id", NO_SLOT, async (request: IdRequest, reply) => {
    const isShown = showsEncrypted(request.query);
    const startingAfter = readWhole(request.query, "starting_after", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? -1;
    const isStream = readFlag(request.query, "stream");
    const stored = await find(request);
    if (!isStream) return shownResponse(stored, isShown);
    const text = follow(stored, { startingAfter, isShown, isWanted: () => !reply.raw.destroyed }, edge);
    await sendStream(
      reply,
      { relay: relayPieces(text), ping: PING, contentType: EVENT_STREAM },
      edge.settings.server.writeStallMs,
    );
    return reply;
  });

  server.delete("/v1/responses/:id", NO_SLOT, async (request: IdRequest) => {
    const name = nameOf(request, responseNotFound);
    if (!(await responses.remove(name))) throw responseNotFound(name.id);
    runs.find(name)?.cancellation.abort();
    return { id: name.id, object: "response", deleted: true };
  });

  server.get("/v1/responses/:id/input_items", NO_SLOT, async (request: IdRequest) => {
    const page = readPage(request.query);
    const { content } = await find(request);
    const { limit } = page;
    return writeItemList(pageOf(content.input, page), { limit, showsEncrypted: showsEncrypted(request.query) });
  });

  server.post("/v1/responses/:id/cancel", NO_SLOT, async (request: IdRequest) => {
    const { isBackground } = await find(request);
    if (!isBackground) {
      const message = TEXT.notCancellable;
      throw new GatewayError("badRequest", message, { code: "not_cancellable" });
    }
    await responses.cancel(nameOf(request, responseNotFound));
    runs.find(nameOf(request, responseNotFound))?.cancellation.abort();
    return shownResponse(await find(request), false);
  });
}

function responseNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.responseNotFound(id), { code: "response_not_found" });
}

/** The status of the row counts: a cancellation and the end of a process are noted there alone. */
function shownResponse({ content, status }: StoredResponse, isEncryptedShown: boolean): JsonItem {
  const { response } = content;
  const isAbandoned = status === "failed" && response.status !== "failed";
  const current = response.status === status ? response : { ...response, status, ...(isAbandoned ? ABANDONED : {}) };
  return isEncryptedShown ? current : visibleResponse(current);
}

const ABANDONED = {
  error: { code: "server_error", message: TEXT.processStopped },
};

interface FollowTerms {
  readonly startingAfter: number;
  readonly isShown: boolean;
  readonly isWanted: () => boolean;
}

/** Events of a response: live where this process runs it, else once it is over. */
async function* follow(
  stored: StoredResponse,
  { startingAfter, isShown, isWanted }: FollowTerms,
  { state }: Pick<StoredContext, "state">,
): AsyncGenerator<string, void, void> {
  const feed = state.runs.find(stored)?.feed ?? null;
  if (feed !== null) {
    for await (const piece of feed.read()) yield eventsAfter(piece, startingAfter);
    return;
  }
  let current: StoredResponse | null = stored;
  while (current?.status === "in_progress" && isWanted()) {
    await wait(POLL_MS);
    current = await state.responses.find(stored);
  }
  if (current === null) return;
  const { events } = current.content;
  const hides = isShown ? (text: string) => text : visibleEvents;
  yield hides(
    events === null ? replayEvents(shownResponse(current, isShown), startingAfter) : eventsAfter(events, startingAfter),
  );
}
