// Reads a whole response in the Responses format from a provider's bytes, and converts it for clients of other formats.

import type { Usage } from "../../core/chat.ts";
import type { ResponseReading, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../json/fields.ts";
import { parseResponse } from "../json/parse.ts";
import { unreadable } from "../provider/faults.ts";
import type { JsonSource } from "../scan/scan.ts";
import { failureOf, readResponsesFault } from "./faults.ts";
import { RESPONSES } from "./items.ts";
import {
  callId,
  callText,
  detailOf,
  type Item,
  isCall,
  isClientCall,
  PARAGRAPH,
  partText,
  reasoningText,
  writeCall,
} from "./output-items.ts";
import { readResponsesUsage } from "./usage.ts";

/** A success without an answer in it counts as a failed attempt. */
export function readResponsesResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null) return unreadable("the answer is not a JSON object");
  const { body, source } = parsed;
  if (body.status === "failed" || body.status === "cancelled") {
    return { ok: false, fault: failureOf(body, toText(body.status)) };
  }
  if (isObject(body.error) || typeof body.error === "string") return { ok: false, fault: readResponsesFault(body) };
  if (!Array.isArray(body.output)) return unreadable("the answer has no output");
  if (body.status === "in_progress" || body.status === "queued") return unreadable("the answer is not finished");
  const response = new ResponsesResponse(body, source);
  return isEmpty(body, response) ? unreadable("the answer is empty") : { ok: true, response };
}

/** Without a word it can still be an answer: one that the output cap or a filter ended. */
function isEmpty({ status }: JsonObject, { outputText, usage }: WholeResponse): boolean {
  return outputText === "" && (usage?.buckets.output ?? 0) === 0 && status !== "incomplete";
}

/** Converted only when a client of another format asks. */
class ResponsesResponse implements WholeResponse {
  readonly usage: Usage | null;
  readonly outputText: string;
  readonly native: WholeResponse["native"];
  readonly #body: JsonObject;
  readonly #items: readonly Item[];
  #completion: JsonObject | null = null;

  constructor(body: JsonObject, source: JsonSource) {
    this.#body = body;
    this.#items = objectsIn(body.output);
    this.native = { format: RESPONSES, source };
    this.usage = readResponsesUsage(body);
    this.outputText = this.#items.map(outputOf).join("");
  }

  get completion(): JsonObject {
    this.#completion ??= writeCompletion(this.#body, this.#items, this.usage);
    return this.#completion;
  }

  toolCallIds(): readonly string[] {
    return this.#items.filter((item) => isCall(item) || isClientCall(item)).map(callId);
  }
}

/** Everything a model wrote. A call of a built-in tool counts by its name: its result is not the model's. */
function outputOf(item: Item): string {
  if (item.type === "message") return partText(item, "text") + partText(item, "refusal");
  if (item.type === "reasoning") return reasoningText(item);
  return isCall(item) ? `${toText(item.name)}${callText(item)}` : toText(item.type);
}

function writeCompletion(body: JsonObject, items: readonly Item[], usage: Usage | null): JsonObject {
  const messages = items.filter(({ type }) => type === "message");
  const thoughts = items.filter(({ type }) => type === "reasoning");
  const text = joined(messages.map((item) => partText(item, "text")));
  const refusal = messages.map((item) => partText(item, "refusal")).join("");
  const reasoning = joined(thoughts.map(reasoningText));
  const details = thoughts.flatMap((item) => detailOf(item) ?? []).map((detail, index) => ({ ...detail, index }));
  const calls = items.filter(isCall).map(writeCall);
  const logprobs = messages.flatMap(({ content }) => objectsIn(content)).flatMap((part) => objectsIn(part.logprobs));
  return {
    id: body.id,
    object: "chat.completion",
    created: body.created_at,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" ? null : text,
          refusal: refusal === "" ? null : refusal,
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          ...(details.length === 0 ? {} : { reasoning_details: details }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: logprobs.length === 0 ? null : { content: logprobs, refusal: null },
        finish_reason: finishReasonFor(body, calls.length > 0),
      },
    ],
    ...(usage?.reported === undefined ? {} : { usage: usage.reported }),
  };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(PARAGRAPH);
}

/** The finish reason of a response in chat-completions' words. */
export function finishReasonFor({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): string {
  if (status !== "incomplete") return hasCalls ? "tool_calls" : "stop";
  return isObject(details) && details.reason === "content_filter" ? "content_filter" : "length";
}
