// The length of a recording, told by its file: exact for plain WAV, by the rate of the first frames for MP3, and by a usual
// rate for anything else. For reservations, and for providers that do not tell it. The file is the client's own word, so a
// head counts only where its figures agree with each other.

import type { UploadedFile } from "./upload.ts";

interface Length {
  /** In milliseconds. */
  readonly likely: number;
  /** No recording of this size is longer, unless it is mostly silence. */
  readonly most: number;
}

const MS = 1_000;
/** Compressed speech at a usual rate, and at the lowest that is in use. */
const USUAL_BYTES_PER_SECOND = 4_000;
const LEAST_BYTES_PER_SECOND = 1_000;
/** Stereo at 48 kHz with 16 bits. Models hear no more than that, so only a false head makes a recording shorter. */
const DENSEST_BYTES_PER_SECOND = 192_000;

export function lengthOf({ start, length }: Pick<UploadedFile, "start" | "length">): Length {
  const rate = wavRate(start);
  if (rate !== null) {
    const likely = msOf(length, Math.min(rate, DENSEST_BYTES_PER_SECOND));
    return { likely, most: likely };
  }
  return {
    likely: msOf(length, mp3Rate(start) ?? USUAL_BYTES_PER_SECOND),
    most: msOf(length, LEAST_BYTES_PER_SECOND),
  };
}

function msOf(bytes: number, bytesPerSecond: number): number {
  return Math.ceil((bytes * MS) / bytesPerSecond);
}

const BITS_PER_BYTE = 8;
const PCM = 1;
/** The tag is then the beginning of a longer one. */
const EXTENSIBLE = 0xfffe;
const FORMAT_BYTES = 16;
const LONG_TAG_AT = 24;
const CHUNK_HEAD_BYTES = 8;

/** Bytes per second of a WAV file with plain samples; null for anything else. */
function wavRate(start: Buffer): number | null {
  const format = wavFormat(start);
  if (format === null) return null;
  const told = format.readUInt16LE(0);
  const tag = told === EXTENSIBLE && format.length >= LONG_TAG_AT + 2 ? format.readUInt16LE(LONG_TAG_AT) : told;
  const samples = format.readUInt32LE(4);
  const rate = format.readUInt32LE(8);
  const frameBytes = (format.readUInt16LE(2) * format.readUInt16LE(14)) / BITS_PER_BYTE;
  return tag === PCM && rate === samples * frameBytes && rate >= LEAST_BYTES_PER_SECOND ? rate : null;
}

/** The chunk that describes the samples, found from chunk to chunk. */
function wavFormat(start: Buffer): Buffer | null {
  if (start.toString("latin1", 0, 4) !== "RIFF" || start.toString("latin1", 8, 12) !== "WAVE") return null;
  for (let at = 12; at + CHUNK_HEAD_BYTES + FORMAT_BYTES <= start.length; ) {
    const size = start.readUInt32LE(at + 4);
    const begin = at + CHUNK_HEAD_BYTES;
    if (start.toString("latin1", at, at + 4) === "fmt ") {
      return size >= FORMAT_BYTES ? start.subarray(begin, begin + size) : null;
    }
    at = begin + size + (size % 2);
  }
  return null;
}

/** Kilobits per second of the frames of MP3, for version 1 and for 2 and 2.5. */
const MP3_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
/** Samples per second by the bits of the version: 2.5, none, 2 and 1. */
const MP3_SAMPLES = [[11_025, 12_000, 8_000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]] as const;
const VERSION_1 = 3;
/** A frame has so many bytes for each bit per sample. */
const FRAME_FACTORS = { version1: 144, other: 72 } as const;

/** Bytes per second of an MP3 file, by its first frame. A second one has to follow where the first one ends. */
function mp3Rate(start: Buffer): number | null {
  const at = tagBytes(start);
  const first = frameAt(start, at);
  return first !== null && frameAt(start, at + first.bytes) !== null ? first.rate : null;
}

/** The length of the ID3v2 tag before the first frame. Its bytes have seven bits. */
function tagBytes(start: Buffer): number {
  const HEAD_BYTES = 10;
  if (start.length < HEAD_BYTES || start.toString("latin1", 0, 3) !== "ID3") return 0;
  const size = start.subarray(6, HEAD_BYTES).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  const hasFoot = ((start[5] ?? 0) & 0x10) !== 0;
  return HEAD_BYTES + size + (hasFoot ? HEAD_BYTES : 0);
}

function frameAt(start: Buffer, at: number): { readonly bytes: number; readonly rate: number } | null {
  const [sync = 0, kind = 0, rates = 0] = start.subarray(at, at + 3);
  // The sync word, then layer III.
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2) return null;
  const version = (kind >> 3) & 3;
  const isVersion1 = version === VERSION_1;
  const kbits = MP3_RATES[isVersion1 ? 0 : 1][rates >> 4] ?? 0;
  const samples = MP3_SAMPLES[version]?.[(rates >> 2) & 3] ?? 0;
  if (kbits === 0 || samples === 0) return null;
  const factor = isVersion1 ? FRAME_FACTORS.version1 : FRAME_FACTORS.other;
  return {
    bytes: Math.floor((factor * kbits * MS) / samples) + ((rates >> 1) & 1),
    rate: (kbits * MS) / BITS_PER_BYTE,
  };
}
