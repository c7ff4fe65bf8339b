// A streamed answer onto the socket, at the speed the client reads it. A wait for the socket always ends: when it drains
// or when it closes.

import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

const SILENCE_MS = 15_000;

interface StreamText {
  readonly text: AsyncGenerator<string>;
  readonly ping: string;
}

export async function sendStream(reply: FastifyReply, { text, ping }: StreamText): Promise<void> {
  const response = reply.raw;
  reply.hijack();
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  const silence = setInterval(() => response.writableNeedDrain || response.write(ping), SILENCE_MS);
  try {
    for await (const piece of text) {
      if (response.destroyed) break;
      silence.refresh();
      if (!response.write(piece)) await drained(response);
    }
    response.end();
  } catch (error) {
    // A clean end would look like a complete answer.
    response.destroy();
    throw error;
  } finally {
    clearInterval(silence);
  }
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
