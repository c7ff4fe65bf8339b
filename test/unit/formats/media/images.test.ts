// Requests for images: words that a client invents count like any other.

import { expect, it } from "vitest";
import { scanText } from "../../../../src/formats/json/parse.ts";
import { imageUsage, readImageRequest } from "../../../../src/formats/media/images.ts";
import { soundType } from "../../../../src/formats/media/speech.ts";

it.each([
  ["low", 300],
  ["constructor", 4_200],
  ["__proto__", 4_200],
])("the quality %s has so many tokens: %i", (quality, tokens) => {
  const body = { prompt: "a cat", quality };
  const { media } = readImageRequest(scanText(Buffer.from("{}"))!, body);
  expect(media?.outputTokens).toBe(tokens);
});

it.each([
  ["wav", "audio/wav"],
  ["constructor", "application/octet-stream"],
])("sound as %s is %s", (form, type) => {
  const request = { body: { response_format: form } } as unknown as Parameters<typeof soundType>[0];
  expect(soundType(request)).toBe(type);
});

it.each([1, 2, 4])("of three pictures, as many count as were asked for: %i", (asked) => {
  const pictures = scanText(Buffer.from('{"data":[{"b64_json":"a"},{"b64_json":"b"},{"b64_json":"c"}]}'))!;
  const request = { body: {}, chat: { choiceCount: asked } } as unknown as Parameters<typeof imageUsage>[1];
  expect(imageUsage(pictures, request).images).toEqual({ "auto/auto": Math.min(asked, 3) });
});
