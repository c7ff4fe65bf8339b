// The body of a request: its bytes, and what they say. A large one is read in slices, so that others are served in between.

import { setImmediate as nextRound } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { decode, type ParsedBody, parseBody, parseText, scanBody } from "../../formats/wire/json-source.ts";

const NOTHING = Buffer.alloc(0);
const SLICE_BYTES = 1024 * 1024;

/** A request without a body has none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : NOTHING;
}

export async function parsedBodyOf(request: FastifyRequest): Promise<ParsedBody> {
  const bytes = bodyOf(request);
  if (bytes.length <= SLICE_BYTES) return parseBody(bytes);
  const source = scanBody(bytes);
  const text = await decodeInSlices(source.bytes);
  await nextRound();
  const body = parseText(text);
  await nextRound();
  return { source, body };
}

async function decodeInSlices(bytes: Buffer): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    await nextRound();
    const slice = bytes.subarray(start, start + SLICE_BYTES);
    text += decode(() => decoder.decode(slice, { stream: true }));
  }
  return text + decode(() => decoder.decode());
}
