// A whole response in the Messages format, written for a client: a provider's own bytes, or a chat completion converted
// into thinking, then text, then tool calls in order.

import type { Usage } from "../../core/chat.ts";
import { callsOf, firstChoice, splitContent } from "../content.ts";
import { detailsIn, isSealed, type ReasoningDetail, sealDetail } from "../convert/reasoning-details.ts";
import type { ResponseAdditions, ResponseContext, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty } from "../json/fields.ts";
import { spliceFields } from "../json/splice.ts";
import { clientToolId, toolNameRestorer } from "../tools/calls.ts";
import { ANTHROPIC, type Block, stopReasonFor, textBlock, thinkingBlock } from "./blocks.ts";
import { appliedEdits } from "./context-edits.ts";
import { citationsOf, citesPages, givenCitations, searchedBlocks, searchedSteps } from "./search-blocks.ts";
import { writeAnthropicUsage } from "./usage.ts";

/** From a provider of this format: its bytes but for the model name, missing usage and the added `service` object. */
export function passAnthropicResponse(
  { native }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const changes = new Map([
    ["model", JSON.stringify(context.modelId)],
    ["service", JSON.stringify(service)],
  ]);
  if (usage !== null) changes.set("usage", JSON.stringify(writeAnthropicUsage(usage)));
  return spliceFields(native.source, changes);
}

/** From a provider of another format. */
export function writeAnthropicResponse(
  { completion, usage: counted }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const message = writeMessage(completion, context, (usage ?? counted) as Usage);
  return Buffer.from(JSON.stringify({ ...message, service }));
}

function writeMessage(completion: JsonObject, context: ResponseContext, usage: Usage): JsonObject {
  const choice = firstChoice(completion);
  const message = isObject(choice.message) ? choice.message : {};
  const calls = callsOf(message);
  const restoreName = toolNameRestorer(context.request?.chat.tools);
  const blocks: readonly Block[] = [
    ...searchedBlocks(message, (said) => [...thoughtBlocks(said), ...textBlocks(said, false)]),
    ...thoughtBlocks(message),
    ...textBlocks(message, citesPages(context)),
    ...calls.map((call, index) => toolBlock(call, { index, context, restoreName })),
  ];
  const hasRefusal = typeof message.refusal === "string" && message.refusal !== "";
  return {
    ...messageHead(context),
    content: blocks.length === 0 ? [textBlock("")] : blocks,
    stop_reason: stopReasonFor({ finish: choice.finish_reason, hasToolCalls: calls.length > 0, hasRefusal }),
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: writeAnthropicUsage(usage),
    ...appliedEdits(context.request),
  };
}

/** The beginning of every message, whole or as a stream. */
export function messageHead({ requestId, modelId }: ResponseContext): JsonObject {
  const id = requestId.replace(/[^A-Za-z0-9_-]/g, "");
  return { id: id.startsWith("msg_") ? id : `msg_${id}`, type: "message", role: "assistant", model: modelId };
}

/** Signed where the provider signed. The text comes with the signatures, or beside them. */
function thoughtBlocks(message: JsonObject): readonly Block[] {
  const { reasoning } = splitContent(message);
  const signed = detailsIn(message).map(signedBlock);
  if (reasoning === "" || signed.some(({ thinking }) => textOrEmpty(thinking) !== "")) return signed;
  const seal = sealOf(signed[0]);
  return [{ type: "thinking", thinking: reasoning, signature: seal }, ...(seal === "" ? signed : signed.slice(1))];
}

/** Returns the signature for a thought whose text came before. Anthropic's own data is a block by itself. */
export function sealOf({ signature, data }: JsonObject = {}): string {
  return textOrEmpty(signature) || (isSealed(data) ? data : "");
}

/** An entry as a client of this format keeps it; what Anthropic did not sign is sealed, so that it is told apart. */
export function signedBlock(detail: ReasoningDetail): Block {
  if (detail.format === ANTHROPIC) return thinkingBlock(detail);
  const text = detail.text ?? detail.summary ?? "";
  const sealed = sealDetail(detail);
  if (text === "") return { type: "redacted_thinking", data: sealed };
  return { type: "thinking", thinking: text, signature: sealed };
}

function textBlocks(message: JsonObject, isCited: boolean): readonly Block[] {
  const { text, refusal } = splitContent(message);
  if (text + refusal === "") return [];
  const citations = [...citationsOf(text, searchedSteps(message), isCited), ...givenCitations(message)];
  return [{ ...textBlock(text + refusal), ...(citations.length === 0 ? {} : { citations }) }];
}

interface ToolBlockInput {
  readonly index: number;
  readonly context: ResponseContext;
  readonly restoreName: (name: string) => string;
}

function toolBlock(call: JsonObject, { index, context, restoreName }: ToolBlockInput): Block {
  const called = isObject(call.function) ? call.function : {};
  return {
    type: "tool_use",
    id: clientToolId(textOrEmpty(call.id), index, context),
    name: restoreName(textOrEmpty(called.name)),
    input: parseInput(called.arguments),
  };
}

/** Text as a rule; some hosts send the object itself. Cut off by the output cap it cannot be parsed; the stop reason tells the client. */
function parseInput(text: unknown): JsonObject {
  if (isObject(text)) return text;
  try {
    const value: unknown = JSON.parse(textOrEmpty(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
