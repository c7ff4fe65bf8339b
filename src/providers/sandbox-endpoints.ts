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
  ["/images/generations", draw],
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

/** One grey dot for each image. */
function draw({ prompt, n }: JsonObject): JsonObject {
  const count = typeof n === "number" ? n : 1;
  const input = tokensOf(prompt);
  const usage = { input_tokens: input, output_tokens: count * TOKENS_PER_IMAGE };
  const data = Array.from({ length: count }, () => ({ b64_json: DOT }));
  return { created: 0, data, usage: { ...usage, total_tokens: input + usage.output_tokens } };
}

/** Answers a form with files, whatever is in it; null for paths that take none. */
export function answerForm(path: string): JsonObject | null {
  if (path === "/images/edits") return draw({ prompt: "" });
  if (!path.startsWith("/audio/")) return null;
  const text = "This recording was not heard: the sandbox is simulated.";
  return { text, duration: 1, segments: [{ id: 0, start: 0, end: 1, text }], usage: { type: "duration", seconds: 1 } };
}

const TOKENS_PER_IMAGE = 272;
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/** The path for speech, which is answered with events or with sound. */
export const SANDBOX_SPEECH = "/audio/speech";

/** A moment of silence as a WAV file, whatever form was asked for. All of its bytes are ASCII. */
export function speak({ input, stream_format: form }: JsonObject): { readonly type: string; readonly body: string } {
  const sound = `RIFF${words(36 + SILENCE_BYTES)}WAVEfmt ${words(16)}\x01\0\x01\0${words(8000)}${words(8000)}\x01\0\x08\0data`;
  const wav = `${sound}${words(SILENCE_BYTES)}${"\0".repeat(SILENCE_BYTES)}`;
  if (form !== "sse") return { type: "audio/wav", body: wav };
  const tokens = { input_tokens: tokensOf(input), output_tokens: tokensOf(input) };
  const usage = { ...tokens, total_tokens: 2 * tokens.input_tokens };
  const events = [
    { type: "speech.audio.delta", audio: Buffer.from(wav).toString("base64") },
    { type: "speech.audio.done", usage },
  ];
  return { type: "text/event-stream", body: events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("") };
}

const SILENCE_BYTES = 80;

/** A number as four bytes, the least first. */
function words(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString("latin1");
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
