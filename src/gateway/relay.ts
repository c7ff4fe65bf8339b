// Relays a provider's stream to the client, piece by piece at the client's pace. It ends with the finish when the
// provider finished, and with an error event when the stream broke. Behaviour 6.

import { GatewayError } from "../core/errors.ts";
import type { StreamWriter } from "../formats/format.ts";
import type { OpenStream } from "./attempt/try-model.ts";
import type { Received } from "./attempt/verdict.ts";
import type { LastEvent } from "./call.ts";
import { shuttingDown } from "./open-calls.ts";
import * as TEXT from "./text.ts";

/** The part of the stream that had arrived when it was over. */
interface RelayProgress extends Received {
  /** Everything sent so far; empty unless it was to be kept. */
  readonly textSoFar: string;
}

/** Exactly one of the four handlers has the last word; a fault of ours may follow a finish that failed. */
export interface RelayTask {
  readonly stream: OpenStream;
  readonly writer: StreamWriter;
  /** True while the process is stopping and cuts its streams off. */
  readonly isCutting: () => boolean;
  readonly keepsText: boolean;
  /** Called when the provider has finished, before the client hears of it; returns the closing text. */
  readonly onFinish: (progress: RelayProgress) => Promise<string>;
  /** Called when the client has disconnected before the end. */
  readonly onDisconnect: (progress: RelayProgress) => Promise<void>;
  /** Called with the reason when the provider broke the stream. */
  readonly onBreak: (reason: string) => Promise<void>;
  /** Called with a fault of ours on the way; the client then gets an error event too. */
  readonly onFault: (error: unknown) => Promise<void>;
}

/** Takes the text of a stream, at the client's pace. */
export interface TextSink {
  /** False once the reader has gone. */
  readonly isOpen: boolean;
  /**
   * Returns null when there is room for more. Otherwise resolves when there is room again, or when the reader has gone.
   */
  write(text: string, isBinary?: boolean): Promise<void> | null;
  /** The last text, which may be empty. */
  end(text: string): void;
  /** Closes the connection of an answer that is not complete and cannot say so. Absent where no bytes are written. */
  cut?(): void;
}

/** Resolves when the stream is over and settled, however it ended. Rejects only when the sink cannot be written to. */
export async function relay(task: RelayTask, sink: TextSink): Promise<void> {
  const { stream, writer } = task;
  const { reader, body } = stream;
  let textSoFar = "";
  const progress = (): RelayProgress => ({ ...reader.progress, textSoFar });
  const keep = task.keepsText
    ? (text: string): void => {
        textSoFar += text;
      }
    : null;
  // The event stays null until the provider's stream is over: the reader may go before.
  let event: StreamEvent | null = null;
  try {
    if (!(await passPieces(stream, writer, { sink, keep }))) return;
    const isCutting = task.isCutting();
    event = eventOf(stream, isCutting);
    if (event === "finished") {
      endWith(sink, await task.onFinish(progress()));
    } else if (event === "stream-broken") {
      const { fault } = reader.progress;
      await task.onBreak(fault?.message ?? body.failure?.message ?? TEXT.streamClosed);
      failWith(sink, writer, isCutting ? shuttingDown() : brokenStream());
    }
  } catch (error) {
    event = "our-fault";
    await task.onFault(error);
    failWith(sink, writer, new GatewayError("internal", TEXT.internalInStream));
  } finally {
    try {
      if (event === null) await readOn(stream);
    } finally {
      if (event === "finished") body.release();
      else body.cancel();
      if (event === null || event === "disconnected") await leave(task, progress());
    }
  }
}

/** A charge that cannot be made must not leave its hold open. */
async function leave({ onDisconnect, onFault }: RelayTask, progress: RelayProgress): Promise<void> {
  try {
    await onDisconnect(progress);
  } catch (error) {
    await onFault(error);
  }
}

function endWith(sink: TextSink, text: string): void {
  if (sink.isOpen) sink.end(text);
}

function failWith(sink: TextSink, writer: StreamWriter, error: GatewayError): void {
  if (writer.isBinary) sink.cut?.();
  else endWith(sink, writer.fail(error));
}

interface Passing {
  readonly sink: TextSink;
  /** Keeps the text; null where no text is kept. */
  readonly keep: ((text: string) => void) | null;
}

/**
 * Passes the stream on until the provider's part is over; false when the reader went before that. Every chunk goes
 * through this loop, so it waits only for bytes, and for a reader that is full.
 */
async function passPieces(
  { reader, body, head, isAtEnd }: OpenStream,
  writer: StreamWriter,
  { sink, keep }: Passing,
): Promise<boolean> {
  let text = writer.write(head);
  for (let hasEnded = isAtEnd; ; ) {
    const { isDone, fault, isEndInSight } = reader.progress;
    body.lingers(isEndInSight);
    if (text !== "") {
      if (!sink.isOpen) return false;
      keep?.(text);
      const full = sink.write(text, writer.isBinary);
      if (full !== null) await full;
    }
    if (hasEnded || isDone || fault !== null) return true;
    const known = body.tryRead();
    const bytes = known === undefined ? await body.read() : known;
    hasEnded = bytes === null;
    text = writer.write(bytes === null ? reader.end() : reader.push(bytes));
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

/** Tells how the provider's stream ended. A connection that we cut ourselves was not closed by the client. */
function eventOf({ reader, body }: OpenStream, isCutting: boolean): StreamEvent {
  if (body.failure?.kind === "client-gone" && !isCutting) return "disconnected";
  const { isFinished, fault } = reader.progress;
  return isFinished && fault === null ? "finished" : "stream-broken";
}

function brokenStream(): GatewayError {
  return new GatewayError("providersFailed", TEXT.streamInterrupted, {
    code: "stream_interrupted",
  });
}
