// The reader of AWS's event streams against an encoder of its own: any split, any flipped bit, exceptions and ends.

import { describe, expect, it } from "vitest";
import { createEventStreamReader, EXCEPTION } from "../../../../src/formats/converse/event-stream.ts";
import type { SseEvent } from "../../../../src/formats/sse/reader.ts";
import { fc } from "../../../support/property.ts";
import { checksum, event, exception, message, problem } from "../../../support/providers/clouds/event-stream.ts";

/** The events, and the problem that ended the reading. */
function read(pieces: readonly Uint8Array[]): {
  readonly events: readonly SseEvent[];
  readonly problem: string | null;
} {
  const reader = createEventStreamReader();
  const events: SseEvent[] = [];
  try {
    for (const piece of pieces) events.push(...reader.push(piece));
    events.push(...reader.end());
    return { events, problem: null };
  } catch (error) {
    return { events, problem: (error as Error).message };
  }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const HELLO = [
  event("messageStart", { role: "assistant" }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Grüße 🙂" } }),
  event("metadata", { usage: { inputTokens: 3, outputTokens: 2 } }),
];
const EVENTS = [
  { event: "messageStart", data: '{"role":"assistant"}' },
  { event: "contentBlockDelta", data: '{"contentBlockIndex":0,"delta":{"text":"Grüße 🙂"}}' },
  { event: "metadata", data: '{"usage":{"inputTokens":3,"outputTokens":2}}' },
];

describe("an event stream", () => {
  it("has the checksum of the standard", () => {
    expect(checksum(Buffer.from("123456789"))).toBe(0xcbf43926);
  });

  it("is the same wherever it is cut in two, and byte by byte", () => {
    const bytes = Buffer.concat(HELLO);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual({
        events: EVENTS,
        problem: null,
      });
    }
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ events: EVENTS, problem: null });
  });

  it("gives back whatever was encoded, in any pieces", () => {
    const values = fc.record({
      type: fc.stringMatching(/^[a-zA-Z]{1,40}$/),
      data: fc.json(),
      more: fc.string({ maxLength: 60 }),
    });
    fc.assert(
      fc.property(fc.array(values, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (rows, places) => {
        const bytes = Buffer.concat(
          rows.map(({ type, data, more }) =>
            message({ ":message-type": "event", "x-more": more, ":event-type": type }, data),
          ),
        );
        const events = rows.map(({ type, data }) => ({ event: type, data }));
        expect(read(cut(bytes, places))).toEqual({ events, problem: null });
      }),
    );
  });

  it("finds every flipped bit, and keeps what came before it", () => {
    const bytes = Buffer.concat(HELLO);
    const ends = HELLO.map((_, index) => HELLO.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0));
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), fc.array(fc.nat(), { maxLength: 6 }), (bit, places) => {
        const broken = Buffer.from(bytes);
        const at = bit >> 3;
        broken[at] = (broken[at] as number) ^ (1 << (bit & 7));
        const { events, problem } = read(cut(broken, places));
        expect(problem).toMatch(/checksum|length/);
        expect(events).toEqual(EVENTS.slice(0, ends.filter((end) => end <= at).length));
      }),
      { numRuns: 400 },
    );
  });

  it("that ends within a message is broken", () => {
    const bytes = Buffer.concat(HELLO);
    expect(read([bytes.subarray(0, bytes.length - 1)])).toEqual({
      events: EVENTS.slice(0, 2),
      problem: "the event stream ends within a message",
    });
  });

  it("cannot ask for memory by a length", () => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(0xffff_fff0, 0);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(checksum(lengths));
    expect(read([lengths, sum]).problem).toBe("a message of the event stream has an impossible length");
    lengths.writeUInt32BE(20, 0);
    lengths.writeUInt32BE(8, 4);
    sum.writeUInt32BE(checksum(lengths));
    expect(read([lengths, sum]).problem).toBe("a message of the event stream has an impossible length");
  });

  it("tells of exceptions and of errors of the connection", () => {
    expect(read([exception("throttlingException", { message: "Too fast." })]).events).toEqual([
      { event: `${EXCEPTION}throttlingException`, data: '{"message":"Too fast."}' },
    ]);
    expect(read([problem("InternalError", "Gone.")]).events).toEqual([
      { event: `${EXCEPTION}InternalError`, data: '{"message":"Gone."}' },
    ]);
  });

  it("skips headers of every type", () => {
    const sized = (bytes: string): Buffer => Buffer.concat([Buffer.from([0, bytes.length]), Buffer.from(bytes)]);
    const lengths = [0, 0, 1, 2, 4, 8, null, null, 8, 16] as const;
    const headers = Object.fromEntries(
      lengths.map((length, type) => [
        `h${type}`,
        { type, bytes: length === null ? sized("abc") : Buffer.alloc(length) },
      ]),
    );
    expect(read([message({ ...headers, ":event-type": "kept" }, "{}")]).events).toEqual([
      { event: "kept", data: "{}" },
    ]);
    expect(read([message({ odd: { type: 10, bytes: Buffer.alloc(0) } }, "{}")]).problem).toContain("unknown type");
    const tooLong = { type: 7, bytes: Buffer.from([0xff, 0xff]) };
    expect(read([message({ odd: tooLong }, "{}")]).problem).toContain("longer than all");
  });
});
