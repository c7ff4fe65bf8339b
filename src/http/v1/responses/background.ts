// A response in the background: answered as soon as its credits are reserved. The call goes on without its client.

import { Cancellation } from "../../../core/cancellation.ts";
import { GatewayError, writtenFor } from "../../../core/errors.ts";
import type { CallObserver } from "../../../gateway/call.ts";
import { type BackgroundRun, drive, EventFeed } from "../../../gateway/state/background.ts";
import { type BackgroundKeeper, responseIdOf } from "../../../gateway/state/keep.ts";
import type { CallContext } from "../../context.ts";
import { relayPieces, sendStream } from "../../exchange/stream.ts";
import { complete, type ReadExchange, send } from "../completion.ts";
import { callerOf } from "../key-admission.ts";
import { type RequestRecording, recordingOf } from "../record.ts";
import { EVENT_STREAM, PING } from "./stored.ts";

interface BackgroundExchange extends ReadExchange {
  readonly state: BackgroundKeeper;
}

export async function answerInBackground(exchange: BackgroundExchange, edge: CallContext): Promise<void> {
  const { request, reply, clientRequest, state: keeper } = exchange;
  const recording = recordingOf(request);
  const run: BackgroundRun = {
    name: { accountId: callerOf(request).key.accountId, id: responseIdOf(keeper.answerId) },
    cancellation: new Cancellation(),
    feed: clientRequest.chat.isStream ? new EventFeed() : null,
  };
  // Nobody was told its id, and its place among the key's requests is given back already.
  if (reply.raw.destroyed) run.cancellation.abort();
  const done = edge.openCalls.begin(run.cancellation);
  recording.callStarted(clientRequest);
  let hold = (): void => undefined;
  const reserved = new Promise<null>((resolve) => {
    hold = () => resolve(null);
  });
  const signal = run.cancellation;
  const answered = complete(exchange, { signal, observer: observing(recording, hold) }, edge);
  const { isCutting } = edge.openCalls;
  const fail: BackgroundKeeper["fail"] = (error, isCancelled) =>
    keeper.fail(error instanceof GatewayError ? writtenFor(edge.live().errors.errorDetail, error) : error, isCancelled);
  const over = drive(answered, run, { keeper: { fail }, isCutting }).finally(() => {
    edge.state.runs.end(run);
    recording.callOver();
    done();
  });
  request.outlives = over;
  // Refusals before a call of a provider work as usual, and a repeated request gets its stored response.
  const early = await Promise.race([reserved, answered]);
  if (early !== null) {
    await send(early, reply, edge);
    return;
  }
  edge.state.runs.begin(run);
  const queued = exchange.format.writeQueued?.({
    requestId: request.id,
    answerId: keeper.answerId,
    kept: "stored",
    modelId: String(clientRequest.body.model ?? "auto"),
    createdAtSeconds: Math.floor(edge.now() / 1000),
    request: clientRequest,
  });
  try {
    await keeper.begin(queued ?? {});
  } catch (error) {
    run.cancellation.abort();
    throw error;
  }
  if (run.feed === null) {
    reply.send(queued);
    return;
  }
  const stream = { relay: relayPieces(run.feed.read()), ping: PING, contentType: EVENT_STREAM };
  await sendStream(reply, stream, edge.settings.server.writeStallMs);
}

/** The recording, with a word when the credits are reserved. */
function observing(recording: RequestRecording, onReserved: () => void): CallObserver {
  return {
    routing: () => recording.routing(),
    routed: () => recording.routed(),
    reserved() {
      recording.reserved();
      onReserved();
    },
    answered: () => recording.answered(),
    ready: () => recording.ready(),
    // Its reader takes the stream from the store, at a pace of its own.
    begun: () => undefined,
    streamEnded: () => recording.streamEnded(),
    afterwards: (work) => recording.afterwards(work),
    ended: (report) => recording.ended(report),
  };
}
