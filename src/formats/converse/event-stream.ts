// The framing of AWS's event streams: a message has lengths, headers, a payload and two checksums. Each message becomes
// one event; its type is in its headers. Lengths count only once their checksum is right, and have a maximum.

import { crc32 } from "node:zlib";
import type { SseEvent, SseReader } from "../sse/reader.ts";

/** Goes before the type of an event that reports a failure. */
export const EXCEPTION = "exception:";
/** The lengths of message and headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** Limits of AWS: a larger message is none. */
const HEADERS_BYTES_MAX = 128 * 1024;
const MESSAGE_BYTES_MAX = 24 * 1024 * 1024 + HEADERS_BYTES_MAX;
/** Bytes of a header's value by its type; types 6 and 7 say their length themselves. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, null, null, 8, 16] as const;
const TEXT_TYPE = 7;

export function createEventStreamReader(): SseReader {
  let chunks: Buffer[] = [];
  let length = 0;
  /** Bytes of the message that has begun; at first only the prelude is waited for. */
  let wanted = PRELUDE_BYTES;
  /** Found behind events that were good, and reported after them. */
  let problem: unknown = null;

  /** The messages that are whole. Leaves the rest for the next bytes. */
  function takeMessages(): readonly SseEvent[] {
    const bytes = takeAll();
    const events: SseEvent[] = [];
    let start = 0;
    wanted = PRELUDE_BYTES;
    try {
      while (bytes.length - start >= PRELUDE_BYTES) {
        const size = readSize(bytes, start);
        wanted = size;
        if (bytes.length - start < size) break;
        events.push(readMessage(bytes.subarray(start, start + size)));
        start += size;
        wanted = PRELUDE_BYTES;
      }
    } catch (error) {
      problem = error;
    }
    length = bytes.length - start;
    // A copy: the rest of a message must not keep the memory of what was read before it.
    if (length > 0) chunks.push(start === 0 ? bytes : Buffer.from(bytes.subarray(start)));
    return events;
  }

  function takeAll(): Buffer {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    chunks = [];
    return bytes;
  }

  return {
    isBinary: true,
    push(added) {
      if (problem !== null) throw problem;
      const piece = Buffer.from(added.buffer, added.byteOffset, added.byteLength);
      if (piece.length > 0) chunks.push(piece);
      length += piece.length;
      if (length < wanted) return [];
      const events = takeMessages();
      if (problem !== null && events.length === 0) throw problem;
      return events;
    },
    end() {
      if (problem !== null) throw problem;
      if (length > 0) throw new Error("the event stream ends within a message");
      return [];
    },
  };
}

function readSize(bytes: Buffer, start: number): number {
  const size = bytes.readUInt32BE(start);
  const headers = bytes.readUInt32BE(start + 4);
  if (bytes.readUInt32BE(start + 8) !== crc32(bytes.subarray(start, start + 8)))
    throw new Error("the lengths of a message of the event stream do not match their checksum");
  const isPossible = size <= MESSAGE_BYTES_MAX && headers <= HEADERS_BYTES_MAX;
  if (!isPossible || size < PRELUDE_BYTES + headers + CHECKSUM_BYTES)
    throw new Error("a message of the event stream has an impossible length");
  return size;
}

function readMessage(message: Buffer): SseEvent {
  const end = message.length - CHECKSUM_BYTES;
  if (message.readUInt32BE(end) !== crc32(message.subarray(0, end)))
    throw new Error("a message of the event stream does not match its checksum");
  const headersEnd = PRELUDE_BYTES + message.readUInt32BE(4);
  const headers = readHeaders(message.subarray(PRELUDE_BYTES, headersEnd));
  const data = message.toString("utf8", headersEnd, end);
  switch (headers.get(":message-type")) {
    case "exception":
      return { event: EXCEPTION + (headers.get(":exception-type") ?? ""), data: data === "" ? "{}" : data };
    case "error": {
      const problem = { message: headers.get(":error-message") ?? "" };
      return { event: EXCEPTION + (headers.get(":error-code") ?? ""), data: JSON.stringify(problem) };
    }
    default:
      return { event: headers.get(":event-type") ?? "", data };
  }
}

/** Reads the headers that are text, as all are that tell anything. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(nameEnd);
    const fixed = VALUE_BYTES[type];
    if (fixed === undefined) throw new Error("a message of the event stream has a header of an unknown type");
    const start = nameEnd + (fixed === null ? 3 : 1);
    const end = start + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
    if (end > bytes.length) throw new Error("a header of the event stream is longer than all of them");
    if (type === TEXT_TYPE) headers.set(bytes.toString("utf8", at + 1, nameEnd), bytes.toString("utf8", start, end));
    at = end;
  }
  return headers;
}
