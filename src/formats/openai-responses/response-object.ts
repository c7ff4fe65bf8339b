// The response object of the Responses format as JSON text: what the request asked for, how the answer stands, its
// items and its usage. A stream sends it three times, so the parts that stay the same are written once.

import type { Usage } from "../../core/chat.ts";
import type { ResponseContext, ServiceObject } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { decodeText } from "../json/parse.ts";
import { joined } from "../json/splice.ts";
import { rawValue } from "../scan/scan.ts";
import { writeResponsesUsage } from "./usage.ts";

/** The state of an answer. Items and usage are JSON text. */
export interface ResponseState {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed";
  /** The service object; null before the request is routed. */
  readonly service: ServiceObject | null;
  readonly items?: readonly string[];
  readonly usage?: Usage;
  readonly incompleteBecause?: IncompleteReason;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Reasons why an answer is not whole, in the words of this format. */
export type IncompleteReason = "max_output_tokens" | "content_filter";

/** The reason why an answer is incomplete; null for one that came to its own end. */
export function incompleteReason(finish: unknown): IncompleteReason | null {
  if (finish === "length") return "max_output_tokens";
  return finish === "content_filter" ? "content_filter" : null;
}

/** The name of an answer, and the stem of the names of its items. */
function stemOf({ answerId, requestId }: ResponseContext): string {
  return (answerId ?? requestId).replace(/[^A-Za-z0-9]/g, "");
}

/** Names the items of one answer. */
export function itemNamer(context: ResponseContext): (prefix: string, outputIndex: number) => string {
  const stem = stemOf(context);
  return (prefix, outputIndex) => `${prefix}_${stem}${outputIndex.toString(16).padStart(2, "0")}`;
}

/** Writes the object of one answer, in any state. */
export function responseWriter(context: ResponseContext): (state: ResponseState) => string {
  const { before, after } = partsOf(context);
  const [instructions, tools] = longEchoes(context).map(decodeText);
  const echoes = `,"instructions":${instructions},"tools":${tools}`;
  return (state) => before(state) + echoes + after(state);
}

/** The same as bytes, without decoding what the client sent. */
export function writeResponseBytes(context: ResponseContext, state: ResponseState): Buffer {
  const { before, after } = partsOf(context);
  const [instructions, tools] = longEchoes(context);
  return joined([`${before(state)},"instructions":`, instructions, ',"tools":', tools, after(state)]);
}

function partsOf(context: ResponseContext) {
  const { modelId, createdAtSeconds, request, kept, nowSeconds = () => createdAtSeconds } = context;
  const head = `{"id":"resp_${stemOf(context)}","object":"response","created_at":${createdAtSeconds}`;
  const echo = JSON.stringify(echoOf(request?.body ?? {}, { modelId, isStored: kept === "stored" })).slice(1, -1);
  return {
    before: ({ status, items = [], usage, incompleteBecause, error }: ResponseState): string =>
      `${head},"completed_at":${status === "completed" ? nowSeconds() : "null"},"status":"${status}","error":${JSON.stringify(error ?? null)},"incomplete_details":${
        incompleteBecause === undefined ? "null" : `{"reason":"${incompleteBecause}"}`
      },"output":[${items.join(",")}],"usage":${
        usage === undefined ? "null" : JSON.stringify(writeResponsesUsage(usage))
      },"service_tier":"${usage?.serviceTier ?? "default"}",${echo}`,
    after: ({ service }: ResponseState): string => `,"service":${JSON.stringify(service)}}`,
  };
}

/** Agents send long instructions and many tools: the client's own bytes, unless a line break in them would end an event. */
function longEchoes({ request }: ResponseContext): [instructions: Buffer, tools: Buffer] {
  const echo = (name: string, otherwise: string): Buffer => {
    const value = request?.body[name] ?? null;
    const raw = request === undefined || value === null ? null : rawValue(request.source, name);
    if (raw === null) return Buffer.from(value === null ? otherwise : JSON.stringify(value));
    const isInLines = raw.includes("\n") || raw.includes("\r");
    return isInLines ? Buffer.from(JSON.stringify(JSON.parse(decodeText(raw)))) : raw;
  };
  const tools = request?.body.tools;
  const isWhole = !Array.isArray(tools) || tools.every((tool) => wholeTool(tool) === tool);
  return [
    echo("instructions", "null"),
    isWhole ? echo("tools", "[]") : Buffer.from(JSON.stringify(tools.map(wholeTool))),
  ];
}

/** Fields of a function that a client may leave out of a request, but reads in a response. */
const FUNCTION_FIELDS = { description: null, parameters: null, strict: null };

/** The same tool where it has all its fields. */
function wholeTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== "function") return tool;
  const isWhole = Object.keys(FUNCTION_FIELDS).every((name) => tool[name] !== undefined);
  return isWhole ? tool : { ...FUNCTION_FIELDS, ...tool };
}

/** The request's fields, with the vendor's defaults where the client left one out. */
function echoOf(
  body: JsonObject,
  { modelId, isStored }: { readonly modelId: string; readonly isStored: boolean },
): JsonObject {
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  const text = isObject(body.text) ? body.text : {};
  return {
    model: modelId,
    ...stateFields(body, isStored),
    frequency_penalty: body.frequency_penalty ?? 0,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { ...reasoning, effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    temperature: body.temperature ?? 1,
    text: { ...text, format: text.format ?? { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
  };
}

/** Fields of a response about its state, which is the gateway's and not the provider's. */
function stateFields(body: JsonObject, isStored: boolean): JsonObject {
  return {
    background: body.background === true,
    conversation: conversationOf(body),
    previous_response_id: body.previous_response_id ?? null,
    store: isStored,
  };
}

/** The same with the id, for a response that a provider wrote. One without state stays as the provider wrote it. */
export function ownFields(context: ResponseContext): JsonObject {
  const { kept, request } = context;
  const body = request?.body ?? {};
  if (kept === "stored") return { id: `resp_${stemOf(context)}`, ...stateFields(body, true) };
  const isContinued = (body.previous_response_id ?? body.conversation ?? null) !== null;
  return isContinued ? stateFields(body, false) : {};
}

/** Clients may name it by its id alone. */
function conversationOf({ conversation }: JsonObject): JsonObject | null {
  if (typeof conversation === "string") return { id: conversation };
  return isObject(conversation) ? { id: conversation.id } : null;
}
