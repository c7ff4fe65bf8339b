// The tokens of speech, by its sound as far as it has come.

import { expect, it } from "vitest";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { speechTokens } from "../../../../src/formats/media/speech.ts";

const MINUTE_TOKENS = 1_250;

it.each([
  ["pcm", 48_000, null],
  ["flac", 24_000, null],
  ["wav", 48_000, wavHead(24_000)],
  ["wav", 88_200, wavHead(44_100)],
  // Without a head that tells more, a usual rate.
  ["mp3", 4_000, null],
  ["opus", 4_000, null],
  [undefined, 4_000, null],
] as const)("a minute of %s at %i bytes a second is 1,250 tokens", (form, bytesPerSecond, head) => {
  const request = { body: form === undefined ? {} : { response_format: form } } as unknown as ClientRequest;
  const tokensOf = (seconds: number) =>
    speechTokens(request, { start: head ?? Buffer.alloc(100), length: bytesPerSecond * seconds });
  expect(tokensOf(60)).toBe(MINUTE_TOKENS);
  expect(tokensOf(6)).toBe(MINUTE_TOKENS / 10);
});

function wavHead(samples: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samples, 24);
  head.writeUInt32LE(samples * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  return head;
}
