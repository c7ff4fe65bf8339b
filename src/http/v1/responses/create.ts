// POST /v1/responses: the request is expanded with its history before its codec reads it, and the response is kept for
// later turns.

import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { CallFormat, ClientHeaders } from "../../../formats/format.ts";
import type { ParsedBody } from "../../../formats/json/parse.ts";
import { wantsEncrypted } from "../../../formats/openai-responses/items.ts";
import { expand } from "../../../gateway/state/expand.ts";
import { createKeeper } from "../../../gateway/state/keep.ts";
import { readState } from "../../../gateway/state/read-state.ts";
import { countStored } from "../../../gateway/state/storing.ts";
import type { CallContext } from "../../context.ts";
import { chargeAdded, parsedBodyOf } from "../../exchange/body.ts";
import { answerRequest, type HttpExchange } from "../completion.ts";
import { callerOf } from "../key-admission.ts";
import { answerInBackground } from "./background.ts";

export async function answerResponse(
  format: CallFormat,
  { request, reply }: HttpExchange,
  edge: CallContext,
): Promise<void> {
  const sent = await parsedBodyOf(request, format);
  const fields = readState(sent.body);
  const { accountId } = callerOf(request).key;
  const { ownItems, ...parsed } = await expand(sent, { accountId, fields }, edge.state);
  chargeAdded(request, parsed.source, sent.source);
  const clientRequest = readParsed(format, request, parsed);
  const exchange = { format, clientRequest, request, reply, sentBytes: sent.source.bytes };
  if (!fields.isStored) return answerRequest(exchange, edge);
  await countStored(callerOf(request), ownItems, edge.state);
  const terms = {
    accountId,
    requestId: request.id,
    answerId: newAnswerId(edge.now()),
    fields,
    ownItems,
    showsEncrypted: wantsEncrypted(sent.body),
    isStream: clientRequest.chat.isStream,
  };
  const state = createKeeper(terms, edge.state);
  if (fields.isBackground) return answerInBackground({ ...exchange, state }, edge);
  return answerRequest({ ...exchange, state }, edge);
}

export function readParsed(format: CallFormat, { headers }: FastifyRequest, { source, body }: ParsedBody) {
  return format.readRequest(source, body, { headers: headers as ClientHeaders });
}

/** Begins with the time, so that the store appends in one place. */
export function newAnswerId(nowMs: number): string {
  return `${nowMs.toString(16).padStart(12, "0")}${randomBytes(18).toString("hex")}`;
}
