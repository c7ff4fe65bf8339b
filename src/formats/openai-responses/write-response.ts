// A whole response in the Responses format, written for a client from a chat completion: reasoning, then text, then tool
// calls in order.

import type { Usage } from "../../core/chat.ts";
import { callsOf, firstChoice, splitContent } from "../content.ts";
import { detailsIn, sealDetail, sealText } from "../convert/reasoning-details.ts";
import type { ResponseAdditions, ResponseContext, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty } from "../json/fields.ts";
import { normalFinish } from "../openai-chat/read-response.ts";
import { NO_ARGUMENTS } from "../tools/calls.ts";
import { pagesOf, roundsOf } from "../tools/searches.ts";
import { readInput } from "./custom-input.ts";
import {
  callForm,
  callItem,
  callNaming,
  citationsIn,
  givenCitations,
  type ItemStatus,
  messageItem,
  reasoningItem,
  stepForm,
  stepItem,
  summaryPart,
  textPart,
} from "./item-text.ts";
import { keepsEncrypted, sealsTexts } from "./items.ts";
import { incompleteReason, itemNamer, writeResponseBytes } from "./response-object.ts";

/** From a provider of another format. */
export function writeResponsesResponse(
  { completion, usage: counted }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const choice = firstChoice(completion);
  const message = isObject(choice.message) ? choice.message : {};
  const because = incompleteReason(normalFinish(choice.finish_reason, false));
  const items = writeItems(message, { context, logprobs: logprobsOf(choice), isCut: because !== null });
  const state = { service, items, usage: (usage ?? counted) as Usage };
  return because === null
    ? writeResponseBytes(context, { status: "completed", ...state })
    : writeResponseBytes(context, { status: "incomplete", incompleteBecause: because, ...state });
}

/** The likelihoods of a choice or of a chunk of one; they have the same shape in both formats. */
export function logprobsOf({ logprobs }: JsonObject): readonly unknown[] {
  return isObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}

interface ItemTerms {
  readonly context: ResponseContext;
  readonly logprobs: readonly unknown[];
  /** Set where the answer ends in the middle of its last item. */
  readonly isCut: boolean;
}

type WriteItem = (id: (prefix: string) => string, status: ItemStatus) => string;

function writeItems(message: JsonObject, { context, logprobs, isCut }: ItemTerms): readonly string[] {
  const name = itemNamer(context);
  const writers: readonly WriteItem[] = [
    ...searchWriters(message, context),
    ...reasoningWriters(message, context),
    ...textWriters(message, logprobs),
    ...callWriters(message, context),
  ];
  return writers.map((write, index) => {
    const status = isCut && index === writers.length - 1 ? "incomplete" : "completed";
    return write((prefix) => name(prefix, index), status);
  });
}

/** The rounds before the answer: what the model said, and what it asked the gateway for. */
function searchWriters(message: JsonObject, context: ResponseContext): readonly WriteItem[] {
  return roundsOf(message).flatMap(({ message: said, steps }) => [
    ...reasoningWriters(said, context),
    ...textWriters(said, []),
    ...steps.map(
      (step): WriteItem =>
        (id) =>
          stepItem(id(stepForm(step).idPrefix), step),
    ),
  ]);
}

/** A signed thought is an item of its own, and so is text that nobody signed. */
function reasoningWriters(message: JsonObject, context: ResponseContext): readonly WriteItem[] {
  const details = keepsEncrypted(context) ? detailsIn(message) : [];
  const { reasoning } = splitContent(message);
  if (details.length === 0) {
    return reasoning === "" ? [] : [reasoningWriter(reasoning, sealsTexts(context) ? sealText(reasoning) : null)];
  }
  const texts = details.map(({ text, summary }) => text ?? summary ?? "");
  const isSaidByDetails = reasoning === "" || texts.some((text) => text !== "");
  const unsigned = isSaidByDetails ? [] : [reasoningWriter(reasoning, null)];
  return [...unsigned, ...details.map((detail, index) => reasoningWriter(texts[index] ?? "", sealDetail(detail)))];
}

function reasoningWriter(text: string, seal: string | null): WriteItem {
  return (id) => reasoningItem(id("rs"), text === "" ? "" : summaryPart(JSON.stringify(text)), seal);
}

function textWriters(message: JsonObject, logprobs: readonly unknown[]): readonly WriteItem[] {
  const { text, refusal } = splitContent(message);
  const pages = pagesOf(roundsOf(message).flatMap(({ steps }) => steps));
  const writers: WriteItem[] = [];
  for (const [kind, said] of [["message", text] as const, ["refusal", refusal] as const]) {
    if (said === "") continue;
    const citations = kind === "message" ? [...citationsIn(said, pages), ...givenCitations(message)] : [];
    const part = textPart(kind, JSON.stringify(said), logprobs, citations);
    writers.push((id, status) => messageItem(id("msg"), status, part));
  }
  return writers;
}

function callWriters(message: JsonObject, context: ResponseContext): readonly WriteItem[] {
  const naming = callNaming(context);
  return callsOf(message).map((call, index) => {
    const called = isObject(call.function) ? call.function : {};
    const tool = naming.toolOf(textOrEmpty(called.name));
    const text = isObject(called.arguments) ? JSON.stringify(called.arguments) : textOrEmpty(called.arguments);
    const callId = naming.idOf(textOrEmpty(call.id), index);
    const isCustom = tool.type === "custom";
    return (id, status) => {
      const whole = text === "" && status === "completed" ? NO_ARGUMENTS : text;
      const written = JSON.stringify(isCustom ? readInput(text) : whole);
      return callItem({ id: id(callForm(tool).idPrefix), callId, tool }, status, written);
    };
  });
}
