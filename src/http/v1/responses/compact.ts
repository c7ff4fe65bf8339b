// POST /v1/responses/compact: a model summarizes the conversation, and the summary goes to the client as a sealed item.
// The summary is an ordinary call: routed, reserved and charged as any other.

import { findModel } from "../../../catalog/model-names.ts";
import { GatewayError } from "../../../core/errors.ts";
import type { JsonItem } from "../../../core/responses/stored.ts";
import type { CallFormat } from "../../../formats/format.ts";
import { invalid, isObject, type JsonObject } from "../../../formats/json/fields.ts";
import { parseBody } from "../../../formats/json/parse.ts";
import { compactionItem, summaryRequest, userMessages } from "../../../formats/openai-responses/stored/compaction.ts";
import { inputItems, outputItems, storedItems } from "../../../formats/openai-responses/stored/items.ts";
import { readControls } from "../../../formats/service/controls.ts";
import type { Answer } from "../../../gateway/answer.ts";
import type { Caller } from "../../../gateway/call.ts";
import { constraintsOf } from "../../../gateway/constraints.ts";
import { gather, openSummaries } from "../../../gateway/state/expand.ts";
import { responseIdOf } from "../../../gateway/state/keep.ts";
import { readState } from "../../../gateway/state/read-state.ts";
import { estimateTextsTokens } from "../../../routing/cost.ts";
import { controlsUnder, offeredModels } from "../../../routing/direct.ts";
import type { CallContext } from "../../context.ts";
import { chargeAdded, parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { answerRequest, type HttpExchange } from "../completion.ts";
import { callerOf } from "../key-admission.ts";
import { newAnswerId, readParsed } from "./create.ts";

/** Part of a model's context window that a history may fill. The rest is for instructions, summary and estimation errors. */
const HISTORY_RATIO = 0.7;
/** Part of what a conversation may have that the user's own messages may take up after it. */
const KEPT_RATIO = 0.25;

export async function compact(format: CallFormat, { request, reply }: HttpExchange, edge: CallContext): Promise<void> {
  const sent = await parsedBodyOf(request);
  if ((sent.body.model ?? null) === null) throw invalid("model", TEXT.compactModelRequired);
  const { accountId } = callerOf(request).key;
  const continuation = { accountId, fields: readState(sent.body), isSummarized: true };
  const { items } = await gather(readInput(sent.body.input), continuation, edge.state);
  if (items.length === 0) throw invalid("input", TEXT.nothingToCompact);
  const opened = await openSummaries(items, continuation, edge.state);
  const room = roomFor(sent.body, callerOf(request), edge);
  const fits = (texts: readonly string[]): boolean => estimateTextsTokens(texts) <= room;
  const asked = parseBody(Buffer.from(JSON.stringify(summaryRequest(sent.body, opened, fits))));
  chargeAdded(request, asked.source, sent.source);
  const clientRequest = readParsed(format, request, asked);
  // An Idempotency-Key of this endpoint does not bring back a response of the other one.
  const sentBytes = Buffer.concat([Buffer.from("compact "), sent.source.bytes]);
  const exchange = { format, clientRequest, request, reply, sentBytes };
  const answerId = newAnswerId(edge.now());
  const change = async (answer: Answer): Promise<Answer> => {
    if (answer.kind === "stream") return answer;
    const response = JSON.parse(answer.bytes.toString("utf8")) as JsonItem;
    const sealed = await edge.state.compactions.seal(summaryOf(response), accountId);
    const keptBytes = edge.state.conversationBytes() * KEPT_RATIO;
    const kept = storedItems(userMessages(items, keptBytes), `${answerId}u`);
    const compacted = {
      id: responseIdOf(answerId),
      object: "response.compaction",
      created_at: Math.floor(edge.now() / 1000),
      output: [...kept, compactionItem(`cmp_${answerId}`, sealed)],
      usage: response.usage,
      service: response.service,
    };
    return { ...answer, bytes: Buffer.from(JSON.stringify(compacted)) };
  };
  return answerRequest(exchange, edge, change);
}

/** Tokens of a history that the largest model this request can get may read. */
function roomFor(body: JsonObject, caller: Caller, { services }: Pick<CallContext, "services">): number {
  const { catalog } = services();
  const constraints = constraintsOf(caller, catalog);
  const controls = controlsUnder(constraints, readControls(body));
  const models = offeredModels(constraints, catalog);
  const named = controls.profile === "direct" ? findModel(catalog, controls.model ?? "") : undefined;
  const usable = controls.profile === "direct" ? models.filter((model) => model === named) : models;
  return Math.max(0, ...usable.map(({ context }) => context)) * HISTORY_RATIO;
}

function readInput(input: unknown): readonly JsonItem[] {
  const isList = Array.isArray(input) && input.every(isObject);
  if ((input ?? null) === null || typeof input === "string" || isList) return inputItems(input ?? []);
  throw invalid("input", TEXT.invalidInput);
}

/** A history that is replaced by nothing would be lost without a word. */
function summaryOf(response: JsonItem): string {
  const parts = outputItems(response).flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const text = parts.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
  if (text.trim() !== "") return text;
  throw new GatewayError("providersFailed", TEXT.noSummary, {
    code: "no_summary",
    retryAfterSeconds: 1,
  });
}
