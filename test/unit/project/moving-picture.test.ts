// The moving picture of the README: a real animation, small enough to be loaded with the page, and how it is written.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { writeMovingPicture } from "../../screenshots/apng.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const BYTES_MAX = 1_000_000;

interface Chunk {
  readonly type: string;
  readonly body: Buffer;
}

function chunksOf(png: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const named = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(named));
    chunks.push({ type: named.toString("latin1", 0, 4), body: named.subarray(4) });
    at += length + 12;
  }
  return chunks;
}

const only = (chunks: readonly Chunk[], type: string): readonly Buffer[] =>
  chunks.filter((chunk) => chunk.type === type).map(({ body }) => body);

describe("the picture of the README", () => {
  const path = join(ROOT, "docs/images/tour.png");

  it("moves, is below a megabyte, and the page shows it", () => {
    expect(statSync(path).size).toBeLessThan(BYTES_MAX);
    const chunks = chunksOf(readFileSync(path));
    const [control] = only(chunks, "acTL");
    const frames = only(chunks, "fcTL");
    expect(control?.readUInt32BE(0)).toBe(frames.length);
    expect(frames.length).toBeGreaterThan(6);
    const seconds = frames.reduce((sum, frame) => sum + frame.readUInt16BE(20) / frame.readUInt16BE(22), 0);
    expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(30);
    expect(readFileSync(join(ROOT, "README.md"), "utf8")).toContain("docs/images/tour.png");
  });
});

describe("writing one", () => {
  /** A PNG of three channels, each row with another filter, as browsers write them. */
  function png(width: number, rows: readonly (readonly number[])[], filter: number): Buffer {
    const stride = width * 3;
    const flat = rows.map((row) =>
      Buffer.from(row.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])),
    );
    const filtered = flat.map((row, y) => {
      const above = flat[y - 1] ?? Buffer.alloc(stride);
      return Buffer.from([
        filter,
        ...row.map((value, x) => {
          const [left, up] = [row[x - 3] ?? 0, above[x] ?? 0];
          const corner = above[x - 3] ?? 0;
          const paeth = [left, up, corner].toSorted(
            (a, b) => Math.abs(left + up - corner - a) - Math.abs(left + up - corner - b),
          );
          return (value - [0, left, up, Math.floor((left + up) / 2), paeth[0] ?? 0][filter]!) & 255;
        }),
      ]);
    });
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(rows.length, 4);
    header.set([8, 2, 0, 0, 0], 8);
    const chunk = (type: string, body: Buffer): Buffer => {
      const named = Buffer.concat([Buffer.from(type), body]);
      const ends = [Buffer.alloc(4), Buffer.alloc(4)] as const;
      ends[0].writeUInt32BE(body.length);
      ends[1].writeUInt32BE(crc32(named));
      return Buffer.concat([ends[0], named, ends[1]]);
    };
    const data = deflateSync(Buffer.concat(filtered));
    const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
  }

  const [W, R, G] = [0xffffff, 0xc80000, 0x00a000];
  const FIRST = [
    [W, W, W, W],
    [W, R, W, W],
    [W, W, W, W],
  ];
  const SECOND = [
    [W, W, W, W],
    [W, R, G, W],
    [W, W, G, W],
  ];

  it.each([0, 1, 2, 3, 4])("keeps the colours, with filter %d, and sends only what changed", (filter) => {
    const shots = [
      { png: png(4, FIRST, filter), ms: 100 },
      { png: png(4, SECOND, filter), ms: 250 },
    ];
    const chunks = chunksOf(writeMovingPicture(shots));
    const [palette = Buffer.alloc(0)] = only(chunks, "PLTE");
    const colour = (index: number): number => palette.readUIntBE(index * 3, 3);
    const [whole = Buffer.alloc(0)] = only(chunks, "IDAT");
    const drawn = inflateSync(whole);
    const rows = [0, 1, 2].map((y) => [...drawn.subarray(y * 5 + 1, y * 5 + 5)].map(colour));
    expect(rows).toEqual(FIRST);
    const [, frame = Buffer.alloc(0)] = only(chunks, "fcTL");
    // Width, height, x and y of the part that changed, and its time.
    expect([4, 8, 12, 16].map((at) => frame.readUInt32BE(at))).toEqual([1, 2, 2, 1]);
    expect(frame.readUInt16BE(20)).toBe(250);
    const [part = Buffer.alloc(0)] = only(chunks, "fdAT");
    const changed = inflateSync(part.subarray(4));
    expect([changed[1], changed[3]].map((index) => colour(index ?? 0))).toEqual([G, G]);
  });

  it("refuses screenshots of different sizes", () => {
    const shots = [
      { png: png(4, FIRST, 0), ms: 1 },
      { png: png(4, FIRST.slice(1), 0), ms: 1 },
    ];
    expect(() => writeMovingPicture(shots)).toThrow("sizes differ");
  });
});
