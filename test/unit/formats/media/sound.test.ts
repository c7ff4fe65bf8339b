// The length of a recording by its file: a head whose figures do not agree makes none shorter.

import { describe, expect, it } from "vitest";
import type { HostedModel } from "../../../../src/core/model.ts";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { lengthOf } from "../../../../src/formats/media/sound.ts";
import { transcriptionAdded } from "../../../../src/formats/media/transcription.ts";
import { wavOf } from "../../../support/providers/media.ts";

const BYTES = 1_920_000;
const USUAL = { likely: 480_000, most: 1_920_000 };
const lengthWith = (start: Buffer) => lengthOf({ start, length: BYTES });

function wavWith(changes: Readonly<Record<number, number>>): Buffer {
  const head = wavOf(1);
  for (const [at, value] of Object.entries(changes)) {
    if (value > 0xffff) head.writeUInt32LE(value, Number(at));
    else head.writeUInt16LE(value, Number(at));
  }
  return head;
}

function chunk(name: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

/** MP3 of version 1 at 44.1 kHz: the fourth byte and the frame's length belong to the rate. */
function frame(rateBits: number, bytes: number): Buffer {
  const frame = Buffer.alloc(bytes);
  frame.set([0xff, 0xfb, rateBits << 4]);
  return frame;
}

const FRAME_128K = frame(9, 417);
const AT_128K = { likely: 120_000, most: 1_920_000 };

describe("WAV", () => {
  const [start, fmt] = [wavOf(1).subarray(0, 12), wavOf(1).subarray(20, 36)];
  const ms = (rate: number) => ({ likely: BYTES / (rate / 1_000), most: BYTES / (rate / 1_000) });

  it.each<[string, Buffer, object]>([
    ["plain", wavOf(1), ms(8_000)],
    [
      "a chunk before the format",
      Buffer.concat([start, chunk("junk", Buffer.from("fmt ....................")), chunk("fmt ", fmt)]),
      ms(8_000),
    ],
    ["a false format in another chunk", Buffer.concat([start, chunk("junk", chunk("fmt ", fmt))]), USUAL],
    ["a rate that the samples do not have", wavWith({ 28: 6_000_000 }), USUAL],
    ["compressed", wavWith({ 20: 0x55 }), USUAL],
    ["denser than any that is heard", wavWith({ 24: 192_000, 28: 6_144_000, 22: 8, 34: 32 }), ms(192_000)],
    ["no rate", Buffer.concat([start, chunk("fmt ", Buffer.alloc(16))]), USUAL],
    ["a cut head", wavOf(1).subarray(0, 30), USUAL],
  ])("%s", (_name, bytes, length) => expect(lengthWith(bytes)).toEqual(length));

  it.each([
    [1, ms(8_000)],
    [0x55, USUAL],
  ])("with a long tag of %i", (tag, length) => {
    const long = Buffer.concat([fmt, Buffer.alloc(24)]);
    long.writeUInt16LE(0xfffe, 0);
    long.writeUInt16LE(tag, 24);
    expect(lengthWith(Buffer.concat([start, chunk("fmt ", long)]))).toEqual(length);
  });
});

describe("MP3", () => {
  const tag = Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 2]), Buffer.alloc(130, 0xff)]);
  it.each<[string, Buffer, object]>([
    ["two frames", Buffer.concat([FRAME_128K, FRAME_128K]), AT_128K],
    ["two frames after a tag", Buffer.concat([tag, FRAME_128K, FRAME_128K]), AT_128K],
    ["one frame", Buffer.concat([FRAME_128K, Buffer.alloc(500)]), USUAL],
    ["frames in the middle of something else", Buffer.concat([Buffer.from("OggS"), FRAME_128K, FRAME_128K]), USUAL],
    ["a second frame at another place", Buffer.concat([frame(14, 417), FRAME_128K, FRAME_128K]), USUAL],
    ["no samples", Buffer.from([0xff, 0xfb, 0x9c, 0, 0xff, 0xfb]), USUAL],
  ])("%s", (_name, bytes, length) => expect(lengthWith(bytes)).toEqual(length));
});

describe("the form that a host is asked for", () => {
  const added = (form: string | undefined, { minute = 0, isStream = false }) =>
    transcriptionAdded(
      { body: form === undefined ? {} : { response_format: form }, chat: { isStream } } as unknown as ClientRequest,
      { price: minute === 0 ? {} : { own: { minute } } } as unknown as HostedModel,
    ).response_format;

  it.each([
    [undefined, { minute: 1 }, "verbose_json"],
    ["json", { minute: 1 }, "verbose_json"],
    ["text", { minute: 1 }, "verbose_json"],
    ["json", { minute: 1, isStream: true }, undefined],
    ["json", {}, undefined],
    ["text", {}, "json"],
    ["vtt", {}, "verbose_json"],
    ["constructor", { minute: 1 }, undefined],
  ])("%s, %o", (form, of, asked) => expect(added(form, of)).toBe(asked));
});
