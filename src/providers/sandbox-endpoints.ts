// The sandbox's answers for endpoints other than chat: the same for the same input, and sensible enough to try an index
// with. Texts that share words get vectors that are close.

import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../formats/json/fields.ts";
import { estimateTokens } from "../routing/cost.ts";

/** Dimensions that most embedding models return unless told otherwise. */
const DIMENSIONS = 1536;
/** More than any model has; keeps a simulated answer small. */
const DIMENSIONS_MAX = 8192;
const FLOAT_BYTES = 4;

/** By the path that is called; undefined for chat. */
export const SANDBOX_ENDPOINTS: ReadonlyMap<string, (body: JsonObject) => JsonObject> = new Map([
  ["/embeddings", embed],
  ["/rerank", rank],
  ["/moderations", moderate],
]);

function embed({ model, input, dimensions, encoding_format: encoding }: JsonObject): JsonObject {
  const inputs = listOf(input);
  const size = Math.min(typeof dimensions === "number" ? dimensions : DIMENSIONS, DIMENSIONS_MAX);
  const data = inputs.map((text, index) => {
    const vector = vectorOf(textOf(text), size);
    const embedding = encoding === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    return { object: "embedding", index, embedding };
  });
  const tokens = inputs.reduce((sum: number, text) => sum + tokensOf(text), 0);
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** By how close each document is to the query, best first. */
function rank({ model, query, documents, top_n: top, return_documents: isReturned }: JsonObject): JsonObject {
  const asked = vectorOf(String(query), DIMENSIONS);
  const texts = (documents as readonly unknown[]).map(textOf);
  const results = texts
    .map((text, index) => ({
      index,
      relevance_score: Math.max(0, product(asked, vectorOf(text, DIMENSIONS))),
      ...(isReturned === true ? { document: { text } } : {}),
    }))
    .sort((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, typeof top === "number" ? top : texts.length);
  const tokens = texts.reduce((sum, text) => sum + tokensOf(text) + tokensOf(String(query)), 0);
  return { model, results, usage: { total_tokens: tokens } };
}

/** Nothing is judged here, so nothing is flagged. */
function moderate({ model, input }: JsonObject): JsonObject {
  const results = listOf(input).map(() => ({ flagged: false, categories: {}, category_scores: {} }));
  return { id: "modr-simulated", model, results };
}

/** Token ids are one input, and so are the parts of a message. */
function listOf(input: unknown): readonly unknown[] {
  if (!Array.isArray(input)) return [input];
  const [first] = input;
  return typeof first === "number" || isObject(first) ? [input] : input;
}

function textOf(input: unknown): string {
  if (typeof input === "string") return input;
  if (Array.isArray(input)) return input.join(" ");
  return isObject(input) && typeof input.text === "string" ? input.text : JSON.stringify(input);
}

function tokensOf(input: unknown): number {
  return Array.isArray(input) ? input.length : Math.max(1, estimateTokens(textOf(input)));
}

/** Each word has a direction of its own; their sum is brought to length 1. */
function vectorOf(text: string, size: number): Float32Array {
  const vector = new Float32Array(size);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words) {
    const hash = createHash("sha256").update(word).digest();
    for (let at = 0; at < hash.length; at += FLOAT_BYTES) {
      const place = hash.readUInt32LE(at);
      vector[place % size] = (vector[place % size] ?? 0) + (place & 0x80000000 ? 1 : -1);
    }
  }
  const length = Math.sqrt(product(vector, vector));
  // Opposite directions may cancel each other out.
  if (length === 0) vector[0] = 1;
  else for (let at = 0; at < size; at += 1) vector[at] = (vector[at] as number) / length;
  return vector;
}

function product(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (const [place, value] of one.entries()) sum += value * (other[place] as number);
  return sum;
}
