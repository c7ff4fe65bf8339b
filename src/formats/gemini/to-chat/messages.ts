// Gemini's contents as chat-completions messages. Calls without an id get one from their place, and a result goes to the
// call with its id, or to the next unanswered one of its name.

import type { ChatMessage, ContentPart, ToolCall } from "../../../core/chat.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isSealed, openDetail, type ReasoningDetail } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../../json/fields.ts";
import { shortToolName } from "../../tools/calls.ts";
import { NO_RESULT, orphanedResult, reminder } from "../../tools/results.ts";
import { type GeminiContent, type Part, partsOf } from "../shape.ts";
import type { GeminiRequest } from "./parse.ts";
import { codeText, convertPart } from "./parts.ts";

interface ContentOptions {
  readonly conversion: Conversion;
  /** Set where readable thoughts of earlier turns go along as `reasoning_content`. */
  readonly keepsReasoning: boolean;
  /** Set where signed thoughts of other formats go along, for a provider that takes its own back. */
  readonly keepsDetails: boolean;
  /** Set where the host wants the signatures that Google gave to calls. */
  readonly keepsSignatures: boolean;
}

/** Also what routing reads: the same conversion, with nothing kept that only a provider needs. */
export function convertContents(
  { system, contents }: Pick<GeminiRequest, "system" | "contents">,
  options: ContentOptions,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  const instructions = system.flatMap((part) => convertPart(part, options.conversion));
  if (instructions.length > 0) messages.push({ role: "system", content: joinParts(instructions) });
  for (const [index, { model, replies }] of groupsOf(contents).entries()) {
    const message = convertModel(model, index, options);
    if (message !== null) messages.push(message);
    const shown = convertShown(model, options);
    messages.push(...convertReplies({ replies, calls: message?.tool_calls ?? [], shown }, options));
  }
  return messages;
}

interface ContentGroup {
  readonly model: Part[];
  readonly replies: Part[][];
}

/** A model's turn and all that follows until the next one. Chunks of a stream come back as several turns in a row. */
function groupsOf(contents: readonly GeminiContent[]): readonly ContentGroup[] {
  const groups: ContentGroup[] = [{ model: [], replies: [] }];
  for (const { role, parts } of contents) {
    const last = groups.at(-1) as ContentGroup;
    if (role === "user") last.replies.push([...parts]);
    else if (last.replies.length === 0) last.model.push(...parts);
    else groups.push({ model: [...parts], replies: [] });
  }
  return groups;
}

function convertModel(parts: readonly Part[], group: number, options: ContentOptions): ChatMessage | null {
  const calls = parts.filter((part) => isObject(part.functionCall));
  const content = modelText(parts);
  if (content === "" && calls.length === 0) return null;
  const thoughts = parts.filter(({ thought }) => thought === true).map(({ text }) => toText(text ?? ""));
  const reasoning = options.keepsReasoning ? thoughts.join("") : "";
  const details = options.keepsDetails ? parts.flatMap(detailOf) : [];
  if (thoughts.length > 0 && reasoning === "" && details.length === 0) {
    options.conversion.note(
      "reasoning_dropped",
      "dropped thoughts of earlier turns: only the model that made them can read them",
    );
  }
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((part, index) => convertCall(part, `call_${group}_${index}`, options)) }),
  };
}

/** Images and files that the model made: chat-completions takes text only in its messages. */
function convertShown(parts: readonly Part[], { conversion }: ContentOptions): readonly ContentPart[] {
  const media = parts.filter(({ thought, inlineData, fileData }) => {
    return thought !== true && (isObject(inlineData) || isObject(fileData));
  });
  if (media.length === 0) return [];
  conversion.note("content_converted", "moved images and files of earlier model turns into a user message");
  const shown = reminder("What your message above showed besides text:");
  return [{ type: "text", text: shown }, ...media.flatMap((part) => convertPart(part, conversion))];
}

function modelText(parts: readonly Part[]): string {
  return parts
    .filter(({ thought }) => thought !== true)
    .map((part) => codeText(part) ?? textOrEmpty(part.text))
    .join("");
}

function detailOf({ thoughtSignature: signature }: Part): readonly ReasoningDetail[] {
  const detail = openDetail(signature);
  return detail === null ? [] : [detail];
}

/** Ids must not repeat within a conversation, so one that is missing is made from the call's place. */
function convertCall(part: Part, madeUpId: string, { keepsSignatures }: ContentOptions): ToolCall {
  const { id, name, args } = part.functionCall as JsonObject;
  const signature = part.thoughtSignature;
  const isKept = keepsSignatures && typeof signature === "string" && !isSealed(signature);
  return {
    id: typeof id === "string" && id !== "" ? id : madeUpId,
    type: "function",
    function: { name: shortToolName(toText(name)), arguments: JSON.stringify(args ?? {}) },
    // Google's compatible API has the same shape.
    ...(isKept ? { extra_content: { google: { thought_signature: signature } } } : {}),
  };
}

interface ModelReplies {
  readonly replies: readonly (readonly Part[])[];
  /** The calls of the model's turn before. */
  readonly calls: readonly ToolCall[];
  /** The media of that turn. */
  readonly shown: readonly ContentPart[];
}

/** In the order chat-completions wants: one tool message for each call, their attachments, then the rest as it came. */
function convertReplies(
  { replies, calls, shown }: ModelReplies,
  { conversion }: ContentOptions,
): readonly ChatMessage[] {
  const responses = replies
    .flat()
    .flatMap(({ functionResponse }) => (isObject(functionResponse) ? [functionResponse] : []));
  const matched = matchResponses(responses, calls);
  const attachments: ContentPart[] = [...shown];
  const answered = calls.map(({ id = "" }): ChatMessage => {
    const response = matched.get(id);
    if (response === undefined) {
      conversion.note("content_converted", "added an empty result for a tool call that had none");
      return { role: "tool", tool_call_id: id, content: NO_RESULT };
    }
    const media = partsOf(response).flatMap((part) => convertPart(part, conversion));
    if (media.length > 0)
      attachments.push({ type: "text", text: reminder(`What the tool call ${id} returned besides text:`) }, ...media);
    return { role: "tool", tool_call_id: id, content: responseText(response) };
  });
  if (attachments.length > shown.length) {
    conversion.note(
      "content_converted",
      "moved images and files of tool results into a user message: tool messages take text only",
    );
  }
  const taken = new Set(matched.values());
  return [
    ...answered,
    ...(attachments.length === 0 ? [] : [{ role: "user", content: attachments } as const]),
    ...replies.flatMap((parts) => convertUser(parts, taken, conversion)),
  ];
}

/** The response of each call, by the call's id. */
function matchResponses(responses: readonly JsonObject[], calls: readonly ToolCall[]): ReadonlyMap<string, JsonObject> {
  const matched = new Map<string, JsonObject>();
  const isOpen = ({ id = "" }: ToolCall): boolean => !matched.has(id);
  for (const response of responses) {
    const name = shortToolName(toText(response.name));
    const call =
      calls.find((candidate) => candidate.id === response.id) ??
      calls.find((candidate) => isOpen(candidate) && candidate.function?.name === name);
    // Clients that repeat a result mean the later one.
    if (call !== undefined) matched.set(call.id ?? "", response);
  }
  return matched;
}

/** A text alone under one of the usual names is the result itself; anything else is JSON. */
function responseText({ response }: JsonObject): string {
  const fields = isObject(response) ? Object.entries(response) : [];
  const [name = "", value] = fields[0] ?? [];
  if (fields.length === 1 && typeof value === "string") {
    if (name === "output" || name === "result" || name === "content") return value;
    if (name === "error") return `Error: ${value}`;
  }
  return JSON.stringify(response ?? {});
}

function convertUser(
  parts: readonly Part[],
  taken: ReadonlySet<JsonObject>,
  conversion: Conversion,
): readonly ChatMessage[] {
  const content = parts.flatMap((part) => {
    if (!isObject(part.functionResponse)) return convertPart(part, conversion);
    return taken.has(part.functionResponse) ? [] : orphan(part.functionResponse, conversion);
  });
  return content.length === 0 ? [] : [{ role: "user", content: joinParts(content) }];
}

/** A result whose call is not in the history: hosts refuse it as a tool message. */
function orphan(response: JsonObject, conversion: Conversion): readonly ContentPart[] {
  conversion.note("content_converted", "turned a tool result without its call into text");
  const media = partsOf(response).flatMap((part) => convertPart(part, conversion));
  return [{ type: "text", text: orphanedResult(responseText(response)) }, ...media];
}

/** Plain text as a string, which every host takes; anything else as parts. */
function joinParts(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  return parts.every(({ type }) => type === "text") ? parts.map(({ text }) => text).join("\n\n") : parts;
}
