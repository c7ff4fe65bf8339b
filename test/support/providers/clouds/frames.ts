// A framing that is no text: each frame is a length, a checksum and a JSON event. Both ends are here, the gateway's row
// and the server's stream.

import { crc32 } from "node:zlib";
import type { SseEvent, SseReader } from "../../../../src/formats/sse/reader.ts";
import type { FramingRow } from "../../../../src/providers/framing.ts";
import type { Behaviour } from "../fake-provider.ts";

const HEAD_BYTES = 8;
const FRAME_BYTES_MAX = 1 << 20;
export const FRAMES_TYPE = "application/vnd.frames";

export const FRAMES: FramingRow = { contentType: FRAMES_TYPE, newEvents: createFrameReader };

function createFrameReader(): SseReader {
  let rest = Buffer.alloc(0);

  function nextEvent(): SseEvent | null {
    if (rest.length < HEAD_BYTES) return null;
    const length = rest.readUInt32BE(0);
    if (length > FRAME_BYTES_MAX) throw new Error("a frame is longer than the gateway accepts");
    if (rest.length < HEAD_BYTES + length) return null;
    const payload = rest.subarray(HEAD_BYTES, HEAD_BYTES + length);
    if (crc32(payload) !== rest.readUInt32BE(4)) throw new Error("a frame does not match its checksum");
    rest = rest.subarray(HEAD_BYTES + length);
    return { event: null, data: payload.toString("utf8") };
  }

  return {
    isBinary: true,
    push(bytes) {
      rest = Buffer.concat([rest, bytes]);
      const events: SseEvent[] = [];
      try {
        for (let event = nextEvent(); event !== null; event = nextEvent()) events.push(event);
      } catch (error) {
        // What came before a broken frame is not lost: the frame is met again with the next bytes, or at the end.
        if (events.length === 0) throw error;
      }
      return events;
    },
    end() {
      if (nextEvent() === null && rest.length === 0) return [];
      throw new Error("the stream ended within a frame");
    },
  };
}

export function frame(json: object | string, checksum?: number): Buffer {
  const payload = Buffer.from(typeof json === "string" ? json : JSON.stringify(json));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(payload.length, 0);
  head.writeUInt32BE(checksum ?? crc32(payload), 4);
  return Buffer.concat([head, payload]);
}

/** The frames in pieces of that many bytes. */
export function sendsFrames(frames: readonly Buffer[], pieceBytes: number): Behaviour {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": FRAMES_TYPE });
    const bytes = Buffer.concat(frames);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      response.write(bytes.subarray(at, at + pieceBytes));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}
