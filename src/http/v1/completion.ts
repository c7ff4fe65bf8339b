// A completion in any client format: read the request, complete the call, send the response.

import { isAscii } from "node:buffer";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Cancellation } from "../../core/cancellation.ts";
import type { CallFormat, ClientHeaders, ClientRequest, RequestTarget } from "../../formats/format.ts";
import type { ParsedBody } from "../../formats/json/parse.ts";
import { sourceOf } from "../../formats/json/splice.ts";
import { bodyOfForm, type Upload } from "../../formats/media/upload.ts";
import type { CallRoute } from "../../formats/paths.ts";
import type { Answer } from "../../gateway/answer.ts";
import type { Call, CallState } from "../../gateway/call.ts";
import { complete as completeCall } from "../../gateway/complete.ts";
import { completeOnce } from "../../gateway/idempotent.ts";
import type { CallContext } from "../context.ts";
import { inAwsEvents } from "../exchange/aws-events.ts";
import { chargeAdded, parsedBodyOf } from "../exchange/body.ts";
import { whenOver } from "../exchange/disconnect.ts";
import { holdNamesOf, nativeOf } from "../exchange/inner-socket.ts";
import { cutWhenUnread, sendStream } from "../exchange/stream.ts";
import { withKept } from "./batches/references.ts";
import { callerOf } from "./key-admission.ts";
import { recordingOf } from "./record.ts";

/** A response this small fits into the socket's buffers, read or not. */
const SMALL_BYTES = 16 * 1024;

export interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** An exchange whose body has not been read. */
interface NewExchange extends HttpExchange {
  /** The path is that of streams. */
  readonly isStream: boolean;
  /** Decided by the path; else by the query. */
  readonly framing: CallRoute["framing"];
}

/** Reads the body in the given format and answers it. A body that cannot be read never becomes a call. */
export async function answerIn(
  format: CallFormat,
  { request, reply, isStream, framing }: NewExchange,
  edge: CallContext,
): Promise<void> {
  const { upload } = request;
  const { accountId } = callerOf(request).key;
  const sent = upload === null ? await parsedBodyOf(request, format) : formOf(upload);
  const { source, body } = upload === null ? await withKept(sent, { format, accountId }, edge) : sent;
  chargeAdded(request, source, sent.source);
  const target = targetOf(request, { isStream, framing });
  const head = { headers: request.headers as ClientHeaders, target, upload: upload ?? undefined };
  const clientRequest = format.readRequest(source, body, head);
  const exchange = { format, clientRequest, request, reply, sentBytes: sent.source.bytes };
  return answerRequest(exchange, edge, framing === "aws" ? inAwsEvents : null);
}

/** The fields of a form in the place of a JSON body. */
function formOf(upload: Upload): ParsedBody {
  const body = bodyOfForm(upload);
  return { source: sourceOf(body), body };
}

/** Reads the target from the path, where the path names the model. */
function targetOf(
  { params, query }: FastifyRequest,
  { isStream, framing }: Pick<NewExchange, "isStream" | "framing">,
): RequestTarget | undefined {
  const { model } = params as { readonly model?: string };
  if (model === undefined) return undefined;
  const { alt } = query as { readonly alt?: unknown };
  return { model, isStream, framing: alt === "sse" || framing !== undefined ? "sse" : "json-array" };
}

/** An exchange whose request has been read. */
export interface ReadExchange extends HttpExchange {
  readonly format: CallFormat;
  readonly clientRequest: ClientRequest;
  /** Absent where nothing was added to what the client sent. */
  readonly sentBytes?: Buffer;
  /** Absent where nothing is stored for later turns. */
  readonly state?: CallState | null;
}

/** For a request that has been read; its caller and its recording are on it. */
export async function answerRequest(
  exchange: ReadExchange,
  edge: CallContext,
  change: ((answer: Answer) => Promise<Answer>) | null = null,
): Promise<void> {
  const { clientRequest, request, reply } = exchange;
  const recording = recordingOf(request);
  const signal = abortedOnDisconnect(reply);
  const done = edge.openCalls.begin(signal);
  recording.callStarted(clientRequest);
  try {
    const answer = await complete(exchange, { signal, observer: recording }, edge);
    await send(change === null ? answer : await change(answer), reply, edge);
    recording.sent();
  } finally {
    // A stored response may keep parts of its request for a while.
    const mayFreeBody = exchange.state === undefined && change === null;
    recording.callOver(mayFreeBody);
    done();
  }
}

/** The call of an exchange, watched by `observer` and ended by `signal`. */
export function complete(
  { format, clientRequest, request, sentBytes, state = null }: ReadExchange,
  { signal, observer }: Pick<Call, "signal" | "observer">,
  { services, sampler }: Pick<CallContext, "services" | "sampler">,
): Promise<Answer> {
  const recording = recordingOf(request);
  const { captures, traceContext } = recording;
  const caller = callerOf(request);
  const rule = format.endpoint === undefined ? sampler.draw(caller) : null;
  if (rule !== null) recording.compare({ rule, format });
  const [nextHoldId, native] = [holdNamesOf(request.raw), nativeOf(request.raw)];
  const call: Call = {
    requestId: request.id,
    format,
    request: clientRequest,
    receivedAt: recording.bodyReadAt,
    sentBytes: sentBytes ?? clientRequest.source.bytes,
    caller,
    headers: request.headers as ClientHeaders,
    signal,
    captures,
    needsAnswer: rule !== null || recording.tracesContent,
    traceContext,
    observer,
    idempotencyId: null,
    state,
    ...(nextHoldId === null ? {} : { nextHoldId }),
    ...(native === null ? {} : { native }),
  };
  const idempotencyKey = firstOf(request.headers["idempotency-key"]);
  return idempotencyKey === null ? completeCall(call, services()) : completeOnce(call, idempotencyKey, services());
}

/** A header that was sent more than once counts as its first value. */
function firstOf(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

/** Resolves when a stream has ended. A client that reads too slowly is cut off, whole response or stream. */
export async function send(answer: Answer, reply: FastifyReply, { settings }: CallContext): Promise<void> {
  if (answer.headers !== null) reply.headers(answer.headers);
  const { writeStallMs } = settings.server;
  if (answer.kind === "stream") return sendStream(reply, answer, writeStallMs);
  reply.type(answer.contentType).send(inOneWrite(answer.bytes));
  if (answer.bytes.length > SMALL_BYTES) cutWhenUnread(reply.raw, writeStallMs);
}

/** Turns short bodies into text, which is written together with the head. Two writes would take twice as long. */
function inOneWrite(bytes: Buffer): Buffer | string {
  return bytes.length <= SMALL_BYTES && isAscii(bytes) ? bytes.toString("latin1") : bytes;
}

/** `close` on the response before its end is the one event that means the client disconnected. */
function abortedOnDisconnect(reply: FastifyReply): Cancellation {
  const controller = new Cancellation();
  whenOver(reply.raw, () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller;
}
