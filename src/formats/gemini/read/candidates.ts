// Candidates of a Gemini response, whole or in pieces, in the internal shape. Thoughts become `reasoning_content`,
// signatures `reasoning_details`, and calls get an id where Google sends none.

import type { ReasoningDetail } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { hashText } from "../../tools/calls.ts";
import { GEMINI, type Part, partsOf } from "../shape.ts";

/** Finish reasons in chat-completions' words. Reasons that are not listed are a usual end. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
};
/** The model wrote something that Google itself could not read, so there is no answer. */
const BROKEN = /^(?:MALFORMED_|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE)/;

export function isBroken(reason: unknown): boolean {
  return typeof reason === "string" && BROKEN.test(reason);
}

/** The content of a candidate's parts. */
export interface Said {
  /** The fields of a message or a delta. */
  readonly message: JsonObject;
  /** Everything delivered, for where nobody counted it. */
  readonly output: string;
}

/** One candidate, read piece by piece. */
export class CandidateReader {
  readonly toolCallIds: string[] = [];
  #details = 0;
  #hasSpoken = false;
  #isFinished = false;

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** `responseId` makes ids of calls that no other response has. */
  read(content: unknown, responseId: unknown): Said {
    const pieces = new Pieces();
    for (const part of partsOf(content)) this.#readPart(part, responseId, pieces);
    this.#hasSpoken ||= pieces.output !== "";
    return { message: pieces.message(), output: pieces.output };
  }

  /** Reads the end of the candidate; null while the candidate goes on. */
  finish({ finishReason: reason, finishMessage: message }: JsonObject): CandidateEnd | null {
    if (typeof reason !== "string" || reason === "FINISH_REASON_UNSPECIFIED") return null;
    this.#isFinished = true;
    const finish = FINISH_REASONS[reason] ?? "stop";
    if (finish === "content_filter" && !this.#hasSpoken) return { finish, refusal: refusalText(reason, message) };
    return { finish: finish === "stop" && this.toolCallIds.length > 0 ? "tool_calls" : finish, refusal: null };
  }

  #readPart(part: Part, responseId: unknown, pieces: Pieces): void {
    const { text, thought, thoughtSignature: signature, functionCall, inlineData } = part;
    if (isObject(functionCall)) {
      this.#readCall(functionCall, signature, { responseId, pieces });
      return;
    }
    if (isObject(inlineData)) pieces.addImage(inlineData);
    else if (typeof text === "string") pieces.addText(text, thought === true);
    else pieces.output += JSON.stringify(part);
    if (typeof signature !== "string" || signature === "") return;
    const isThought = thought === true && typeof text === "string";
    pieces.details.push(
      isThought
        ? this.#detail({ type: "reasoning.text", text, signature })
        : this.#detail({ type: "reasoning.encrypted", data: signature }),
    );
  }

  #readCall(
    { id: given, name, args }: JsonObject,
    signature: unknown,
    { responseId, pieces }: { readonly responseId: unknown; readonly pieces: Pieces },
  ): void {
    const index = this.toolCallIds.length;
    const id = typeof given === "string" && given !== "" ? given : madeUpId(responseId, index);
    this.toolCallIds.push(id);
    const isSigned = typeof signature === "string" && signature !== "";
    const call = { name: toText(name), arguments: JSON.stringify(args ?? {}) };
    pieces.output += call.name + call.arguments;
    pieces.calls.push({
      index,
      id,
      type: "function",
      function: call,
      ...(isSigned ? { extra_content: { google: { thought_signature: signature } } } : {}),
    });
    if (isSigned) pieces.details.push(this.#detail({ type: "reasoning.encrypted", data: signature, id }));
  }

  #detail(detail: Omit<ReasoningDetail, "format" | "index">): ReasoningDetail {
    this.#details += 1;
    return { ...detail, format: GEMINI, index: this.#details - 1 };
  }
}

/** The end of a candidate. */
export interface CandidateEnd {
  readonly finish: string;
  readonly refusal: string | null;
}

/** The findings in the parts so far. */
class Pieces {
  output = "";
  readonly calls: JsonObject[] = [];
  readonly details: ReasoningDetail[] = [];
  readonly #images: JsonObject[] = [];
  #text = "";
  #thought = "";

  addText(text: string, isThought: boolean): void {
    this.output += text;
    if (isThought) this.#thought += text;
    else this.#text += text;
  }

  /** Chat-completions has no place for images of its own; hosts that have them put them here. */
  addImage({ mimeType, data }: JsonObject): void {
    this.output += "[image]";
    this.#images.push({ type: "image_url", image_url: { url: `data:${toText(mimeType)};base64,${toText(data)}` } });
  }

  message(): JsonObject {
    const message: Record<string, unknown> = {};
    if (this.#text !== "") message.content = this.#text;
    if (this.#thought !== "") message.reasoning_content = this.#thought;
    if (this.details.length > 0) message.reasoning_details = this.details;
    if (this.calls.length > 0) message.tool_calls = this.calls;
    if (this.#images.length > 0) message.images = this.#images;
    return message;
  }
}

/** Without a response's own id the place is all there is; the client's end then makes an id of its own. */
function madeUpId(responseId: unknown, index: number): string {
  return typeof responseId === "string" && responseId !== ""
    ? `call_${hashText(`${responseId} ${index}`, 24)}`
    : `call_${index}`;
}

/** Reads why a prompt was blocked; null when it was not. A blocked prompt has no candidates. */
export function blockedPrompt({ promptFeedback: feedback }: JsonObject): CandidateEnd | null {
  const reason = isObject(feedback) ? feedback.blockReason : null;
  if (!isObject(feedback) || typeof reason !== "string" || reason === "BLOCKED_REASON_UNSPECIFIED") return null;
  return { finish: "content_filter", refusal: refusalText(reason, feedback.blockReasonMessage) };
}

function refusalText(reason: string, message: unknown): string {
  return typeof message === "string" && message !== "" ? message : `The provider blocked this: ${reason}.`;
}
