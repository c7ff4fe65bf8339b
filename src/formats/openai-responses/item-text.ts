// The output items of a response as JSON text, the same in a whole response and at the end of a stream.

import type { FoundPage, SearchStep } from "../../core/search/web-search.ts";
import { urlCitations } from "../content.ts";
import type { ResponseContext } from "../format.ts";
import type { JsonObject } from "../json/fields.ts";
import { clientToolId } from "../tools/calls.ts";
import { citedPlaces } from "../tools/searches.ts";
import { chatToolName } from "./items.ts";
import { clientToolFor, readArguments } from "./to-chat/client-tools.ts";
import { type CallableTool, readGivenTools } from "./to-chat/tools.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** A tool as the client knows it. */
type CalledTool = Pick<CallableTool, "type" | "name" | "namespace">;

/** Facts of a call that are known before its arguments. */
export interface CallHead {
  readonly id: string;
  readonly callId: string;
  readonly tool: CalledTool;
}

/** Places of a text that cite what was found. */
export function citationsIn(text: string, pages: readonly FoundPage[]): readonly JsonObject[] {
  return citedPlaces(text, pages).map(({ page: { url, title }, start, end }) => ({
    ...{ type: "url_citation", url, title, start_index: start, end_index: end },
  }));
}

/** Citations of a host that searched by itself. */
export function givenCitations(message: JsonObject): readonly JsonObject[] {
  return urlCitations(message).map(({ url, title, start, end }) => ({
    ...{ type: "url_citation", url, title, start_index: start, end_index: end },
  }));
}

/** Names that a step of the gateway has in events and ids. */
export function stepForm({ kind }: Pick<SearchStep, "kind">): StepForm {
  return kind === "image" ? IMAGE_STEP : SEARCH_STEP;
}

interface StepForm {
  readonly idPrefix: string;
  readonly events: string;
  readonly working: string;
}

const IMAGE_STEP: StepForm = { idPrefix: "ig", events: "response.image_generation_call", working: "generating" };
const SEARCH_STEP: StepForm = { idPrefix: "ws", events: "response.web_search_call", working: "searching" };

/** A search or a picture of the gateway. */
export function stepItem(id: string, step: SearchStep): string {
  return step.kind === "image" ? imageItem(id, step) : searchItem(id, step);
}

function imageItem(id: string, { outcome }: SearchStep): string {
  const picture = outcome?.ok === true ? outcome.picture : undefined;
  const ending = picture === undefined ? "failed" : "completed";
  return JSON.stringify({
    ...{ id, type: "image_generation_call", status: outcome === null ? "in_progress" : ending },
    ...(picture === undefined ? {} : { action: "generate", ...picture.facts, revised_prompt: picture.prompt }),
    result: picture?.base64 ?? null,
  });
}

function searchItem(id: string, { query, outcome }: SearchStep): string {
  const pages = outcome?.ok === true ? outcome.pages : [];
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  const ending = outcome?.ok === true ? "completed" : "failed";
  return JSON.stringify({
    ...{ id, type: "web_search_call", status: outcome === null ? "in_progress" : ending },
    action: { type: "search", query, queries: [query], sources },
  });
}

const NO_CITATIONS: readonly JsonObject[] = [];

/** Text as JSON; a refusal is a part of another type. */
export function textPart(
  kind: "message" | "refusal",
  text: string,
  logprobs: readonly unknown[],
  citations: readonly JsonObject[] = NO_CITATIONS,
): string {
  return kind === "message"
    ? `{"type":"output_text","annotations":${JSON.stringify(citations)},"logprobs":${JSON.stringify(logprobs)},"text":${text}}`
    : `{"type":"refusal","refusal":${text}}`;
}

export function messageItem(id: string, status: ItemStatus, parts: string): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts}]}`;
}

export function summaryPart(text: string): string {
  return `{"type":"summary_text","text":${text}}`;
}

/** `seal`: what brings a signed or encrypted thought back; null where there is none or nobody asked for it. */
export function reasoningItem(id: string, summary: string, seal: string | null): string {
  const encrypted = seal === null ? "" : `,"encrypted_content":${JSON.stringify(seal)}`;
  return `{"id":"${id}","type":"reasoning","summary":[${summary}]${encrypted}}`;
}

/** Facts about the item that calls a tool, by the type of the tool. */
export interface CallForm {
  readonly idPrefix: string;
  readonly type: string;
  readonly field: string;
  /** The name of the events that bring its text; null where the item comes whole. */
  readonly events: string | null;
}

export function callForm({ type }: CalledTool): CallForm {
  if (type === "custom") return CUSTOM;
  const own = clientToolFor({ type });
  return own === undefined ? FUNCTION : { idPrefix: own.idPrefix, type: own.call, field: "", events: null };
}

const CUSTOM: CallForm = {
  idPrefix: "ctc",
  type: "custom_tool_call",
  field: "input",
  events: "response.custom_tool_call_input",
};
const FUNCTION: CallForm = {
  idPrefix: "fc",
  type: "function_call",
  field: "arguments",
  events: "response.function_call_arguments",
};

/** `text`: the arguments or the input, as JSON text. */
export function callItem({ id, callId, tool }: CallHead, status: ItemStatus, text: string): string {
  const { type, field, events } = callForm(tool);
  if (events === null) return clientCallItem({ id, callId, tool }, status, text);
  const namespace = tool.namespace === null ? "" : `,"namespace":${JSON.stringify(tool.namespace)}`;
  const names = `"call_id":${JSON.stringify(callId)},"name":${JSON.stringify(tool.name)}${namespace}`;
  return `{"id":"${id}","type":"${type}","status":"${status}",${names},"${field}":${text}}`;
}

/** Arguments that a model left unfinished are nothing to act on. */
function clientCallItem({ id, callId, tool }: CallHead, status: ItemStatus, text: string): string {
  const own = clientToolFor({ type: tool.type });
  const given = readArguments(JSON.parse(text) as string);
  const ending = given === null && status === "completed" ? "incomplete" : status;
  return JSON.stringify({ id, type: own?.call, status: ending, call_id: callId, ...own?.writeCall(given ?? {}) });
}

/** The client's view of a call: its id, and the tool behind the name that the provider used. */
export interface CallNaming {
  idOf(id: string, index: number): string;
  toolOf(chatName: string): CalledTool;
}

export function callNaming(context: ResponseContext): CallNaming {
  let tools: ReadonlyMap<string, CallableTool> | null = null;
  return {
    idOf: (id, index) => clientToolId(id, index, context),
    toolOf(chatName) {
      tools ??= new Map(readGivenTools(context.request?.body ?? {}).callable.map((tool) => [tool.chatName, tool]));
      // A model may call what it was not given; the client will say so.
      return tools.get(chatToolName(chatName, null)) ?? { type: "function", name: chatName, namespace: null };
    },
  };
}
