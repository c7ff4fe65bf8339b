// An encoder of AWS's event streams, made from their description alone: it shares nothing with the gateway's reader, and
// has its own checksum.

import { Buffer } from "node:buffer";

const POLYNOMIAL = 0xedb88320;

/** Bit by bit, as the standard has it. */
export function checksum(bytes: Uint8Array): number {
  let state = 0xffffffff;
  for (const byte of bytes) {
    state ^= byte;
    for (let bit = 0; bit < 8; bit += 1) state = (state & 1) === 1 ? (state >>> 1) ^ POLYNOMIAL : state >>> 1;
  }
  return (state ^ 0xffffffff) >>> 0;
}

/** A header's value: text, or bytes that follow the number of their type. */
export type HeaderValue = string | { readonly type: number; readonly bytes: Buffer };

export function message(headers: Readonly<Record<string, HeaderValue>>, payload: string | Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(12 + head.length + body.length + 4, 0);
  lengths.writeUInt32BE(head.length, 4);
  const signed = Buffer.concat([lengths, uint32(checksum(lengths)), head, body]);
  return Buffer.concat([signed, uint32(checksum(signed))]);
}

function header(name: string, value: HeaderValue): Buffer {
  const named = Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name)]);
  if (typeof value !== "string") return Buffer.concat([named, Buffer.from([value.type]), value.bytes]);
  const text = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([named, Buffer.from([7]), length, text]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function event(type: string, payload: object): Buffer {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return message(headers, JSON.stringify(payload));
}

export function exception(type: string, payload: object): Buffer {
  const headers = { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" };
  return message(headers, JSON.stringify(payload));
}

/** A failure of the connection itself, which has no payload. */
export function problem(code: string, words: string): Buffer {
  return message({ ":message-type": "error", ":error-code": code, ":error-message": words }, "");
}
