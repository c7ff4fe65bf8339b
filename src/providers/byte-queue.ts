// Bytes between a connection that pushes and a reader that pulls. What comes in one turn of the event loop is read
// together. A slow reader stops the connection, so that a client which does not read costs bounded memory.

import type { ReplyBody, TransportFailure } from "./transport.ts";

/** So much may wait for a slow reader before the connection is paused. */
const HIGH_WATER_BYTES = 64 * 1024;

/** Source of the bytes. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  cancel(): void;
  release(): void;
  eventSeen(): void;
  lingers(isEndInSight: boolean): void;
}

/** The body of one reply. */
export class ByteQueue implements ReplyBody {
  readonly #connection: ByteSource;
  #chunks: Buffer[] = [];
  #length = 0;
  #isPaused = false;
  #isEnded = false;
  #isReleased = false;
  #failure: TransportFailure | null = null;
  #waiting: ((chunk: Buffer | null) => void) | null = null;

  readonly #hand = (): void => this.#wake(this.#takeAll());

  constructor(connection: ByteSource) {
    this.#connection = connection;
  }

  get failure(): TransportFailure | null {
    return this.#failure;
  }

  push(chunk: Buffer): void {
    if (this.#isEnded || this.#isReleased) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#waiting !== null) {
      if (this.#chunks.length === 1) process.nextTick(this.#hand);
    } else if (this.#length > HIGH_WATER_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#connection.pause();
    }
  }

  end(failure: TransportFailure | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    if (this.#waiting !== null && this.#chunks.length === 0) this.#wake(null);
  }

  tryRead(): Buffer | null | undefined {
    if (this.#chunks.length > 0) return this.#takeAll();
    return this.#isEnded ? null : undefined;
  }

  read(): Promise<Buffer | null> {
    return new Promise((resolve) => {
      const known = this.tryRead();
      if (known === undefined) this.#waiting = resolve;
      else resolve(known);
    });
  }

  eventSeen(): void {
    this.#connection.eventSeen();
  }

  lingers(isEndInSight: boolean): void {
    this.#connection.lingers(isEndInSight);
  }

  cancel(): void {
    if (!this.#isEnded) this.#connection.cancel();
  }

  release(): void {
    if (this.#isEnded) return;
    this.#isReleased = true;
    this.#connection.release();
    this.#takeAll();
  }

  #takeAll(): Buffer {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    if (this.#isPaused && !this.#isEnded) {
      this.#isPaused = false;
      this.#connection.resume();
    }
    return bytes;
  }

  #wake(chunk: Buffer | null): void {
    const wake = this.#waiting;
    this.#waiting = null;
    wake?.(chunk);
  }
}
