// A request for images or sound in the shape that every request has: its texts stand for the prompt.

import type { ChatRequest } from "../../core/chat.ts";
import { NO_CONTROLS } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { ClientRequest } from "../format.ts";
import { type JsonObject, readBoolean, readInteger, readString } from "../json/fields.ts";
import type { MediaUse } from "../media-use.ts";
import type { JsonSource } from "../scan/scan.ts";
import { readRequirements } from "../service/controls.ts";
import type { Upload } from "./upload.ts";

interface AskedMedia extends Pick<ChatRequest, "isStream" | "choiceCount" | "maxOutputTokens"> {
  readonly source: JsonSource;
  readonly body: JsonObject;
  readonly texts: readonly string[];
  readonly media: MediaUse;
  /** Tokens of the files; absent for none. */
  readonly fileTokens?: { readonly likely: number; readonly most: number };
  readonly upload?: Upload | undefined;
}

export function asked(
  format: string,
  { source, body, texts, media, fileTokens = NO_TOKENS, upload, ...wanted }: AskedMedia,
): ClientRequest {
  const chat: ChatRequest = {
    messages: texts.filter((text) => text !== "").map((content) => ({ role: "user", content })),
    tools: [],
    toolChoice: null,
    wantsUsage: false,
    ...wanted,
  };
  const required = readRequirements(body);
  const controls = { ...NO_CONTROLS, ...required, profile: "direct", model: readString(body, "model") } as const;
  const bytes = source.bytes.length + fileTokens.most * BYTES_PER_TOKEN;
  const request = { format, source, body, chat, controls, media, batch: { bytes, tokenIds: fileTokens.likely } };
  return upload === undefined ? request : { ...request, upload };
}

const NO_TOKENS = { likely: 0, most: 0 };
/** Reservations count text as one token for so many bytes. */
const BYTES_PER_TOKEN = 2;

/** True or false, which a form can say only as a text. */
export function readFlag(body: JsonObject, name: string): boolean {
  const value = body[name];
  return value === "true" || (value !== "false" && readBoolean(body, name));
}

/** A whole number, which a form can say only as a text. */
export function readCount(body: JsonObject, name: string, range: { min: number; max: number }): number | null {
  const value = body[name];
  const isText = typeof value === "string" && /^\d{1,9}$/.test(value);
  return readInteger(isText ? { [name]: Number(value) } : body, name, range);
}

export function requiredText(body: JsonObject, name: string): string {
  const text = body[name];
  if (typeof text === "string" && text !== "") return text;
  const message = `'${name}' must be text, and not empty.`;
  throw new GatewayError("unprocessable", message, { code: "invalid_input", param: name, logged: message });
}
