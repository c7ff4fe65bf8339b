// Writes an answer of an endpoint other than chat for a client: the provider's bytes with the model's own id. Nothing was
// routed, so there is no `service` object.

import { promptTokens } from "../../core/chat.ts";
import type { ResponseAdditions, ResponseContext, WholeResponse } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { spliceFields } from "../json/splice.ts";
import { rawValue } from "../scan/scan.ts";

/** The model is named only where the provider names one. */
export function passNamed({ native: { source } }: WholeResponse, { modelId }: ResponseContext): Buffer {
  const changes = new Map<string, string>();
  if (rawValue(source, "model") !== null) changes.set("model", JSON.stringify(modelId));
  return spliceFields(source, changes);
}

/** With counts where the provider left them out, and in the encoding that the client asked for. */
export function passEmbeddings(
  { native: { source } }: WholeResponse,
  { modelId, request }: ResponseContext,
  { usage }: ResponseAdditions,
): Buffer {
  const changes = new Map([["model", JSON.stringify(modelId)]]);
  if (usage !== null) {
    const tokens = promptTokens(usage.buckets);
    changes.set("usage", JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens }));
  }
  const data = request?.body.encoding_format === "base64" ? encodedData(source.bytes) : null;
  if (data !== null) changes.set("data", JSON.stringify(data));
  return spliceFields(source, changes);
}

/**
 * Official clients ask for base64 unless told otherwise and decode whatever comes, so numbers from a host that knows no
 * base64 would reach their users as noise. Null where the vectors are encoded already.
 */
function encodedData(bytes: Buffer): readonly unknown[] | null {
  // Numbers stand in a list, and an encoded vector in quotes: no need to parse the latter.
  if (!/"embedding"\s*:\s*\[/.test(bytes.toString("latin1", 0, HEAD_BYTES))) return null;
  const data = parseObject(bytes)?.data;
  return Array.isArray(data) ? data.map((each: unknown) => (isObject(each) ? encoded(each) : each)) : null;
}

/** The first vector begins within these. */
const HEAD_BYTES = 4096;
const FLOAT_BYTES = 4;

function encoded(item: JsonObject): JsonObject {
  const { embedding } = item;
  if (!Array.isArray(embedding)) return item;
  const buffer = Buffer.alloc(embedding.length * FLOAT_BYTES);
  for (const [place, number] of embedding.entries()) buffer.writeFloatLE(Number(number), place * FLOAT_BYTES);
  return { ...item, embedding: buffer.toString("base64") };
}
