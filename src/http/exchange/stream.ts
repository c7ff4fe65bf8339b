// A streamed response, written at the speed the client reads it. A wait for the socket always ends: when it drains, or
// when it closes. The socket of a client that reads nothing for too long is closed.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { TextSink } from "../../gateway/relay.ts";

/** Proxies and clients give up on a silent stream, so a ping goes out after this long. */
const SILENCE_MS = 15_000;
const EVENT_STREAM = "text/event-stream; charset=utf-8";

interface StreamText {
  /** Server-sent events when left out. */
  readonly contentType?: string;
  /** Writes the text to a sink, which it may end with its last piece, and resolves when it is over. */
  readonly relay: (sink: TextSink) => Promise<void>;
  readonly ping: string;
}

/** Text that is pulled piece by piece. */
export function relayPieces(pieces: AsyncIterable<string>): StreamText["relay"] {
  return async (sink) => {
    for await (const piece of pieces) {
      if (!sink.isOpen) break;
      const full = sink.write(piece);
      if (full !== null) await full;
    }
  };
}

export async function sendStream(reply: FastifyReply, stream: StreamText, stallMs: number): Promise<void> {
  const response = reply.raw;
  try {
    writeHead(reply, stream);
  } catch (error) {
    // Nobody will read the text. Its source is told, so that it releases what it holds.
    await stream.relay(unwritable(error)).catch(() => undefined);
    throw error;
  }
  reply.hijack();
  const sink = new ResponseSink(response, stream.ping, stallMs);
  try {
    const relayed = stream.relay(sink);
    // A first piece that was there has gone out by now, and has not waited for the timer.
    sink.watchSilence();
    await relayed;
    sink.end("");
    cutWhenUnread(response, stallMs);
  } catch (error) {
    // A clean end would look like a complete response.
    response.destroy();
    throw error;
  } finally {
    sink.close();
  }
}

function writeHead(reply: FastifyReply, { contentType = EVENT_STREAM }: StreamText): void {
  // A copy of the reply's headers already, so none is made again.
  const headers = reply.getHeaders() as Record<string, string>;
  headers["content-type"] = contentType;
  headers["cache-control"] = "no-cache, no-transform";
  headers["x-accel-buffering"] = "no";
  reply.raw.writeHead(200, headers);
}

function unwritable(error: unknown): TextSink {
  const fail = (): never => {
    throw error;
  };
  return { isOpen: true, write: fail, end: fail, cut: fail };
}

class ResponseSink implements TextSink {
  readonly #response: ServerResponse;
  readonly #ping: string;
  readonly #stallMs: number;
  #isFull = false;
  #hasBegun = false;
  #writtenAtMs = performance.now();
  #silence: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, ping: string, stallMs: number) {
    this.#response = response;
    this.#ping = ping;
    this.#stallMs = stallMs;
  }

  get isOpen(): boolean {
    return !this.#response.destroyed;
  }

  write(text: string, isBinary = false): Promise<void> | null {
    // A chunk without bytes would be the end of the response.
    if (text === "") return null;
    this.#writtenAtMs = performance.now();
    if (isBinary ? this.#response.write(text, "latin1") : this.#put(text)) return null;
    this.#isFull = true;
    return drained(this.#response, this.#stallMs).then(() => {
      this.#isFull = false;
    });
  }

  end(text: string): void {
    const response = this.#response;
    if (response.writableEnded) return;
    // The last text and the end are one write: Node uncorks the socket at the end.
    response.socket?.cork();
    if (text !== "") this.#put(text);
    response.end();
  }

  cut(): void {
    this.#response.destroy();
  }

  watchSilence(): void {
    this.#silence = setTimeout(() => this.#look(), SILENCE_MS);
  }

  close(): void {
    clearTimeout(this.#silence);
  }

  /** False when the socket is full. Node writes a chunk in four parts; here it is one, once the head has gone out. */
  #put(text: string): boolean {
    const { socket, chunkedEncoding } = this.#response;
    if (socket === null || !chunkedEncoding || !this.#hasBegun) {
      this.#hasBegun = true;
      // Node would write head and text at the end of the turn. This way they go out before anything else is done.
      socket?.cork();
      const hasRoom = this.#response.write(text);
      socket?.uncork();
      return hasRoom;
    }
    const length = Buffer.byteLength(text);
    const isAscii = length === text.length;
    return socket.write(`${length.toString(16)}\r\n${text}\r\n`, isAscii ? "latin1" : "utf8");
  }

  /** The timer is not moved with every piece: it looks when the silence may be long enough. */
  #look(): void {
    const silentMs = performance.now() - this.#writtenAtMs;
    const isDue = silentMs >= SILENCE_MS - EARLY_MS;
    if (isDue && !this.#isFull) void this.write(this.#ping);
    this.#silence = setTimeout(() => this.#look(), isDue ? SILENCE_MS : SILENCE_MS - silentMs);
  }
}

/** Timers may fire so much early. */
const EARLY_MS = 1;

/** Closes the connection when a response that was written whole is not read. */
export function cutWhenUnread(response: ServerResponse, stallMs: number): void {
  if (!response.writableFinished && !response.destroyed) response.once("close", cutWhenStalled(response, stallMs));
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  const stopWatching = cutWhenStalled(response, stallMs);
  // A response that waits behind another one has no socket yet.
  const { socket } = response;
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      socket?.off("drain", done);
      stopWatching();
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
    socket?.on("drain", done);
  });
}

/** A response or a connection, as far as a stall is concerned. */
interface Stallable {
  readonly socket: Socket | null;
  destroy(): void;
}

/** Looks for a stall this many times in its limit: the cut comes at most this part too late. */
const CHECKS_PER_STALL = 10;

/**
 * Closes the connection once the client has taken nothing for `stallMs`. A timeout of the socket may take twice as long.
 * It counts checks and not time, since a process that stood still has sent nothing either. Returns what ends the watch.
 */
export function cutWhenStalled(response: Stallable, stallMs: number): () => void {
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

/**
 * Bytes that the kernel has not taken yet; Node tells them nowhere else. 0 while the response waits behind another one.
 */
function unsentBytesOf({ socket }: Stallable): number {
  return (socket as (Socket & { _handle?: { writeQueueSize?: number } }) | null)?._handle?.writeQueueSize ?? 0;
}
