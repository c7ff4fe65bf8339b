// POST /v1/chat/completions. With `store: true` the completion is kept by the gateway, to be listed and read later.

import type { ClientFormat } from "../../../formats/format.ts";
import type { JsonObject } from "../../../formats/json/fields.ts";
import { readBoolean } from "../../../formats/json/fields.ts";
import { type ParsedBody, scanBody } from "../../../formats/json/parse.ts";
import { spliceFields } from "../../../formats/json/splice.ts";
import { createCompletionKeeper } from "../../../gateway/state/keep-completion.ts";
import { countStored } from "../../../gateway/state/storing.ts";
import type { CallContext } from "../../context.ts";
import { chargeAdded, parsedBodyOf } from "../../exchange/body.ts";
import { withKept } from "../batches/references.ts";
import { answerRequest, type HttpExchange } from "../completion.ts";
import { callerOf } from "../key-admission.ts";
import { readMetadata } from "../responses/conversations.ts";
import { newAnswerId, readParsed } from "../responses/create.ts";

export async function answerChat(
  format: ClientFormat,
  { request, reply }: HttpExchange,
  edge: CallContext,
): Promise<void> {
  const sent = await parsedBodyOf(request, format);
  const { body } = sent;
  const form = format.completions;
  const caller = callerOf(request);
  const { accountId } = caller.key;
  const whole = await withKept(sent, { format, accountId }, edge);
  chargeAdded(request, whole.source, sent.source);
  const exchange = { format, request, reply, sentBytes: sent.source.bytes };
  if (!readBoolean(body, "store") || form === undefined)
    return answerRequest({ ...exchange, clientRequest: readParsed(format, request, whole) }, edge);
  const metadata = readMetadata(body);
  const clientRequest = readParsed(format, request, withoutStore(whole));
  const answerId = newAnswerId(edge.now());
  await countStored(caller, form.messages(body, ""), edge.state);
  const state = createCompletionKeeper(
    { form, accountId, requestId: request.id, answerId, metadata, body },
    edge.state,
  );
  return answerRequest({ ...exchange, clientRequest, state }, edge);
}

/** Providers store nothing, and refuse metadata of what is not stored. Labels of the request are read from the body. */
function withoutStore({ source, body }: ParsedBody): ParsedBody {
  const { store: _, ...rest }: JsonObject = body;
  const left = spliceFields(
    source,
    new Map([
      ["store", null],
      ["metadata", null],
    ]),
  );
  return { source: scanBody(left).source, body: rest };
}
