// Relays a provider's stream to the client, piece by piece at the client's pace. It ends with the finish when the
// provider finished, and with an error event when the stream broke. Behaviour 6.

import { GatewayError } from "../core/errors.ts";
import type { StreamWriter } from "../formats/format.ts";
import type { OpenStream } from "./attempt/try-model.ts";
import type { Received } from "./attempt/verdict.ts";
import type { LastEvent } from "./call.ts";
import { shuttingDown } from "./open-calls.ts";

/** What had arrived when the stream was over. */
interface RelayProgress extends Received {
  /** Everything sent so far; empty unless it was to be kept. */
  readonly textSoFar: string;
}

/** Exactly one of the four handlers has the last word; a fault of ours may follow a finish that failed. */
interface RelayTask {
  readonly stream: OpenStream;
  readonly writer: StreamWriter;
  /** Whether the process is stopping and cuts its streams off. */
  readonly isCutting: () => boolean;
  readonly keepsText: boolean;
  /** Called when the provider has finished, before the client hears of it; returns the closing text. */
  readonly onFinish: (progress: RelayProgress) => Promise<string> | string;
  /** Called when the client has disconnected before the end. */
  readonly onDisconnect: (progress: RelayProgress) => Promise<void>;
  /** Called with the reason when the provider broke the stream. */
  readonly onBreak: (reason: string) => Promise<void>;
  /** Called with a fault of ours on the way; the client then gets an error event too. */
  readonly onFault: (error: unknown) => Promise<void>;
}

/**
 * The text for the client. The generator has started when it is returned: one that never starts never runs its `finally`,
 * and its hold would stay open when nobody takes the first piece.
 */
export function relay(task: RelayTask): AsyncGenerator<string, void, void> {
  const text = run(task);
  let first: Promise<IteratorResult<string, void>> | null = text.next();
  return {
    next() {
      const next = first ?? text.next();
      first = null;
      return next;
    },
    return: () => text.return(),
    throw: (error) => text.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* run(task: RelayTask): AsyncGenerator<string, void, void> {
  const { stream, writer } = task;
  const { reader, body } = stream;
  let textSoFar = "";
  const progress = (): RelayProgress => ({ ...reader.progress, textSoFar });
  // Null until the provider's stream is over: a client that stops reading ends the generator at one of the yields.
  let event: StreamEvent | null = null;
  try {
    for await (const text of pieces(stream, writer)) {
      if (task.keepsText) textSoFar += text;
      yield text;
    }
    const isCutting = task.isCutting();
    event = eventOf(stream, isCutting);
    if (event === "finished") {
      yield await task.onFinish(progress());
    } else if (event === "stream-broken") {
      const { fault } = reader.progress;
      await task.onBreak(fault?.message ?? body.failure?.message ?? "the provider closed the stream");
      yield writer.fail(isCutting ? shuttingDown() : brokenStream());
    }
  } catch (error) {
    event = "our-fault";
    await task.onFault(error);
    yield writer.fail(new GatewayError("internal", "Internal error; the answer is incomplete."));
  } finally {
    try {
      if (event === null) await readOn(stream);
    } finally {
      if (event === "finished") body.release();
      else body.cancel();
      if (event === null || event === "disconnected") await task.onDisconnect(progress());
    }
  }
}

/** A client that left when only the end was missing pays for the usage that comes with it. */
async function readOn({ reader, body }: OpenStream): Promise<void> {
  for (;;) {
    const { isEndInSight, isCounted, isDone, fault } = reader.progress;
    if (!isEndInSight || isCounted || isDone || fault !== null) return;
    const bytes = await body.read();
    if (bytes === null) return;
    reader.push(bytes);
  }
}

type StreamEvent = Exclude<LastEvent, "replayed" | "error">;

/** How the provider's stream ended. When we cut it ourselves, a closed connection is not the client's doing. */
function eventOf({ reader, body }: OpenStream, isCutting: boolean): StreamEvent {
  if (body.failure?.kind === "client-gone" && !isCutting) return "disconnected";
  const { isFinished, fault } = reader.progress;
  return isFinished && fault === null ? "finished" : "stream-broken";
}

async function* pieces({ reader, body, head, isAtEnd }: OpenStream, writer: StreamWriter): AsyncGenerator<string> {
  body.lingers(reader.progress.isEndInSight);
  yield writer.write(head);
  for (let hasEnded = isAtEnd; !hasEnded; ) {
    const { isDone, fault, isEndInSight } = reader.progress;
    if (isDone || fault !== null) return;
    body.lingers(isEndInSight);
    const bytes = await body.read();
    hasEnded = bytes === null;
    const text = writer.write(bytes === null ? reader.end() : reader.push(bytes));
    if (text !== "") yield text;
  }
}

function brokenStream(): GatewayError {
  return new GatewayError("providersFailed", "The provider interrupted the stream; the answer is incomplete.", {
    code: "stream_interrupted",
  });
}
