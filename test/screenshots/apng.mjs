// @ts-check
// Moving pictures: screenshots as one animated PNG, with a palette that all of them share, and of each only the part that
// changed. Written by hand, because no package that we have writes one.

import { crc32, deflateSync, inflateSync } from "node:zlib";

/** @typedef {{ width: number, height: number, pixels: Uint32Array }} Bitmap */
/** @typedef {{ readonly png: Buffer, readonly ms: number }} Shot */

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;
/** Colours are counted by so many of their upper bits. Text in a browser has thousands of shades. */
const KEPT_BITS = 6;
/** A pixel that is the same as in the frame before. */
const UNCHANGED = 0;

/** One file, played for ever. The first screenshot is what programs show that know no moving pictures. */
export function writeMovingPicture(/** @type {readonly Shot[]} */ shots) {
  const frames = shots.map(({ png, ms }) => ({ ...readPng(png), ms }));
  const [{ width, height } = { width: 0, height: 0 }] = frames;
  if (frames.some((frame) => frame.width !== width || frame.height !== height)) throw new Error("sizes differ");
  const palette = paletteOf(frames);
  const indexed = frames.map(({ pixels }) => pixels.map((pixel) => palette.indexOf(pixel)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  const transparency = Buffer.from([0]);
  const chunks = [
    chunk("IHDR", header),
    chunk("acTL", control),
    chunk("PLTE", palette.bytes),
    chunk("tRNS", transparency),
  ];
  let number = 0;
  for (const [at, pixels] of indexed.entries()) {
    const before = indexed[at - 1];
    const part = before === undefined ? { x: 0, y: 0, width, height } : changedPart(before, pixels, width);
    const data = deflateSync(rowsOf(pixels, before, part, width), { level: 9 });
    chunks.push(chunk("fcTL", frameControl(number++, part, frames[at]?.ms ?? 0, at > 0)));
    if (at === 0) chunks.push(chunk("IDAT", data));
    else chunks.push(chunk("fdAT", Buffer.concat([uint32(number++), data])));
  }
  return Buffer.concat([SIGNATURE, ...chunks, chunk("IEND", Buffer.alloc(0))]);
}

/**
 * @param {number} number
 * @param {{ x: number, y: number, width: number, height: number }} part
 * @param {number} ms
 * @param {boolean} isOver
 */
function frameControl(number, { x, y, width, height }, ms, isOver) {
  const control = Buffer.alloc(26);
  for (const [place, value] of [number, width, height, x, y].entries()) control.writeUInt32BE(value, place * 4);
  control.writeUInt16BE(ms, 20);
  control.writeUInt16BE(1000, 22);
  // Keeps the frame before, and lays this one over it.
  control.set([0, isOver ? 1 : 0], 24);
  return control;
}

function uint32(/** @type {number} */ value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function chunk(/** @type {string} */ type, /** @type {Buffer} */ data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

/** A browser's screenshot: eight bits a channel, with or without transparency, in one piece. */
function readPng(/** @type {Buffer} */ png) {
  let [width, height, bytesPerPixel] = [0, 0, 0];
  const data = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      bytesPerPixel = body[9] === 6 ? 4 : 3;
      if (body[8] !== 8 || (body[9] !== 6 && body[9] !== 2) || body[12] !== 0) throw new Error("not a browser's PNG");
    }
    if (type === "IDAT") data.push(body);
    at += length + 12;
  }
  return { width, height, pixels: pixelsOf(inflateSync(Buffer.concat(data)), { width, height, bytesPerPixel }) };
}

/**
 * Undoes the filters of the rows.
 * @param {Buffer} raw
 * @param {{ width: number, height: number, bytesPerPixel: number }} size
 */
function pixelsOf(raw, { width, height, bytesPerPixel }) {
  const stride = width * bytesPerPixel;
  const pixels = new Uint32Array(width * height);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    const row = Buffer.from(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; x++) {
      const left = x < bytesPerPixel ? 0 : (row[x - bytesPerPixel] ?? 0);
      const up = above[x] ?? 0;
      const corner = x < bytesPerPixel ? 0 : (above[x - bytesPerPixel] ?? 0);
      row[x] = (row[x] ?? 0) + predicted(filter ?? 0, left, up, corner);
    }
    for (let x = 0; x < width; x++) pixels[y * width + x] = row.readUIntBE(x * bytesPerPixel, 3);
    above = row;
  }
  return pixels;
}

function predicted(
  /** @type {number} */ filter,
  /** @type {number} */ left,
  /** @type {number} */ up,
  /** @type {number} */ corner,
) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return Math.floor((left + up) / 2);
  const [toLeft, toUp, toCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs);
  if ((toLeft ?? 0) <= (toUp ?? 0) && (toLeft ?? 0) <= (toCorner ?? 0)) return left;
  return (toUp ?? 0) <= (toCorner ?? 0) ? up : corner;
}

/** The colours that most pixels have. A page has few, and shades of its text. */
function paletteOf(/** @type {readonly Bitmap[]} */ frames) {
  const counts = new Map();
  const sums = new Map();
  for (const { pixels } of frames) {
    for (const pixel of pixels) {
      const key = reduced(pixel);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (!sums.has(key)) sums.set(key, pixel);
    }
  }
  const kept = [...counts].sort(([, a], [, b]) => b - a).slice(0, COLOURS_MAX - 1);
  const colours = [0, ...kept.map(([key]) => sums.get(key))];
  const bytes = Buffer.concat(colours.map((colour) => uint32(colour).subarray(1)));
  const known = new Map(kept.map(([key], place) => [key, place + 1]));
  return {
    bytes,
    indexOf(/** @type {number} */ pixel) {
      const key = reduced(pixel);
      const found = known.get(key) ?? nearest(pixel, colours);
      known.set(key, found);
      return found;
    },
  };
}

function reduced(/** @type {number} */ pixel) {
  const mask = (0xff << (8 - KEPT_BITS)) & 0xff;
  return pixel & ((mask << 16) | (mask << 8) | mask);
}

function nearest(/** @type {number} */ pixel, /** @type {readonly number[]} */ colours) {
  const far = (/** @type {number} */ colour) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((pixel >> shift) & 0xff) - ((colour >> shift) & 0xff)) ** 2, 0);
  let best = 1;
  for (let place = 2; place < colours.length; place++)
    if (far(colours[place] ?? 0) < far(colours[best] ?? 0)) best = place;
  return best;
}

/** The smallest rectangle outside of which nothing changed. */
function changedPart(/** @type {Uint32Array} */ before, /** @type {Uint32Array} */ after, /** @type {number} */ width) {
  let [left, right, top, bottom] = [width, 0, Number.POSITIVE_INFINITY, 0];
  for (const [place, pixel] of after.entries()) {
    if (pixel === before[place]) continue;
    const [x, y] = [place % width, Math.floor(place / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  if (top === Number.POSITIVE_INFINITY) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * Rows without a filter, which suits palettes. Unchanged pixels are transparent, so that they take no space.
 * @param {Uint32Array} pixels
 * @param {Uint32Array | undefined} before
 * @param {{ x: number, y: number, width: number, height: number }} part
 * @param {number} stride
 */
function rowsOf(pixels, before, { x, y, width, height }, stride) {
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const place = (y + row) * stride + x + column;
      const pixel = pixels[place] ?? UNCHANGED;
      rows[row * (width + 1) + 1 + column] = before?.[place] === pixel ? UNCHANGED : pixel;
    }
  }
  return rows;
}
