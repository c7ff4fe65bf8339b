// Frames of the WebSocket protocol (RFC 6455), at both ends of a connection. No extension is negotiated.

import { randomBytes } from "node:crypto";

export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocol: 1002,
  unsupported: 1003,
  text: 1007,
  policy: 1008,
  tooBig: 1009,
  failed: 1011,
  busy: 1013,
};

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const OPCODES: ReadonlySet<number> = new Set(Object.values(OPCODE));

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** Ends a connection that cannot go on. The code tells the client why. */
export class FrameError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const CONTROL_MAX = 125;
const HEAD_MAX = 14;
const MASK_BYTES = 4;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Cuts bytes into frames. `allow` is told the length of a data frame before there is memory for it, and may throw. */
export class FrameReader {
  readonly #allow: (bytes: number, isContinued: boolean) => void;
  /** Frames of clients are masked, and those of servers are not. */
  readonly #isOfClient: boolean;
  readonly #head = Buffer.alloc(HEAD_MAX);
  #headBytes = 0;
  #frame: { readonly opcode: number; readonly isFinal: boolean; readonly payload: Buffer } | null = null;
  #filled = 0;

  constructor(allow: (bytes: number, isContinued: boolean) => void, isOfClient = true) {
    this.#allow = allow;
    this.#isOfClient = isOfClient;
  }

  *push(chunk: Buffer): Generator<Frame, void, void> {
    let at = 0;
    while (at < chunk.length || this.#isWhole()) {
      if (this.#frame === null) {
        at = this.#readHead(chunk, at);
        if (this.#frame === null) return;
      }
      const { payload } = this.#frame;
      const copied = chunk.copy(payload, this.#filled, at, at + payload.length - this.#filled);
      this.#filled += copied;
      at += copied;
      if (!this.#isWhole()) return;
      const frame = this.#frame;
      if (this.#isOfClient) mask(payload, this.#head.subarray(this.#headBytes - MASK_BYTES, this.#headBytes));
      this.#frame = null;
      this.#headBytes = 0;
      this.#filled = 0;
      yield frame;
    }
  }

  /** Bytes of a frame that has not come whole. */
  get filledBytes(): number {
    return this.#filled;
  }

  #isWhole(): boolean {
    return this.#frame !== null && this.#filled === this.#frame.payload.length;
  }

  /** Byte by byte, since it may arrive in any pieces. Returns the place behind it. */
  #readHead(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      this.#head[this.#headBytes] = chunk[at] as number;
      this.#headBytes += 1;
      at += 1;
      if (this.#headBytes < 2 || this.#headBytes < headLength(this.#head)) continue;
      this.#begin();
      break;
    }
    return at;
  }

  #begin(): void {
    const [first = 0, second = 0] = this.#head;
    const opcode = first & 0x0f;
    const isFinal = (first & 0x80) !== 0;
    const length = lengthOf(this.#head);
    if ((first & 0x70) !== 0) throw new FrameError(CLOSE.protocol, "no extension was agreed on");
    if (!OPCODES.has(opcode)) throw new FrameError(CLOSE.protocol, "unknown opcode");
    const isMasked = (second & 0x80) !== 0;
    if (isMasked !== this.#isOfClient) throw new FrameError(CLOSE.protocol, "a client masks its frames");
    const isControl = opcode >= OPCODE.close;
    if (isControl && (!isFinal || length > CONTROL_MAX))
      throw new FrameError(CLOSE.protocol, "a control frame is short and whole");
    if (!isControl) this.#allow(length, opcode === OPCODE.continuation);
    this.#frame = { opcode, isFinal, payload: Buffer.allocUnsafe(length) };
  }
}

function headLength(head: Buffer): number {
  const short = (head[1] as number) & 0x7f;
  const extended = short === LENGTH_16 ? 2 : short === LENGTH_64 ? 8 : 0;
  return 2 + extended + (((head[1] as number) & 0x80) === 0 ? 0 : MASK_BYTES);
}

function lengthOf(head: Buffer): number {
  const short = (head[1] as number) & 0x7f;
  if (short < LENGTH_16) return short;
  return short === LENGTH_16 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
}

function mask(payload: Buffer, key: Buffer): void {
  for (let index = 0; index < payload.length; index += 1) {
    payload[index] = (payload[index] as number) ^ (key[index & 3] as number);
  }
}

/** A whole frame. A server masks nothing. */
export function writeFrame(opcode: number, payload: Buffer, isOfClient = false): Buffer {
  const { length } = payload;
  const extended = length < LENGTH_16 ? 0 : length <= 0xffff ? 2 : 8;
  const key = isOfClient ? randomBytes(MASK_BYTES) : NO_MASK;
  const frame = Buffer.allocUnsafe(2 + extended + key.length + length);
  frame[0] = 0x80 | opcode;
  frame[1] = (extended === 0 ? length : extended === 2 ? LENGTH_16 : LENGTH_64) | (isOfClient ? 0x80 : 0);
  if (extended === 2) frame.writeUInt16BE(length, 2);
  else if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  key.copy(frame, 2 + extended);
  payload.copy(frame, 2 + extended + key.length);
  if (isOfClient) mask(frame.subarray(2 + extended + key.length), key);
  return frame;
}

const NO_MASK = Buffer.alloc(0);

/** Codes that an end of a connection may send. */
export function isCloseCode(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
}
