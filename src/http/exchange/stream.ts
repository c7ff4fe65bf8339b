// A streamed response, written at the speed the client reads it. A wait for the socket always ends: when it drains, or
// when it closes. The socket of a client that reads nothing for too long is closed.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";

/** Proxies and clients give up on a silent stream, so a ping goes out after this long. */
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
    // A clean end would look like a complete response.
    response.destroy();
    throw error;
  } finally {
    clearInterval(silence);
  }
}

/** If the head cannot be written, nobody will read the text. Its source is told, so that it releases what it holds. */
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
 * Closes the connection when a response that was written whole is not read. Node clears the timeout once everything is
 * sent, and while bytes move, however slowly, it does not fire.
 */
export function cutWhenUnread(response: ServerResponse, stallMs: number): void {
  if (!response.writableFinished) whenItsTurn(response, (socket) => socket.setTimeout(stallMs));
}

/**
 * Without a listener, Node closes a socket that times out. A response that waits behind another one on the same
 * connection has no socket yet.
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
