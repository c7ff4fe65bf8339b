// One keep-alive connection of the load generator. It writes prepared bytes and finds the end of each response, nothing
// more: the CPU time it uses is missing for the server on the same machine.

import { connect, type Socket } from "node:net";

/** A server to send requests to. */
export interface Target {
  readonly port: number;
  /** Sent as a bearer key when there is one. */
  readonly key: string | null;
  /** Chat-completions when left out. */
  readonly path?: string;
  /** Headers that only this server needs. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Part of a response that the generator reads. */
export interface Reply {
  readonly status: number;
  /** From `Retry-After`; 0 where the response has none. */
  readonly retryAfterSeconds: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
/** Ends a chunked body. */
const LAST_CHUNK = "\r\n0\r\n\r\n";

/** The bytes of a whole request, made once and sent many times. */
export function prepareRequest({ key, path = "/v1/chat/completions", headers = {} }: Target, body: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(body));
  const isStream = "stream" in body;
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `accept: ${isStream ? "text/event-stream" : "application/json"}`,
    ...(key === null ? [] : [`authorization: Bearer ${key}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${bytes.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes]);
}

/** Requests are not pipelined: `send` comes after the last reply. */
export class Connection {
  #socket: Socket;
  readonly #onReply: (reply: Reply) => void;
  readonly #onBytes: (bytes: Buffer) => void;
  #head: Buffer | null = null;
  #status = 0;
  #retryAfterSeconds = 0;
  /** Bytes of the body still to come; null while the head is read, -1 when the body is chunked. */
  #left: number | null = null;
  #tail = "";
  #isLast = false;

  constructor(socket: Socket, onReply: (reply: Reply) => void, onBytes: (bytes: Buffer) => void = () => {}) {
    this.#socket = socket;
    this.#onReply = onReply;
    this.#onBytes = onBytes;
    this.#read();
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(): void {
    this.#socket.on("data", (bytes) => this.#take(bytes));
  }

  /** Connects again, as every client does after a response that was the last one on its connection. */
  #renew(): void {
    const port = this.#socket.remotePort as number;
    this.#socket.destroy();
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("error", () => {});
    this.#read();
  }

  #take(bytes: Buffer): void {
    this.#onBytes(bytes);
    if (this.#left !== null) {
      this.#takeBody(bytes);
      return;
    }
    this.#head = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return;
    const text = this.#head.toString("latin1", 0, end);
    const body = this.#head.subarray(end + HEAD_END.length);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text);
    this.#status = Number(text.slice(9, 12));
    this.#isLast = /\r\nconnection: *close/i.test(text);
    this.#retryAfterSeconds = this.#status === 503 ? Number(/\r\nretry-after: *(\d+)/i.exec(text)?.[1] ?? 0) : 0;
    this.#left = length === null ? -1 : Number(length[1]);
    this.#head = null;
    this.#tail = "";
    this.#takeBody(body);
  }

  /** A chunked body ends where its last bytes are the last chunk. */
  #takeBody(bytes: Buffer): void {
    if (this.#left === -1) {
      this.#tail = (this.#tail + bytes.toString("latin1")).slice(-LAST_CHUNK.length);
      if (this.#tail === LAST_CHUNK) this.#finish();
      return;
    }
    this.#left = (this.#left as number) - bytes.length;
    if (this.#left === 0) this.#finish();
  }

  #finish(): void {
    this.#left = null;
    if (this.#isLast) this.#renew();
    this.#onReply({ status: this.#status, retryAfterSeconds: this.#retryAfterSeconds });
  }
}

/** Resolves when connected. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => {
      socket.off("error", reject);
      // A server that ends shows in the counts: its responses are missing.
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("error", reject);
  });
}
