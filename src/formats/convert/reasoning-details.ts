// Signed or encrypted reasoning in the internal shape: `reasoning_details` of an assistant message or delta. An entry is
// one block or item of a provider, and complete in the delta that brings it. Clients carry entries back; a provider's
// end uses those of its own format and ignores all others. The readable text is in `reasoning_content` as well.

import { isObject, type JsonObject } from "../json/fields.ts";

const DETAIL_FORMATS = ["anthropic", "openai-responses", "gemini", "converse"] as const;
type DetailFormat = (typeof DETAIL_FORMATS)[number];

export interface ReasoningDetail {
  readonly type: "reasoning.text" | "reasoning.summary" | "reasoning.encrypted";
  /** The format that signed or encrypted the entry. */
  readonly format: DetailFormat;
  readonly text?: string;
  readonly summary?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  /** Counts the entries of one stream. OpenAI's Python client fails to merge deltas without it. */
  readonly index?: number;
}

const TYPES: ReadonlySet<unknown> = new Set(["reasoning.text", "reasoning.summary", "reasoning.encrypted"]);
const FORMATS: ReadonlySet<unknown> = new Set(DETAIL_FORMATS);
const TEXTS = ["text", "summary", "signature", "data", "id"] as const;

/** Reads the entries of a message or delta. Hosts have entries of their own under the same name, which are skipped. */
export function detailsIn(message: object): readonly ReasoningDetail[] {
  const { reasoning_details: entries } = message as JsonObject;
  return Array.isArray(entries) ? entries.filter(isDetail) : [];
}

export function detailsOf(format: DetailFormat, message: object): readonly ReasoningDetail[] {
  return detailsIn(message).filter((detail) => detail.format === format);
}

/** The message for a host of chat-completions, which has no use for them; the same one when there are none. */
export function withoutDetails<T extends object>(message: T): T {
  const { reasoning_details: entries } = message as JsonObject;
  if (!Array.isArray(entries)) return message;
  const others = entries.filter((entry) => !isDetail(entry));
  if (others.length === entries.length) return message;
  const { reasoning_details: _, ...rest } = message as JsonObject;
  return (others.length === 0 ? rest : { ...rest, reasoning_details: others }) as T;
}

function isDetail(entry: unknown): entry is ReasoningDetail {
  if (!isObject(entry) || !TYPES.has(entry.type) || !FORMATS.has(entry.format)) return false;
  return TEXTS.every((name) => entry[name] === undefined || typeof entry[name] === "string");
}

// Base64, because fields for signatures are bytes in some formats. The length of the opening makes its base64 constant.
const OPENING = '{"switchyard":[';
const SEALED = Buffer.from(OPENING).toString("base64");

/** An entry of another format as the text of a signature, so that the client brings it back. */
export function sealDetail(detail: ReasoningDetail): string {
  return Buffer.from(`${OPENING}${JSON.stringify(detail)}]}`).toString("base64");
}

/** Reasoning that nobody signed, for clients that bring back nothing but what is sealed. */
export function sealText(text: string): string {
  return Buffer.from(`${OPENING}${JSON.stringify(text)}]}`).toString("base64");
}

/** Opens a sealed entry; null for a provider's own signature. */
export function openDetail(signature: unknown): ReasoningDetail | null {
  const entry = open(signature);
  return isDetail(entry) ? entry : null;
}

/** Opens a sealed text; null for anything else. */
export function openText(signature: unknown): string | null {
  const entry = open(signature);
  return typeof entry === "string" ? entry : null;
}

function open(signature: unknown): unknown {
  if (!isSealed(signature)) return null;
  try {
    const { switchyard } = JSON.parse(Buffer.from(signature, "base64").toString("utf8")) as JsonObject;
    return Array.isArray(switchyard) ? switchyard[0] : null;
  } catch {
    return null;
  }
}

/** Also when it is damaged: no provider signs like this. */
export function isSealed(signature: unknown): signature is string {
  return typeof signature === "string" && signature.startsWith(SEALED);
}
