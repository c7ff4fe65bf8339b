// A streamed answer onto the socket, at the speed the client reads it. A wait for the socket always ends: when it drains
// or when it closes, which a client that takes nothing for too long is made to do.

import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

const SILENCE_MS = 15_000;

interface StreamText {
  readonly text: AsyncGenerator<string>;
  readonly ping: string;
}

export async function sendStream(reply: FastifyReply, { text, ping }: StreamText, stallMs: number): Promise<void> {
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
      if (!response.write(piece)) await drained(response, stallMs);
    }
    response.end();
    cutWhenUnread(response, stallMs);
  } catch (error) {
    // A clean end would look like a complete answer.
    response.destroy();
    throw error;
  } finally {
    clearInterval(silence);
  }
}

/**
 * For an answer that has been written whole. Node ends the socket's timeout itself once everything is sent; while bytes
 * move, however slowly, it does not fire.
 */
export function cutWhenUnread(response: ServerResponse, stallMs: number): void {
  if (!response.writableFinished) response.socket?.setTimeout(stallMs);
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  // Without a listener for it, Node answers the socket's timeout by closing the socket.
  response.socket?.setTimeout(stallMs);
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      response.socket?.setTimeout(0);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
