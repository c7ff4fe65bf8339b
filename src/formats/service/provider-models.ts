// Reads a provider's own list of models. Vendors agree on `id` and on little else, so one reader serves all.

import { isObject, type JsonObject } from "../json/fields.ts";
import type { ListedModel, ListedPrice } from "../listing.ts";

/** Reads a list of models; null when the bytes are none. Some providers answer with the bare array. */
export function readListedModels(bytes: Buffer): readonly ListedModel[] | null {
  let answer: unknown;
  try {
    answer = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  const rows = isObject(answer) ? (answer.data ?? answer.models) : answer;
  if (!Array.isArray(rows)) return null;
  return rows.filter(isObject).flatMap(readRow);
}

/** Google's list has names instead of ids. */
function readRow(row: JsonObject): readonly ListedModel[] {
  const { name, id = name, aliases, pricing } = row;
  if (typeof id !== "string") return [];
  const others = Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === "string") : [];
  const context = CONTEXT_FIELDS.map((field) => row[field]).find((value) => Number.isSafeInteger(value));
  return [
    {
      ...{ id: withoutPrefix(id), aliases: others, price: isObject(pricing) ? readPrice(pricing) : null },
      ...(context === undefined ? {} : { context: Number(context) }),
      ...createdOf(row),
    },
  ];
}

/** Vendors write seconds, or a date. Some write the moment of the answer or zero, which is never asked for. */
function createdOf({ created, created_at: at = created }: JsonObject): Pick<ListedModel, "created"> {
  const ms = typeof at === "number" ? at * 1000 : typeof at === "string" ? Date.parse(at) : Number.NaN;
  return ms > 0 && ms < LATEST_MS ? { created: new Date(ms).toISOString().slice(0, 10) } : {};
}

const LATEST_MS = Date.UTC(2100, 0);

/** Vendors' names of the context window: OpenRouter and Together, vLLM, Groq, Google. */
const CONTEXT_FIELDS = ["context_length", "max_model_len", "context_window", "inputTokenLimit"];

/** Google writes `models/` before each id and takes it without. */
function withoutPrefix(id: string): string {
  return id.replace(/^models\//, "");
}

const MICRO_PER_MILLION_TOKENS = 1e12;
const MICRO = 1e6;

/** Reads a price: text in USD per token, or a number in USD per million. Less than nothing means that it varies. */
function readPrice({ prompt, completion, input, output }: JsonObject): ListedPrice | null {
  if (typeof prompt === "string" && typeof completion === "string") {
    return priceOf(Number(prompt) * MICRO_PER_MILLION_TOKENS, Number(completion) * MICRO_PER_MILLION_TOKENS);
  }
  if (typeof input !== "number" || typeof output !== "number") return null;
  // Lists of this form write nothing as zero.
  return input === 0 && output === 0 ? null : priceOf(input * MICRO, output * MICRO);
}

function priceOf(input: number, output: number): ListedPrice | null {
  // A price that would round to zero is not known, since requests must not become free.
  const isPrice = [input, output].every((value) => Number.isFinite(value) && (value === 0 || value >= 0.5));
  return isPrice ? { input: Math.round(input), output: Math.round(output) } : null;
}
