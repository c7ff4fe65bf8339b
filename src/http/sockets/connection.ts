// A WebSocket connection after its handshake: whole messages in, texts out. It answers pings, asks a silent other end for a
// sign of life, and cuts off one that reads nothing.

import { isUtf8 } from "node:buffer";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { GatewayError } from "../../core/errors.ts";
import { type BodyCharge, SPEED_MIN_BYTES_PER_MS } from "../exchange/body.ts";
import { cutWhenStalled } from "../exchange/stream.ts";
import { CLOSE, type Frame, FrameError, FrameReader, isCloseCode, OPCODE, writeFrame } from "./frames.ts";

interface SocketLimits {
  readonly messageBytes: number;
  readonly stallMs: number;
  /** A client that sends nothing for so long is asked for a sign of life, and is gone without one after as long again. */
  readonly pingMs: number;
  /** A message may be slower than the least speed for so long. */
  readonly graceMs: number;
}

interface SocketEvents {
  /** A text message. Its charge is released when the message is no longer held. */
  message(bytes: Buffer, charge: BodyCharge | null): void;
  closed(): void;
}

export interface SocketTerms {
  readonly limits: SocketLimits;
  readonly events: SocketEvents;
  /** Charges a message before it is read; null where there is no room. */
  readonly charge: (bytes: number) => BodyCharge | null;
  /** Says that the gateway is the client of this connection. */
  readonly isClient?: boolean;
  /** Says that messages are read however slowly others are sent: the relay slows down their source. */
  readonly isRelayed?: boolean;
}

/** Charged for each message in addition: also an empty one takes up memory. */
const MESSAGE_BYTES = 1024;
/** The first piece of a message in parts has this much room, and more room doubles it. */
const FIRST_ROOM_BYTES = 4 * 1024;
const SPEED_CHECK_MS = 1_000;
/** The time that a client may take to close its end as well. */
const CLOSING_MS = 2_000;
/** Stands for a close frame without a code. */
const NO_CODE = 1005;
const EMPTY = Buffer.alloc(0);

export class SocketConnection {
  readonly #socket: Socket;
  readonly #terms: SocketTerms;
  readonly #reader: FrameReader;
  /** The parts of a message so far, in one piece of memory: a list of them would grow with parts of no bytes. */
  #room: Buffer = EMPTY;
  #length = 0;
  #isContinued = false;
  #charge: BodyCharge | null = null;
  #drained: Promise<void> | null = null;
  #pauses = 0;
  #closedWith: number | null = null;
  #speed: NodeJS.Timeout | null = null;
  #isHeard = true;
  #isClosing = false;
  readonly #pings: NodeJS.Timeout;

  constructor(socket: Socket, terms: SocketTerms) {
    this.#socket = socket;
    this.#terms = terms;
    this.#reader = new FrameReader((bytes, isContinued) => this.#allow(bytes, isContinued), terms.isClient !== true);
    this.#pings = setInterval(() => this.#ping(), terms.limits.pingMs).unref();
    socket.on("end", () => socket.destroy());
    socket.once("close", () => this.#over());
  }

  /** Reads messages from now on. `head` came with the handshake. */
  begin(head: Buffer): void {
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    if (head.length > 0) this.#read(head);
  }

  get isOpen(): boolean {
    return !this.#isClosing && !this.#socket.destroyed;
  }

  /** The code with which the other end closed; null where it did not. */
  get closedWith(): number | null {
    return this.#closedWith;
  }

  /** Reads nothing until as many calls of `resume`. */
  pause(): void {
    this.#pauses += 1;
    this.#socket.pause();
    this.#stopSpeedWatch();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    this.#isHeard = true;
    this.#watchSpeed();
    this.#socket.resume();
  }

  /** Resolves when there is room for the next message; null where there is room already. */
  send(text: string | Buffer): Promise<void> | null {
    const payload = typeof text === "string" ? Buffer.from(text) : text;
    if (!this.isOpen || this.#socket.write(this.#frame(OPCODE.text, payload))) return null;
    this.#drained ??= this.#waitForDrain();
    return this.#drained;
  }

  /** Nothing is read meanwhile, or a client that reads nothing could ask for ever more. */
  async #waitForDrain(): Promise<void> {
    const socket = this.#socket;
    const isPaused = this.#terms.isRelayed !== true;
    if (isPaused) this.pause();
    const stopWatching = cutWhenStalled({ socket, destroy: () => socket.destroy() }, this.#terms.limits.stallMs);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        socket.off("drain", done).off("close", done);
        resolve();
      };
      socket.on("drain", done).on("close", done);
    });
    stopWatching();
    this.#drained = null;
    if (isPaused) this.resume();
  }

  #frame(opcode: number, payload: Buffer): Buffer {
    return writeFrame(opcode, payload, this.#terms.isClient);
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code);
    payload.write(reason, 2);
    this.#end(payload);
  }

  #end(payload: Buffer): void {
    this.#isClosing = true;
    this.#socket.write(this.#frame(OPCODE.close, payload));
    const timer = setTimeout(() => this.#socket.destroy(), CLOSING_MS).unref();
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #over(): void {
    clearInterval(this.#pings);
    this.#stopSpeedWatch();
    this.#release();
    this.#terms.events.closed();
  }

  #release(): void {
    this.#charge?.release();
    this.#charge = null;
  }

  #read(chunk: Buffer): void {
    this.#isHeard = true;
    try {
      for (const frame of this.#reader.push(chunk)) {
        this.#take(frame);
        if (this.#socket.destroyed) return;
      }
      this.#watchSpeed();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#fail(error);
    }
  }

  /** Ends the connection: the rest of its bytes cannot be read. */
  #fail({ code, message }: FrameError): void {
    this.#stopSpeedWatch();
    this.#socket.removeAllListeners("data").resume();
    this.#release();
    this.#room = EMPTY;
    this.close(code, message);
  }

  /** A message that has begun holds memory, so its rest may not take as long as it likes. */
  #watchSpeed(): void {
    if (this.#charge === null || this.#pauses > 0 || this.#speed !== null) return;
    const sinceMs = performance.now();
    const before = this.#arrivedBytes;
    this.#speed = setInterval(() => {
      const spentMs = (this.#arrivedBytes - before) / SPEED_MIN_BYTES_PER_MS;
      if (performance.now() - sinceMs - spentMs <= this.#terms.limits.graceMs) return;
      this.#fail(new FrameError(CLOSE.policy, "the message arrives too slowly"));
    }, SPEED_CHECK_MS).unref();
  }

  get #arrivedBytes(): number {
    return this.#length + this.#reader.filledBytes;
  }

  #stopSpeedWatch(): void {
    if (this.#speed !== null) clearInterval(this.#speed);
    this.#speed = null;
  }

  #allow(bytes: number, isContinued: boolean): void {
    const whole = this.#length + bytes;
    if (isContinued !== this.#isContinued) throw new FrameError(CLOSE.protocol, "a message is out of order");
    if (whole > this.#terms.limits.messageBytes) throw new FrameError(CLOSE.tooBig, "the message is too large");
    if (this.#isClosing) return;
    try {
      if (this.#charge === null) this.#charge = this.#terms.charge(MESSAGE_BYTES + bytes);
      else this.#charge.add(bytes);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#release();
    }
    if (this.#charge === null) throw new FrameError(CLOSE.busy, "no memory for the message now, try again later");
  }

  #take({ opcode, isFinal, payload }: Frame): void {
    if (opcode === OPCODE.ping) this.#pong(payload);
    else if (opcode === OPCODE.close) this.#closedByClient(payload);
    else if (opcode === OPCODE.binary) throw new FrameError(CLOSE.unsupported, "send JSON as text");
    else if (opcode < OPCODE.close && !this.#isClosing) {
      const isWhole = isFinal && !this.#isContinued;
      this.#isContinued = !isFinal;
      if (!isWhole) this.#append(payload);
      if (isFinal) this.#complete(isWhole ? payload : this.#room.subarray(0, this.#length));
    }
  }

  #append(payload: Buffer): void {
    const length = this.#length + payload.length;
    if (length > this.#room.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_ROOM_BYTES, length, 2 * this.#room.length));
      this.#room.copy(larger, 0, 0, this.#length);
      this.#room = larger;
    }
    payload.copy(this.#room, this.#length);
    this.#length = length;
  }

  #complete(message: Buffer): void {
    const charge = this.#charge;
    this.#stopSpeedWatch();
    this.#room = EMPTY;
    this.#length = 0;
    this.#charge = null;
    if (isUtf8(message)) {
      this.#terms.events.message(message, charge);
      return;
    }
    charge?.release();
    throw new FrameError(CLOSE.text, "the message is not UTF-8");
  }

  #closedByClient(payload: Buffer): void {
    const code = payload.length >= 2 ? payload.readUInt16BE() : null;
    const isFine = payload.length === 0 || (code !== null && isCloseCode(code) && isUtf8(payload.subarray(2)));
    if (!isFine) throw new FrameError(CLOSE.protocol, "the close frame is not valid");
    this.#closedWith = code ?? NO_CODE;
    if (!this.#isClosing) this.#end(payload.subarray(0, 2));
    this.#socket.end();
  }

  /** A client that reads nothing gets no more of them. */
  #pong(payload: Buffer): void {
    if (this.isOpen && !this.#socket.writableNeedDrain) this.#socket.write(this.#frame(OPCODE.pong, payload));
  }

  #ping(): void {
    // A connection that is not read has not been silent.
    if (this.#pauses > 0) return;
    if (!this.#isHeard) this.#socket.destroy();
    this.#isHeard = false;
    if (this.isOpen) this.#socket.write(this.#frame(OPCODE.ping, EMPTY));
  }
}
