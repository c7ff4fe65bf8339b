// Reads what the gateway needs of a request to an endpoint other than chat: the model, and how much there is to read.
// Everything else passes as it came.

import type { ChatRequest } from "../../core/chat.ts";
import { NO_CONTROLS } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { ClientRequest } from "../format.ts";
import { isObject, isTexts, type JsonObject, readChoice, readInteger, readString, toText } from "../json/fields.ts";
import type { InputBatch } from "../media-use.ts";
import type { JsonSource } from "../scan/scan.ts";
import { readRequirements } from "../service/controls.ts";

export const ENCODINGS = ["float", "base64"] as const;
/** Far above any model. */
export const DIMENSIONS_MAX = 1_000_000;

/** Text, several texts, token ids, or several lists of them. */
export function readEmbeddingsRequest(source: JsonSource, body: JsonObject): ClientRequest {
  readChoice(body, "encoding_format", ENCODINGS);
  readInteger(body, "dimensions", { min: 1, max: DIMENSIONS_MAX });
  readString(body, "user");
  const { input } = body;
  const texts = typeof input === "string" ? [input] : input;
  if (!Array.isArray(texts) || texts.length === 0) throw wrongInput("input", INPUT);
  const bytes = source.bytes.length;
  if (isTexts(texts)) return named("embeddings", { source, body, texts, batch: { bytes, tokenIds: 0 } });
  const lists = texts.every(isTokenId) ? [texts] : texts;
  if (!lists.every(isTokenList)) throw wrongInput("input", INPUT);
  const tokenIds = lists.reduce((sum, list) => sum + list.length, 0);
  return named("embeddings", { source, body, texts: [], batch: { bytes, tokenIds } });
}

const INPUT = "text, an array of texts, token ids, or an array of lists of token ids, and not empty";

/** In the form of Cohere and Jina. Hosts read the query once for each document. */
export function readRerankRequest(source: JsonSource, body: JsonObject): ClientRequest {
  const { query, documents } = body;
  if (typeof query !== "string" || query === "") throw wrongInput("query", "text, and not empty");
  if (!Array.isArray(documents) || documents.length === 0 || !documents.every(isDocument)) {
    throw wrongInput("documents", "an array of texts or objects, and not empty");
  }
  readInteger(body, "top_n", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const bytes = source.bytes.length + Buffer.byteLength(query) * documents.length;
  const texts = documents.flatMap((document) => [
    query,
    typeof document === "string" ? document : JSON.stringify(document),
  ]);
  return named("rerank", { source, body, texts, batch: { bytes, tokenIds: 0 } });
}

/** Text, several texts, or parts with text and images. */
export function readModerationRequest(source: JsonSource, body: JsonObject): ClientRequest {
  const { input } = body;
  const parts = typeof input === "string" ? [input] : input;
  if (!Array.isArray(parts) || parts.length === 0 || !(isTexts(parts) || parts.every(isPart))) {
    throw wrongInput("input", "text, an array of texts or an array of parts, and not empty");
  }
  const texts = parts.map((part) => (typeof part === "string" ? part : toText(part.text ?? "")));
  return named("moderations", { source, body, texts, batch: { bytes: source.bytes.length, tokenIds: 0 } });
}

interface ReadInput {
  readonly source: JsonSource;
  readonly body: JsonObject;
  readonly texts: readonly string[];
  readonly batch: InputBatch;
}

/** The texts stand for the prompt, for an estimate where a provider counts nothing. There is no output to pay for. */
function named(format: string, { source, body, texts, batch }: ReadInput): ClientRequest {
  const chat: ChatRequest = {
    messages: texts.map((content) => ({ role: "user", content })),
    tools: [],
    toolChoice: null,
    isStream: false,
    wantsUsage: false,
    maxOutputTokens: 0,
    choiceCount: 1,
  };
  const required = readRequirements(body);
  const controls = { ...NO_CONTROLS, ...required, profile: "direct", model: readString(body, "model") } as const;
  return { format, source, body, chat, controls, batch };
}

function isTokenId(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isTokenList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTokenId);
}

function isDocument(value: unknown): value is string | JsonObject {
  return typeof value === "string" || isObject(value);
}

function isPart(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.type === "string";
}

function wrongInput(param: string, what: string): GatewayError {
  return new GatewayError("unprocessable", `'${param}' must be ${what}.`, { code: "invalid_input", param });
}
