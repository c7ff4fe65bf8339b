// Server-sent events: any split of any stream gives the same events.

import { describe, expect, it } from "vitest";
import { createSseReader, type SseEvent, SseOverflow } from "../../../../src/formats/sse/reader.ts";
import { fc } from "../../../support/property.ts";

function read(pieces: readonly Uint8Array[]): SseEvent[] {
  const reader = createSseReader();
  return [...pieces.flatMap((piece) => [...reader.push(piece)]), ...reader.end()];
}

function split(bytes: Buffer, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.string({ maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
  fc.constantFrom(
    "data:",
    "data",
    ": comment",
    "event: error",
    "id: 7",
    "retry: 5",
    "",
    "",
    "data:😀é",
    'data: {"a":1}',
  ),
);
const stream = fc.array(fc.tuple(line, lineEnd), { maxLength: 20 }).map((lines) => lines.flat().join(""));

describe("createSseReader", () => {
  it("gives the same events however the bytes are cut", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        expect(read(split(bytes, cuts))).toEqual(read([bytes]));
        expect(read(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(read([bytes]));
      }),
    );
  });

  it("gives the same events with any line ends", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const withEnds = (end: string) => read([Buffer.from(lines.map((text) => text + end).join(""))]);
        expect(withEnds("\r\n")).toEqual(withEnds("\n"));
        expect(withEnds("\r")).toEqual(withEnds("\n"));
      }),
    );
  });

  it("gives back what was written", () => {
    const events = fc.array(
      fc.array(
        fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, "")),
        { minLength: 1, maxLength: 3 },
      ),
    );
    fc.assert(
      fc.property(events, (written) => {
        const text = written.map((lines) => `${lines.map((data) => `data: ${data}\n`).join("")}\n`).join("");
        expect(read([Buffer.from(text)]).map(({ data }) => data)).toEqual(written.map((lines) => lines.join("\n")));
      }),
    );
  });

  it.each([
    ["no blank line at the end", "data: a", [{ event: null, data: "a" }]],
    ["several data lines", "data: a\ndata: b\n\n", [{ event: null, data: "a\nb" }]],
    ["a name", "event: error\ndata: x\n\n", [{ event: "error", data: "x" }]],
    ["a name without data", "event: ping\n\ndata: x\n\n", [{ event: null, data: "x" }]],
    ["comments and blank lines", ": hi\n\n\n\n: there\ndata: x\n\n", [{ event: null, data: "x" }]],
    ["one space of two", "data:  x\n\n", [{ event: null, data: " x" }]],
    ["no space", "data:x\n\n", [{ event: null, data: "x" }]],
    ["a byte order mark", "\ufeffdata: x\n\n", [{ event: null, data: "x" }]],
    ["nothing", "", []],
  ])("reads %s", (_name, text, expected) => {
    expect(read([Buffer.from(text)])).toEqual(expected);
  });

  it("leaves out a byte order mark at the start only, in one piece or in several", () => {
    const mark = Buffer.from("\ufeff");
    const event = Buffer.from("data: x\n\n");
    const kept = [Buffer.from("data: "), mark, Buffer.from("x\n\n")];
    expect(read([mark.subarray(0, 1), mark.subarray(1), event])).toEqual([{ event: null, data: "x" }]);
    expect(read(kept)).toEqual([{ event: null, data: "\ufeffx" }]);
    expect(read([event, ...kept])[1]).toEqual({ event: null, data: "\ufeffx" });
  });

  it("reads a line as long as the last event of a Responses stream may be", () => {
    const data = "x".repeat(10 << 20);
    expect(read([Buffer.from(`data: ${data}\n\n`)])).toEqual([{ event: null, data }]);
  });

  it("refuses a line without end, cut into pieces or not", () => {
    const piece = Buffer.alloc(256 * 1024, "x");
    const reader = createSseReader();
    expect(() => {
      for (let count = 0; count < 100; count++) reader.push(piece);
    }).toThrow(SseOverflow);
    expect(() => createSseReader().push(Buffer.alloc(17 << 20, "x"))).toThrow(SseOverflow);
  });

  it("refuses an event without end", () => {
    const reader = createSseReader();
    const lines = Buffer.from(`data: ${"x".repeat(1000)}\n`.repeat(1000));
    expect(() => {
      for (let count = 0; count < 100; count++) reader.push(lines);
    }).toThrow(SseOverflow);
  });
});
