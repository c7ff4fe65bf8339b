// Events of several pictures: the count is whole with the last of them.

import { expect, it } from "vitest";
import { scanText } from "../../../../src/formats/json/parse.ts";
import { imageEventUsage, readImageRequest } from "../../../../src/formats/media/images.ts";
import { readMediaEvents } from "../../../../src/formats/media/stream.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";

const FINAL = Buffer.from(
  'data: {"type":"image_generation.completed","usage":{"input_tokens":5,"output_tokens":9}}\n\n',
);
const REQUEST = readImageRequest(scanText(Buffer.from("{}"))!, { prompt: "a cat", n: 2, stream: true });

it.each([
  [1, false, null, { isFinished: false, isCounted: false, isEndInSight: false, usage: null }],
  [2, false, null, { isFinished: true, isCounted: true, isEndInSight: true }],
  [1, true, null, { isFinished: true, isCounted: true, isEndInSight: false }],
  [1, true, {}, { isFinished: false, isCounted: false, usage: null }],
  [0, true, null, { isFinished: false, isCounted: false, usage: null }],
])("%i of two, end: %s, failure: %o", (finals, hasEnded, failure, progress) => {
  const answer = { events: createSseReader(), body: { failure } };
  const reader = readMediaEvents(answer, { request: REQUEST, usageOf: imageEventUsage });
  for (let count = 0; count < finals; count++) reader.push(FINAL);
  if (hasEnded) reader.end();
  expect(reader.progress).toMatchObject(progress);
  if (progress.isCounted) expect(reader.progress.usage?.images).toEqual({ "auto/auto": finals });
});
