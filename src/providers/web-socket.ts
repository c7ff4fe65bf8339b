// The handshake of a WebSocket to a provider. What follows it is up to whoever asked.

import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Dispatcher, Pool } from "undici";
import { AttemptTimeout } from "./timer.ts";
import type { Upgraded } from "./transport.ts";

/** More than the error of a refusal. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const KEY_BYTES = 16;
/** Fields of the handshake, which the headers of other requests do not have. */
const NO_BODY: ReadonlySet<string> = new Set(["content-type", "accept", "accept-encoding"]);

interface Handshake {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time in which the provider has to answer. */
  readonly timeoutMs: number;
}

/** Rejects where no answer came. */
export function upgradeToSocket(pool: Pool, { path, headers, timeoutMs }: Handshake): Promise<Upgraded> {
  const key = randomBytes(KEY_BYTES).toString("base64");
  const sent = Object.entries(headers).filter(([name]) => !NO_BODY.has(name.toLowerCase()));
  const all = { ...Object.fromEntries(sent), "sec-websocket-key": key, "sec-websocket-version": "13" };
  return new Promise((resolve, reject) => {
    const options = { path, method: "GET" as const, headers: all, upgrade: "websocket", headersTimeout: timeoutMs };
    pool.dispatch(options, new HandshakeHandler(acceptValue(key), timeoutMs, { resolve, reject }));
  });
}

/** The value that proves that the handshake was understood. */
export function acceptValue(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

interface Settling {
  readonly resolve: (upgraded: Upgraded) => void;
  readonly reject: (error: Error) => void;
}

class HandshakeHandler implements Dispatcher.DispatchHandler {
  readonly #accept: string;
  readonly #timeoutMs: number;
  readonly #settling: Settling;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #refusal: { readonly status: number; readonly headers: Record<string, string | string[] | undefined> } | null = null;

  constructor(accept: string, timeoutMs: number, settling: Settling) {
    this.#accept = accept;
    this.#timeoutMs = timeoutMs;
    this.#settling = settling;
  }

  /** By this method undici knows handlers of this sort. */
  onRequestStart(): void {
    this.#refusal = null;
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    socket: Duplex,
  ): void {
    if (status === 101 && headers["sec-websocket-accept"] === this.#accept) {
      this.#settling.resolve({ ok: true, socket: socket as Socket });
      return;
    }
    socket.destroy();
    this.#settling.reject(new Error("the provider does not speak WebSocket"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#refusal = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    this.#pieces.push(chunk);
    if (this.#length <= REFUSAL_BYTES_MAX) return;
    this.onResponseEnd();
    controller.abort(new Error("the refusal is too long"));
  }

  onResponseEnd(): void {
    if (this.#refusal === null) this.#settling.reject(new Error("the provider sent no answer"));
    else this.#settling.resolve({ ok: false, ...this.#refusal, body: Buffer.concat(this.#pieces) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isLate = (error as { readonly code?: string }).code === "UND_ERR_HEADERS_TIMEOUT";
    this.#settling.reject(isLate ? new AttemptTimeout("no answer", this.#timeoutMs) : error);
  }
}
