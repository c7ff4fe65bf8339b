// A connection inside the process: requests that arrive in other ways than over HTTP pass through the server like any
// other, with its admission, limits, log and charges. Both ends are streams in memory, each as fast as the other reads.

import { ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, type Server } from "node:http";
import { Duplex } from "node:stream";
import type { NativeAnswer } from "../../core/batches/batches.ts";
import type { KeyRecord } from "../../core/keys.ts";
import type { Holder } from "../../gateway/state/held.ts";

/** The client that the requests come from. */
interface InnerClient {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly encrypted: boolean;
  /** Holds the last response of its connection; null where it has none. */
  readonly holder: Holder | null;
  /** Admits its requests with this key, by its hash. Absent where they bring one. */
  readonly keyHash?: string | null;
  /** Names the next hold that its request may take. Absent where it may take any. */
  readonly nextHoldId?: (() => Promise<string>) | undefined;
  /** The answer of a host that was asked before. Absent where none was. */
  readonly native?: NativeAnswer | null;
}

type AdmittedKey = Pick<KeyRecord, "id" | "hash">;

/** One end of the connection. The server takes the other one for a socket. */
export class InnerSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly encrypted: boolean;
  readonly holder: Holder | null;
  readonly keyHash: string | null;
  readonly nextHoldId: (() => Promise<string>) | null;
  readonly native: NativeAnswer | null;
  /** The key that its request was admitted with. */
  key: AdmittedKey | null = null;
  /** Amount that its requests were charged. */
  charge = 0n;
  bytesRead = 0;
  #other: InnerSocket | null = null;
  #resume: (() => void) | null = null;

  constructor({
    remoteAddress,
    remotePort,
    encrypted,
    holder,
    keyHash = null,
    nextHoldId,
    native = null,
  }: InnerClient) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.encrypted = encrypted;
    this.holder = holder;
    this.keyHash = keyHash;
    this.nextHoldId = nextHoldId ?? null;
    this.native = native;
  }

  static pair(origin: InnerClient): readonly [client: InnerSocket, server: InnerSocket] {
    const client = new InnerSocket(origin);
    const server = new InnerSocket(origin);
    client.#other = server;
    server.#other = client;
    return [client, server];
  }

  noteKey(key: AdmittedKey): void {
    this.key = key;
    if (this.#other !== null) this.#other.key = key;
  }

  noteCharge(charge: bigint): void {
    if (this.#other !== null) this.#other.charge += charge;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const other = this.#other;
    if (other === null || other.destroyed) {
      done();
      return;
    }
    other.bytesRead += chunk.length;
    if (other.push(chunk)) done();
    else other.#resume = done;
  }

  override _final(done: () => void): void {
    if (this.#other?.destroyed === false) this.#other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this._read();
    // What was ended in order may still be read by the other end.
    if (!this.writableFinished) this.#other?.destroy();
    done(error);
  }
}

/** The connection that a request came over, if it is one inside the process. */
export function holderOf({ socket }: Pick<IncomingMessage, "socket">): Holder | null {
  return socket instanceof InnerSocket ? socket.holder : null;
}

/** Tells the client of a request inside the process by which key it was admitted. */
export function noteKey({ socket }: Pick<IncomingMessage, "socket">, key: AdmittedKey): void {
  if (socket instanceof InnerSocket) socket.noteKey({ id: key.id, hash: key.hash });
}

/** The key by which a request inside the process was admitted, once it was. */
export function keyOf({ socket }: Pick<ClientRequest, "socket">): AdmittedKey | null {
  return socket instanceof InnerSocket ? socket.key : null;
}

/** The hash of the key that a request inside the process comes with; null for any other request. */
export function keyHashOf({ socket }: Pick<IncomingMessage, "socket">): string | null {
  return socket instanceof InnerSocket ? socket.keyHash : null;
}

/** Names the holds of a line of a batch; null for any other request. */
export function holdNamesOf({ socket }: Pick<IncomingMessage, "socket">): (() => Promise<string>) | null {
  return socket instanceof InnerSocket ? socket.nextHoldId : null;
}

/** The answer of a host to a line of a batch; null for any other request. */
export function nativeOf({ socket }: Pick<IncomingMessage, "socket">): NativeAnswer | null {
  return socket instanceof InnerSocket ? socket.native : null;
}

/** Tells the client of a request inside the process what it was charged. */
export function noteCharge({ socket }: Pick<IncomingMessage, "socket">, charge: bigint): void {
  if (socket instanceof InnerSocket) socket.noteCharge(charge);
}

/** Charges of the requests that were sent over this connection. */
export function chargeOf({ socket }: Pick<ClientRequest, "socket">): bigint {
  return socket instanceof InnerSocket ? socket.charge : 0n;
}

interface InnerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
}

/** Sends a request to the server as a client of its own. Destroying it is a client that disconnects. */
export function requestInside(server: Server, origin: InnerClient, { body, ...options }: InnerRequest): ClientRequest {
  const [client, socket] = InnerSocket.pair(origin);
  const sent = new ClientRequest({ ...options, createConnection: () => client });
  server.emit("connection", socket);
  sent.end(body);
  return sent;
}
