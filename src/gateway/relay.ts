// A provider's stream on its way to the client, piece by piece at the client's pace. It ends honestly: with the finish
// and [DONE] when the provider finished, with an error event when it broke.

import type { Usage } from "../core/chat.ts";
import { GatewayError } from "../core/errors.ts";
import type { StreamWriter } from "../formats/format.ts";
import type { OpenStream } from "./attempt/try-model.ts";
import type { Trace } from "./call.ts";
import { shuttingDown } from "./shutting-down.ts";

export interface Ending {
  readonly usage: Usage | null;
  readonly outputLength: number;
  /** Everything sent so far; empty unless it was to be kept. */
  readonly textSoFar: string;
}

interface Relay {
  readonly stream: OpenStream;
  readonly writer: StreamWriter;
  readonly trace: Trace;
  /** Whether the process ends and cuts its streams off. */
  readonly isCutting: () => boolean;
  /** Called once when the provider has finished, before the client hears of it; returns the closing text. */
  readonly finish: (ending: Ending) => Promise<string> | string;
  readonly keepsText: boolean;
  /** Called when the client has left before the end. */
  readonly onGone: (ending: Ending) => Promise<void>;
  /** Told why, when the provider broke off. */
  readonly onBreak: (reason: string) => Promise<void>;
  /** Told of a fault of ours on the way; the client then gets an error event too. */
  readonly onFault: (error: unknown) => Promise<void>;
}

/**
 * The text for the client. It has begun when it is returned: a generator that never began has no end either, and what
 * stands for it would stay on hold when nobody takes the first piece.
 */
export function relay(task: Relay): AsyncGenerator<string, void, void> {
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

async function* run(task: Relay): AsyncGenerator<string, void, void> {
  const { stream, writer, trace } = task;
  const { reader, body } = stream;
  let textSoFar = "";
  const ending = (): Ending => ({ ...reader.progress, textSoFar });
  trace.ending = "client-gone";
  try {
    for await (const text of pieces(stream, writer)) {
      if (task.keepsText) textSoFar += text;
      yield text;
    }
    const isCut = task.isCutting();
    if (body.failure?.kind === "client-gone" && !isCut) return;
    const { isFinished, fault } = reader.progress;
    if (isFinished && fault === null) {
      const closing = await task.finish(ending());
      trace.ending = "complete";
      yield closing;
    } else {
      trace.ending = "provider-broke";
      await task.onBreak(fault?.message ?? body.failure?.message ?? "the provider closed the stream");
      yield writer.fail(isCut ? shuttingDown() : brokenStream());
    }
  } catch (error) {
    trace.ending = "gateway-broke";
    await task.onFault(error);
    yield writer.fail(new GatewayError("internal", "Something went wrong on our side; the answer is incomplete."));
  } finally {
    trace.marks.providerEndedAt = performance.now();
    if (trace.ending === "complete") body.release();
    else body.cancel();
    if (trace.ending === "client-gone") await task.onGone(ending());
  }
}

async function* pieces({ reader, body, head, isAtEnd }: OpenStream, writer: StreamWriter): AsyncGenerator<string> {
  yield writer.write(head);
  let hasEnded = isAtEnd;
  while (!hasEnded && !reader.progress.isDone && reader.progress.fault === null) {
    const bytes = await body.read();
    hasEnded = bytes === null;
    const text = writer.write(bytes === null ? reader.end() : reader.push(bytes));
    if (text !== "") yield text;
  }
}

function brokenStream(): GatewayError {
  return new GatewayError("providersFailed", "The provider broke off the stream; the answer is incomplete.", {
    code: "stream_interrupted",
  });
}
