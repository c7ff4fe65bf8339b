// @ts-check
// Rewrites a picture of a page with 256 colours, which makes its file about a quarter as large: the documentation ships
// with every installation. Reads what the browser writes, which is PNG with 8 bits a channel.

import { crc32, deflateSync, inflateSync } from "node:zlib";

const HEAD = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;
/** Colours that differ by less are one colour where there are too many. */
const STEP_BITS = 3;

/** @param {Buffer} png */
export function withPalette(png) {
  const { width, height, pixels } = decode(png);
  const palette = paletteOf(pixels);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc(height * (width + 1));
  pixels.forEach((colour, at) => {
    const row = Math.floor(at / width);
    let place = places.get(colour);
    if (place === undefined) {
      place = nearest(colour, palette);
      places.set(colour, place);
    }
    rows[row * (width + 1) + 1 + (at % width)] = place;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [chunk("IHDR", header), chunk("PLTE", colours), chunk("IDAT", deflateSync(rows, { level: 9 }))];
  return Buffer.concat([HEAD, ...parts, chunk("IEND", Buffer.alloc(0))]);
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/**
 * The colours of all pixels, as numbers.
 * @param {Buffer} png
 */
function decode(png) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const bytes = png[25] === 6 ? 4 : 3;
  const data = [];
  for (let at = HEAD.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) !== "IDAT") continue;
    data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const length = width * bytes;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(length);
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1);
    const line = new Uint8Array(raw.subarray(start + 1, start + 1 + length));
    unfilter(line, { above, bytes, filter: /** @type {number} */ (raw[start]) });
    for (let x = 0; x < width; x += 1) {
      const [red = 0, green = 0, blue = 0] = line.subarray(x * bytes, x * bytes + 3);
      pixels[y * width + x] = (red << 16) | (green << 8) | blue;
    }
    above = line;
  }
  return { width, height, pixels };
}

/** @param {Uint8Array} line @param {{ above: Uint8Array, bytes: number, filter: number }} around */
function unfilter(line, { above, bytes, filter }) {
  for (let at = 0; at < line.length; at += 1) {
    const left = at < bytes ? 0 : /** @type {number} */ (line[at - bytes]);
    const up = /** @type {number} */ (above[at]);
    const corner = at < bytes ? 0 : /** @type {number} */ (above[at - bytes]);
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
    const own = /** @type {number} */ (line[at]);
    line[at] = (own + guess) & 255;
  }
}

/** @param {number} left @param {number} up @param {number} corner */
function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/**
 * The most frequent colours, one for each small cube of the space of colours.
 * @param {Uint32Array} pixels
 */
function paletteOf(pixels) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  if (frequent.length <= COLOURS_MAX) return frequent;
  const kept = new Map();
  for (const colour of frequent) {
    const cube = [16, 8, 0].map((shift) => ((colour >> shift) & 255) >> STEP_BITS).join();
    if (!kept.has(cube)) kept.set(cube, colour);
    if (kept.size === COLOURS_MAX) break;
  }
  return [...kept.values()];
}

/** @param {number} colour @param {readonly number[]} palette */
function nearest(colour, palette) {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  palette.forEach((other, place) => {
    const apart = [16, 8, 0].reduce(
      (sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2,
      0,
    );
    if (apart < least) [best, least] = [place, apart];
  });
  return best;
}
