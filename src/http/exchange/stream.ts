// A streamed answer onto the socket, at the speed the client reads it. A wait for the socket always ends: when it drains
// or when it closes, which a client that takes nothing for too long is made to do.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";

const SILENCE_MS = 15_000;

interface StreamText {
  readonly text: AsyncGenerator<string>;
  readonly ping: string;
}

export async function sendStream(reply: FastifyReply, { text, ping }: StreamText, stallMs: number): Promise<void> {
  const response = reply.raw;
  await writeHead(reply, text);
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
    // A clean end would look like a complete answer.
    response.destroy();
    throw error;
  } finally {
    clearInterval(silence);
  }
}

/** When it cannot be written, nobody will take the text: its source is told, so that it lets go of what it holds. */
async function writeHead(reply: FastifyReply, text: AsyncGenerator<string>): Promise<void> {
  try {
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
  } catch (error) {
    await text.throw(error).catch(() => undefined);
    await text.return(undefined);
    throw error;
  }
}

/**
 * For an answer that has been written whole. Node ends the socket's timeout itself once everything is sent; while bytes
 * move, however slowly, it does not fire.
 */
export function cutWhenUnread(response: ServerResponse, stallMs: number): void {
  if (!response.writableFinished) whenItsTurn(response, (socket) => socket.setTimeout(stallMs));
}

/**
 * Without a listener for it, Node answers the socket's timeout by closing the socket. A response that waits behind another
 * one on the same connection has no socket yet.
 */
function whenItsTurn(response: ServerResponse, use: (socket: Socket) => void): void {
  if (response.socket !== null) use(response.socket);
  else response.once("socket", use);
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  whenItsTurn(response, (socket) => socket.setTimeout(stallMs));
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
