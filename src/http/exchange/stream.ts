// A streamed response, written at the speed the client reads it. A wait for the socket always ends: when it drains, or
// when it closes. The socket of a client that reads nothing for too long is closed.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";

/** Proxies and clients give up on a silent stream, so a ping goes out after this long. */
const SILENCE_MS = 15_000;
const EVENT_STREAM = "text/event-stream; charset=utf-8";

interface StreamText {
  /** Server-sent events when left out. */
  readonly contentType?: string;
  readonly text: AsyncGenerator<string>;
  readonly ping: string;
}

export async function sendStream(reply: FastifyReply, stream: StreamText, stallMs: number): Promise<void> {
  const { text, ping } = stream;
  const response = reply.raw;
  await writeHead(reply, stream);
  reply.hijack();
  const silence = setInterval(() => response.writableNeedDrain || response.write(ping), SILENCE_MS);
  try {
    for await (const piece of text) {
      if (response.destroyed) break;
      silence.refresh();
      if (!response.write(piece)) await drained(response, stallMs);
    }
    response.end();
    cutWhenUnread(response, stallMs);
  } catch (error) {
    // A clean end would look like a complete response.
    response.destroy();
    throw error;
  } finally {
    clearInterval(silence);
  }
}

/** If the head cannot be written, nobody will read the text. Its source is told, so that it releases what it holds. */
async function writeHead(reply: FastifyReply, { contentType = EVENT_STREAM, text }: StreamText): Promise<void> {
  try {
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": contentType,
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
  } catch (error) {
    await text.throw(error).catch(() => undefined);
    await text.return(undefined);
    throw error;
  }
}

/** Closes the connection when a response that was written whole is not read. */
export function cutWhenUnread(response: ServerResponse, stallMs: number): void {
  if (!response.writableFinished && !response.destroyed) response.once("close", cutWhenStalled(response, stallMs));
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  const stopWatching = cutWhenStalled(response, stallMs);
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      stopWatching();
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

/** How often a stall is looked for: the cut comes at most this part too late. */
const CHECKS_PER_STALL = 10;

/**
 * Closes the connection once the client has taken nothing for `stallMs`. A timeout of the socket may take twice as long.
 * It counts checks and not time, since a process that stood still has sent nothing either. Returns what ends the watch.
 */
function cutWhenStalled(response: ServerResponse, stallMs: number): () => void {
  let unsentBytes = unsentBytesOf(response);
  let unchangedChecks = 0;
  const timer = setInterval(() => {
    const left = unsentBytesOf(response);
    unchangedChecks = left === unsentBytes && left > 0 ? unchangedChecks + 1 : 0;
    unsentBytes = left;
    if (unchangedChecks >= CHECKS_PER_STALL) response.destroy();
  }, stallMs / CHECKS_PER_STALL).unref();
  return () => clearInterval(timer);
}

/** What the kernel has not taken yet; Node tells it nowhere else. 0 while the response waits behind another one. */
function unsentBytesOf({ socket }: ServerResponse): number {
  return (socket as (Socket & { _handle?: { writeQueueSize?: number } }) | null)?._handle?.writeQueueSize ?? 0;
}
