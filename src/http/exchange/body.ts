// The body of a request: its room in the budget, its bytes, what they say, and how fast they arrive. A client that sends
// too slowly is cut off.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { freeMemory } from "../../core/requests/body-memory.ts";
import { UnderWay, type UnderWayPlace } from "../../core/requests/under-way.ts";
import type { CallFormat } from "../../formats/format.ts";
import { decodeBody, type ParsedBody, parseFields, parseText, scanBody } from "../../formats/json/parse.ts";
import { refuseRepeats } from "../../formats/json/repeats.ts";
import type { JsonSource, ScannedObject } from "../../formats/scan/scan.ts";
import type { Caller } from "../../gateway/call.ts";
import * as TEXT from "../text.ts";
import { whenDone } from "./disconnect.ts";
import { sendError } from "./errors.ts";
import { isUpload, readUploads, uploadBounds } from "./uploads.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The room its body takes up; null without a body. */
    bodyCharge: BodyCharge | null;
    /** While its body is read. */
    receiving: UnderWayPlace<ReceivedBody> | null;
    /** Resolves when what goes on after its response is done; null where nothing does. */
    outlives: Promise<void> | null;
    /** Caller of the request, once its key is verified; null outside of /v1. */
    caller: Caller | null;
  }
}

/** The room that one body takes up. */
export interface BodyCharge {
  /**
   * Charges more of the same body, in bytes and in values of JSON. Throws when there is no room: waiting with a part of it
   * could last for ever. After the release it charges nothing, since nobody would release it again.
   */
  add(bytes: number, values?: number): void;
  /** Calling it twice does no harm. */
  release(): void;
}

/** Room for bodies in memory; `overload/body-budget.ts` has the limits. */
export interface BodyRoom {
  /** A body without declared length is charged this much at first. */
  readonly firstStepBytes: number;
  /** Each value of JSON is charged this much in addition to its text. */
  readonly valueBytes: number;
  /** Charges a body at once; null where it has to wait for others. */
  tryTake(owner: string | null, bytes: number): BodyCharge | null;
  /** Charges a body when others are released. Rejects when that takes too long. */
  take(owner: string | null, bytes: number): Promise<BodyCharge>;
}

const EMPTY = Buffer.alloc(0);
/** Reading more than this takes long enough that other requests get a turn in between. */
const LONG_BYTES = 1024 * 1024;
const SPEED_CHECK_MS = 1_000;
/** A body that is slower for longer than the grace is cut off. */
export const SPEED_MIN_BYTES_PER_MS = 1;

/** Empty for a request without a body. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : EMPTY;
}

/** Frees the body once nobody reads the body or anything made of it. */
export function freeBody(request: FastifyRequest): void {
  freeMemory(bodyOf(request));
}

/** The body of a request, parsed but for the `unread` part, which the reader parses as far as it needs it. */
export async function parsedBodyOf(
  request: FastifyRequest,
  { unread: part }: Pick<CallFormat, "unread"> = {},
): Promise<ParsedBody> {
  const bytes = bodyOf(request);
  const scanned = scanBody(bytes);
  const { source } = scanned;
  request.bodyCharge?.add(0, source.values);
  if (bytes.length > LONG_BYTES) return parseInTurns(scanned, part);
  const byFields = part === undefined ? null : parseFields(scanned, part);
  const body = byFields ?? parseText(decodeBody(scanned));
  refuseRepeats(source, body);
  return { source, body };
}

async function parseInTurns(scanned: ScannedObject, part: CallFormat["unread"]): Promise<ParsedBody> {
  const { source } = scanned;
  await nextTurn();
  const byFields = part === undefined ? null : parseFields(scanned, part);
  if (byFields !== null) {
    await nextTurn();
    refuseRepeats(source, byFields);
    return { source, body: byFields };
  }
  const text = decodeBody(scanned);
  await nextTurn();
  const body = parseText(text);
  await nextTurn();
  refuseRepeats(source, body);
  return { source, body };
}

/** Charges what was added to a body before it was read: the history of a conversation. */
export function chargeAdded({ bodyCharge }: FastifyRequest, whole: JsonSource, sent: JsonSource): void {
  if (whole === sent) return;
  bodyCharge?.add(whole.bytes.length - sent.bytes.length, whole.values - sent.values);
}

/** Charges bodies, reads them, and cuts off those that are too slow. */
export function handleBodies(server: FastifyInstance, room: BodyRoom, graceMs: number): void {
  readBodiesAsBytes(server, room.firstStepBytes);
  chargeBodies(server, room, limitSlowBodies(server, graceMs));
}

/** Bodies stay bytes: the original travels with the call, and its depth is checked before anything is parsed. */
function readBodiesAsBytes(server: FastifyInstance, firstStepBytes: number): void {
  server.removeAllContentTypeParsers();
  const readUpload = readUploads(server);
  server.addContentTypeParser(["application/json", "application/scim+json"], (request, payload, done) => {
    // Nobody reads what was sent to an unknown path.
    if (request.is404) done(null, EMPTY);
    else if (isUpload(request)) readUpload(request, payload, done);
    else readBytes(request, payload, { firstStepBytes, done });
  });
}

interface Reading {
  readonly firstStepBytes: number;
  readonly done: (error: Error | null, bytes?: Buffer) => void;
}

/** Into one piece of memory: collecting the chunks would need twice as much. */
function readBytes(request: FastifyRequest, payload: RequestPayload, { firstStepBytes, done }: Reading): void {
  const declared = declaredLength(request);
  let bytes: Buffer = EMPTY;
  let length = 0;
  let isRead = false;
  const makeRoom = (needed: number): void => {
    const { bodyLimit } = request.routeOptions;
    if (needed > bodyLimit) throw tooLarge(request);
    const size = Math.min(bodyLimit, Math.max(needed, 2 * bytes.length));
    request.bodyCharge?.add(size - bytes.length);
    const larger = Buffer.allocUnsafe(size);
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  };
  const onData = (chunk: Buffer): void => {
    if (isRead) return;
    try {
      // Most bodies are one chunk, which Node has copied for its reader alone.
      if (length === 0 && chunk.length === declared) bytes = chunk;
      else if (bytes === EMPTY) bytes = Buffer.allocUnsafe(declared ?? firstStepBytes);
      if (length + chunk.length > bytes.length) makeRoom(length + chunk.length);
      if (bytes === chunk) length = chunk.length;
      else {
        length += chunk.copy(bytes, length);
        freeMemory(chunk);
      }
    } catch (error) {
      finish(error as Error);
    }
    // Node does the rest of its work before `end` while the provider works.
    if (length === declared) finish(null);
  };
  const onEnd = (): void => finish(null);
  const onError = (cause: Error): void => finish(new GatewayError("badRequest", TEXT.bodyInterrupted, { cause }));
  // The listeners stay: they go with the request, and taking them off takes as long as adding them.
  function finish(error: Error | null): void {
    if (isRead) return;
    isRead = true;
    done(error, bytes.subarray(0, length));
  }
  payload.on("data", onData).on("end", onEnd).on("error", onError);
}

/** The declared length; null for a body that comes in chunks. */
export function declaredLength({ headers }: FastifyRequest): number | null {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
}

/** The rest of it may be of any length, so the connection ends with the response. */
function tooLarge(request: FastifyRequest): GatewayError {
  const message = isUpload(request) ? TEXT.uploadTooLarge(uploadBounds(request).limit) : TEXT.bodyTooLarge;
  return new GatewayError("tooLarge", message, { headers: { connection: "close" } });
}

/** Charges each body before it is read. What is refused is not read, and discarded by Node when its response is sent. */
function chargeBodies(server: FastifyInstance, room: BodyRoom, watch: WatchBody): void {
  server.decorateRequest("bodyCharge", null);
  server.decorateRequest("outlives", null);
  server.addHook("preParsing", (request, reply, _payload, done) => {
    if (!hasBody(request) || request.is404) return done();
    const declared = declaredLength(request);
    const { limit, kept } = boundsOf(request);
    if ((declared ?? 0) > limit) return done(tooLarge(request));
    const keep = (charge: BodyCharge): void => {
      request.bodyCharge = charge;
      whenDone(request, reply, () => {
        charge.release();
        request.dropUpload?.();
      });
      watch(request, reply);
      done();
    };
    const owner = request.caller?.key.id ?? null;
    const bytes = Math.min(declared ?? room.firstStepBytes, kept);
    const taken = room.tryTake(owner, bytes);
    if (taken === null) room.take(owner, bytes).then(keep, done);
    else keep(taken);
  });
}

/** The most of a body that is taken, and the most of it that is kept in memory. */
function boundsOf(request: FastifyRequest): { readonly limit: number; readonly kept: number } {
  const { bodyLimit } = request.routeOptions;
  return isUpload(request) ? uploadBounds(request) : { limit: bodyLimit, kept: bodyLimit };
}

interface ReceivedBody {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sinceMs: number;
  readonly bytesBefore: number;
}

/** Watches the body of a request until it is read. */
type WatchBody = (request: FastifyRequest, reply: FastifyReply) => void;

/** A body slower than 1 KB a second for `graceMs` gets 408, and its connection closes. */
function limitSlowBodies(server: FastifyInstance, graceMs: number): WatchBody {
  const receiving = new UnderWay<ReceivedBody>();
  server.decorateRequest("receiving", null);
  server.addHook("preValidation", (request, _reply, done) => {
    if (request.receiving !== null) receiving.remove(request.receiving);
    done();
  });
  const timer = setInterval(() => cutSlowBodies(receiving, graceMs), SPEED_CHECK_MS).unref();
  server.addHook("onClose", async () => clearInterval(timer));
  return (request, reply) => {
    const { bytesRead: bytesBefore } = request.socket;
    request.receiving = receiving.add({ request, reply, sinceMs: performance.now(), bytesBefore });
  };
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function cutSlowBodies(receiving: UnderWay<ReceivedBody>, graceMs: number): void {
  const atMs = performance.now();
  for (const { request, reply, sinceMs, bytesBefore } of receiving.items()) {
    const stop = (): void => receiving.remove(request.receiving as UnderWayPlace<ReceivedBody>);
    if (request.raw.complete || request.raw.destroyed || reply.sent) {
      stop();
      continue;
    }
    const bytes = request.socket.bytesRead - bytesBefore;
    if (atMs - sinceMs - bytes / SPEED_MIN_BYTES_PER_MS <= graceMs) continue;
    stop();
    const error = new GatewayError("tooSlow", TEXT.bodyTooSlow, {
      code: "body_too_slow",
    });
    sendError(error, request, reply.header("connection", "close"));
  }
}
