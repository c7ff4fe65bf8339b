// The body of a request: its bytes, what they say, and how fast they arrive. A large body is read in slices, so that other
// requests are served in between. A client that sends too slowly is cut off.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { decode, type ParsedBody, parseBody, parseText, scanBody } from "../../formats/wire/json-source.ts";
import { sendError } from "./errors.ts";

const EMPTY = Buffer.alloc(0);
/** Small enough that other requests hardly notice the wait. */
const SLICE_BYTES = 1024 * 1024;
const SPEED_CHECK_MS = 1_000;
const SPEED_MIN_BYTES_PER_MS = 1;

/** Empty for a request without a body. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : EMPTY;
}

export async function parsedBodyOf(request: FastifyRequest): Promise<ParsedBody> {
  const bytes = bodyOf(request);
  if (bytes.length <= SLICE_BYTES) return parseBody(bytes);
  const source = scanBody(bytes);
  const text = await decodeInSlices(source.bytes);
  await nextTurn();
  const body = parseText(text);
  await nextTurn();
  return { source, body };
}

async function decodeInSlices(bytes: Buffer): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    await nextTurn();
    const slice = bytes.subarray(start, start + SLICE_BYTES);
    text += decode(() => decoder.decode(slice, { stream: true }));
  }
  return text + decode(() => decoder.decode());
}

/** Bodies stay bytes: the original travels with the call, and its depth is checked before anything is parsed. */
export function readBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
}

interface ReceivedBody {
  readonly reply: FastifyReply;
  readonly sinceMs: number;
  readonly bytesBefore: number;
}

/** Watches every body while it is read. One slower than 1 KB a second for `graceMs` gets 408, and its connection closes. */
export function limitSlowBodies(server: FastifyInstance, graceMs: number): void {
  const receiving = new Map<FastifyRequest, ReceivedBody>();
  server.addHook("preParsing", (request, reply, _payload, done) => {
    if (hasBody(request)) {
      const bytesBefore = request.socket.bytesRead;
      receiving.set(request, { reply, sinceMs: performance.now(), bytesBefore });
    }
    done();
  });
  server.addHook("preValidation", (request, _reply, done) => {
    receiving.delete(request);
    done();
  });
  const timer = setInterval(() => cutSlowBodies(receiving, graceMs), SPEED_CHECK_MS).unref();
  server.addHook("onClose", async () => clearInterval(timer));
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function cutSlowBodies(receiving: Map<FastifyRequest, ReceivedBody>, graceMs: number): void {
  const atMs = performance.now();
  for (const [request, { reply, sinceMs, bytesBefore }] of receiving) {
    if (request.raw.complete || request.raw.destroyed || reply.sent) {
      receiving.delete(request);
      continue;
    }
    const bytes = request.socket.bytesRead - bytesBefore;
    if (atMs - sinceMs - bytes / SPEED_MIN_BYTES_PER_MS <= graceMs) continue;
    receiving.delete(request);
    const error = new GatewayError("tooSlow", "The body came in too slowly. Send the request again.", {
      code: "body_too_slow",
    });
    sendError(error, request, reply.header("connection", "close"));
  }
}
