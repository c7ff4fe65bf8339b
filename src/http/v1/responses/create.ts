// POST /v1/responses: the request is expanded with its history before its codec reads it, and the response is kept for
// later turns. A turn of a WebSocket connection may continue a response that only the connection holds.

import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { JsonItem } from "../../../core/responses/stored.ts";
import type { CallFormat, ClientHeaders } from "../../../formats/format.ts";
import type { ParsedBody } from "../../../formats/json/parse.ts";
import { wantsEncrypted } from "../../../formats/openai-responses/items.ts";
import { replayEvents } from "../../../formats/openai-responses/stored/replay.ts";
import { route } from "../../../gateway/complete.ts";
import { expand } from "../../../gateway/state/expand.ts";
import type { Holder } from "../../../gateway/state/held.ts";
import { createHolding, hold } from "../../../gateway/state/holding.ts";
import { createKeeper } from "../../../gateway/state/keep.ts";
import { readState, type StateFields } from "../../../gateway/state/read-state.ts";
import { countStored, requireStoringCredits } from "../../../gateway/state/storing.ts";
import type { CallContext } from "../../context.ts";
import { chargeAdded, parsedBodyOf } from "../../exchange/body.ts";
import { holderOf } from "../../exchange/inner-socket.ts";
import { withKept } from "../batches/references.ts";
import { answerRequest, type HttpExchange, type ReadExchange } from "../completion.ts";
import { callerOf } from "../key-admission.ts";
import { answerInBackground } from "./background.ts";
import { EVENT_STREAM } from "./stored.ts";

export async function answerResponse(
  format: CallFormat,
  { request, reply }: HttpExchange,
  edge: CallContext,
): Promise<void> {
  const sent = await parsedBodyOf(request, format);
  const fields = readState(sent.body);
  const { accountId } = callerOf(request).key;
  const holder = holderOf(request.raw);
  const responses = holder?.over(edge.state.responses) ?? edge.state.responses;
  const { ownItems, ...parsed } = await expand(sent, { accountId, fields }, { ...edge.state, responses });
  // Stored requests name their files, and do not have their content.
  const whole = await withKept(parsed, { format, accountId }, edge);
  chargeAdded(request, whole.source, sent.source);
  const clientRequest = readParsed(format, request, whole);
  const exchange = { format, clientRequest, request, reply, sentBytes: sent.source.bytes };
  const answerId = newAnswerId(edge.now());
  if (holder !== null && (!fields.isStored || sent.body.generate === false))
    return answerHeld({ exchange, parsed, answerId, holder }, edge);
  if (!fields.isStored) return answerRequest(exchange, edge);
  const kept = keptOf({ fields, ownItems, parsed, holder, accountId }, edge);
  await countStored(callerOf(request), kept.ownItems, edge.state);
  const terms = {
    ...kept,
    accountId,
    requestId: request.id,
    answerId,
    showsEncrypted: wantsEncrypted(sent.body),
    isStream: clientRequest.chat.isStream,
  };
  const state = createKeeper(terms, edge.state);
  if (fields.isBackground) return answerInBackground({ ...exchange, state }, edge);
  return answerRequest({ ...exchange, state }, edge);
}

interface HeldTurn {
  readonly exchange: ReadExchange;
  /** With everything that was said before. */
  readonly parsed: ParsedBody;
  readonly answerId: string;
  readonly holder: Holder;
}

/**
 * A turn that is held and not stored. Without generation it is only held: a later turn continues it. It costs nothing, but
 * only who could pay for an answer, from a model that the key may use, has it held.
 */
async function answerHeld({ exchange, parsed, answerId, holder }: HeldTurn, edge: CallContext): Promise<void> {
  const { format, clientRequest, request, reply } = exchange;
  const { form } = edge.state;
  const caller = callerOf(request);
  const { accountId } = caller.key;
  const showsEncrypted = wantsEncrypted(parsed.body);
  const terms = { accountId, answerId, items: form.inputItems(parsed.body.input), showsEncrypted, holder };
  if (parsed.body.generate !== false) return answerRequest({ ...exchange, state: createHolding(terms, form) }, edge);
  const services = edge.services();
  await requireStoringCredits(caller, services);
  route({ request: clientRequest, caller, headers: request.headers as ClientHeaders }, services);
  const createdAtSeconds = Math.floor(edge.now() / 1000);
  const modelId = String(clientRequest.body.model ?? "auto");
  const context = { requestId: request.id, answerId, modelId, createdAtSeconds, request: clientRequest };
  const response = { ...format.writeQueued?.(context), status: "completed", completed_at: createdAtSeconds };
  hold(response, terms, form);
  reply.type(EVENT_STREAM).send(replayEvents(response, -1));
}

interface KeptTurn {
  readonly fields: StateFields;
  readonly ownItems: readonly JsonItem[];
  readonly parsed: ParsedBody;
  readonly holder: Holder | null;
  readonly accountId: string;
}

/** The items to store. What only the connection holds is stored with the response: nothing else will have it. */
function keptOf({ fields, ownItems, parsed, holder, accountId }: KeptTurn, { state }: Pick<CallContext, "state">) {
  const id = fields.previousId;
  const isHeld = id !== null && holder !== null && holder.find({ accountId, id }) !== null;
  if (!isHeld) return { fields, ownItems };
  return { fields: { ...fields, previousId: null }, ownItems: state.form.inputItems(parsed.body.input) };
}

export function readParsed(format: CallFormat, { headers }: FastifyRequest, { source, body }: ParsedBody) {
  return format.readRequest(source, body, { headers: headers as ClientHeaders });
}

/** Begins with the time, so that the store appends in one place. */
export function newAnswerId(nowMs: number): string {
  return `${nowMs.toString(16).padStart(12, "0")}${randomBytes(18).toString("hex")}`;
}
