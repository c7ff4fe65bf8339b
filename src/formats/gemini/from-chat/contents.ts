// Chat-completions messages as Gemini's contents. Instructions stand apart, user and model alternate, and the turn after
// a call begins with one result for each call. Signatures go back to the parts they came with.

import type { ChatMessage, ToolCall } from "../../../core/chat.ts";
import type { HostedModel } from "../../../core/model.ts";
import {
  CONTINUE,
  groupsOf,
  isInstruction,
  OPENING,
  parseArguments,
  readCalls,
  refuseMedia,
  resultKey,
} from "../../convert/chat-turns.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { detailsOf, type ReasoningDetail } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { parseObject } from "../../json/parse.ts";
import { NO_RESULT, orphanedResult, reminder } from "../../tools/results.ts";
import { FOREIGN_SIGNATURE, GEMINI, type GeminiContent, type Part } from "../shape.ts";
import { textPart, writeParts } from "./parts.ts";

interface ContentsOptions {
  readonly model: HostedModel;
  readonly conversion: Conversion;
  /** Set where signatures are left out because the provider has just refused one. */
  readonly stripsSignatures: boolean;
}

interface WrittenContents {
  readonly system: readonly Part[];
  readonly contents: readonly GeminiContent[];
}

/** The whole conversation, with every rule of alternation and pairing kept. */
export function writeContents(messages: readonly ChatMessage[], options: ContentsOptions): WrittenContents {
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther);
  for (const message of leading) refuseMedia(message, options.conversion);
  const system = leading.flatMap((message) => instructionParts(message));
  const contents: GeminiContent[] = [];
  for (const { assistant, replies } of groupsOf(messages.slice(leading.length))) {
    const { parts, calls } = writeModelTurn(assistant, options);
    add(contents, { role: "model", parts });
    const answered = [...writeResults(replies, calls, options), ...writeOthers(replies, calls, options)];
    add(contents, userTurn(answered));
  }
  // The format needs a user turn, also when all was said in the instructions.
  if (contents.length === 0) return { system: system.slice(0, -1), contents: [userTurn(system.slice(-1))] };
  if (contents[0]?.role !== "user") contents.unshift(userTurn(textPart(OPENING)));
  if (contents.at(-1)?.role === "model" && options.model.dialect.takesPrefill !== true) {
    options.conversion.note("content_converted", "added a user turn: the model does not continue a begun answer");
    contents.push(userTurn(textPart(CONTINUE)));
  }
  return { system, contents };
}

/** A turn of the same side is continued; one without parts is none. */
function add(contents: GeminiContent[], { role, parts }: GeminiContent): void {
  const last = contents.at(-1);
  if (parts.length === 0) return;
  if (last?.role === role) contents.splice(-1, 1, { role, parts: [...last.parts, ...parts] });
  else contents.push({ role, parts });
}

function userTurn(parts: readonly Part[]): GeminiContent {
  return { role: "user", parts };
}

function instructionParts({ content }: ChatMessage): readonly Part[] {
  if (!Array.isArray(content)) return textPart(content);
  return content.flatMap((part: JsonObject) => textPart(part.text));
}

/** A call of the turn before: what its result names, and under which name and id the result goes out. */
interface OpenCall {
  readonly key: string;
  readonly id: string;
  readonly name: string;
}

interface WrittenTurn {
  readonly parts: readonly Part[];
  readonly calls: readonly OpenCall[];
}

/** Assistant messages in a row as one turn: thoughts, words, calls. */
function writeModelTurn(messages: readonly ChatMessage[], options: ContentsOptions): WrittenTurn {
  const said: Part[] = [];
  const called: Part[] = [];
  const calls: OpenCall[] = [];
  for (const message of messages) {
    refuseMedia(message, options.conversion);
    const signatures = signaturesOf(message, options);
    said.push(...signatures.thoughts, ...writeSaid(message, signatures.ofText));
    for (const { key, id, name, text } of readCalls(message)) {
      calls.push({ key, id, name });
      const call = { ...(id === "" ? {} : { id }), name, args: parseArguments(text, options.conversion) };
      const signature = signatures.ofCall(id) ?? foreignSignature(called, options);
      called.push({ functionCall: call, ...(signature === null ? {} : { thoughtSignature: signature }) });
    }
  }
  return { parts: [...said, ...called], calls };
}

/** Returns a stand-in signature: only the first of several calls made at once must be signed. */
function foreignSignature(called: readonly Part[], { model }: ContentsOptions): string | null {
  return called.length === 0 && model.dialect.needsThoughtSignatures === true ? FOREIGN_SIGNATURE : null;
}

function writeSaid(message: ChatMessage, signature: string | null): readonly Part[] {
  const { refusal } = message as unknown as JsonObject;
  const texts = [...instructionParts(message), ...refusalParts(message.content), ...textPart(refusal)];
  const last = texts.at(-1);
  if (signature === null) return texts;
  return [...texts.slice(0, -1), { text: "", ...last, thoughtSignature: signature }];
}

function refusalParts(content: ChatMessage["content"]): readonly Part[] {
  return Array.isArray(content) ? content.flatMap((part: JsonObject) => textPart(part.refusal)) : [];
}

/** Gemini's signatures in one message. */
interface Signatures {
  readonly thoughts: readonly Part[];
  readonly ofText: string | null;
  ofCall(id: string): string | null;
}

const NO_SIGNATURES: Signatures = { thoughts: [], ofText: null, ofCall: () => null };

function signaturesOf(message: ChatMessage, { stripsSignatures }: ContentsOptions): Signatures {
  if (stripsSignatures) return NO_SIGNATURES;
  const details = detailsOf(GEMINI, message);
  const ofCalls = callSignatures(message.tool_calls ?? [], details);
  const ofText = details.findLast(({ data, id }) => data !== undefined && id === undefined)?.data ?? null;
  const thoughts = details.flatMap(({ text, signature }) =>
    text === undefined || signature === undefined ? [] : [{ text, thought: true, thoughtSignature: signature }],
  );
  return { thoughts, ofText, ofCall: (id) => ofCalls.get(id) ?? null };
}

/** On the call itself where the client keeps it there, else among the details, by the id of the call. */
function callSignatures(calls: readonly ToolCall[], details: readonly ReasoningDetail[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const ids = new Set(calls.map(({ id }) => id));
  for (const { data, id } of details) {
    if (data === undefined || id === undefined) continue;
    // A client may have got another id for the call: then the first call is meant, the one that must be signed.
    const owner = ids.has(id) ? id : calls[0]?.id;
    if (owner !== undefined && !found.has(owner)) found.set(owner, data);
  }
  for (const call of calls) {
    const signature = ownSignature(call);
    if (signature !== null) found.set(call.id ?? "", signature);
  }
  return found;
}

function ownSignature(call: ToolCall): string | null {
  const { extra_content: extra } = call as JsonObject;
  const signature = isObject(extra) && isObject(extra.google) ? extra.google.thought_signature : null;
  return typeof signature === "string" && signature !== "" ? signature : null;
}

/** One result for each call, in the order of the calls: what was repeated counts once, what is missing is said. */
function writeResults(
  replies: readonly ChatMessage[],
  calls: readonly OpenCall[],
  options: ContentsOptions,
): readonly Part[] {
  if (calls.length === 0) return [];
  return calls.flatMap((call, index) => {
    const message = resultOf(index, calls, replies);
    if (message !== undefined) return writeResult(message, call, options);
    options.conversion.note("content_converted", "added an empty result for a tool call that had none");
    return [functionResponse(call, { output: NO_RESULT })];
  });
}

/** Calls may share an id, or have none: then results are taken in order. */
function resultOf(index: number, calls: readonly OpenCall[], replies: readonly ChatMessage[]): ChatMessage | undefined {
  const key = calls[index]?.key;
  const results = replies.filter((message) => resultKey(message) === key);
  const place = calls.slice(0, index).filter((call) => call.key === key).length;
  const isLast = calls.findLastIndex((call) => call.key === key) === index;
  return isLast ? results.slice(place).at(-1) : results[place];
}

/** Images and files of a result stand beside it, since every model reads them there. */
function writeResult(message: ChatMessage, call: OpenCall, { conversion }: ContentsOptions): readonly Part[] {
  const parts = writeParts(message.content, conversion);
  const texts = parts.filter(({ text }) => text !== undefined).map(({ text }) => toText(text));
  const others = parts.filter(({ text }) => text === undefined);
  return [functionResponse(call, responseOf(texts.join("\n"))), ...others];
}

function functionResponse({ id, name }: OpenCall, response: JsonObject): Part {
  return { functionResponse: { ...(id === "" ? {} : { id }), name, response } };
}

/** Numbers that parsing would round. */
const LONG_NUMBER = /\d{16}/;

/** The format takes objects only; a result that is one already goes as it is. */
function responseOf(text: string): JsonObject {
  const value = text.startsWith("{") && !LONG_NUMBER.test(text) ? parseObject(text) : null;
  return value ?? { output: text };
}

/** Writes messages that are no result of a call of the turn before. */
function writeOthers(
  replies: readonly ChatMessage[],
  calls: readonly OpenCall[],
  { conversion }: ContentsOptions,
): readonly Part[] {
  return replies.flatMap((message) => {
    const key = resultKey(message);
    if (key !== null && calls.some((call) => call.key === key)) return [];
    const parts = writeParts(message.content, conversion);
    if (key !== null) {
      conversion.note("content_converted", "turned a tool result without its call into text");
      return parts.map((part) => rewritten(part, orphanedResult));
    }
    if (isInstruction(message)) {
      conversion.note("content_converted", "turned a system message among the messages into a reminder");
      return parts.map((part) => rewritten(part, reminder));
    }
    if (message.name !== undefined)
      conversion.note("content_converted", "dropped names of messages: the Gemini format has none");
    return parts;
  });
}

function rewritten(part: Part, write: (text: string) => string): Part {
  return part.text === undefined ? part : { ...part, text: write(toText(part.text)) };
}
