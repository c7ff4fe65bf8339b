// Reads a price list in either of the two forms that people share: LiteLLM's table of models, and the list of OpenRouter's
// models endpoint. A row that cannot be true is refused with its reason, and the others are read.

import type { Capability, Endpoint, FormatName } from "../../core/model.ts";
import type { RateCard } from "../../core/price.ts";
import { readPerToken } from "./decimal.ts";
import { completeCard } from "./litellm.ts";

export interface ListedRow {
  /** The provider's own name for the model. */
  readonly upstream: string;
  /** Provider of the price, as the list names providers. */
  readonly vendor: string;
  readonly price: RateCard;
  readonly context: number | null;
  readonly maxOutput: number | null;
  /** Capabilities of a chat model, or the one endpoint that another model serves. */
  readonly capabilities: readonly (Capability | Endpoint)[];
  /** Formats of the model, where its provider has it in one format alone. */
  readonly formats?: readonly FormatName[];
}

export interface RefusedRow {
  readonly upstream: string;
  readonly vendor: string;
  readonly reason: string;
}

export interface PriceList {
  readonly format: "litellm" | "openrouter";
  readonly rows: readonly ListedRow[];
  readonly refused: readonly RefusedRow[];
}

/** Several times the largest list. */
const ROWS_MAX = 50_000;

/** Reads a list of either form. Null for anything else. */
export function readPriceList(text: string): PriceList | null {
  const parsed = parseExactly(text);
  if (!isMap(parsed)) return null;
  if (Array.isArray(parsed.data)) return collected("openrouter", parsed.data.slice(0, ROWS_MAX).map(readOpenRouter));
  const entries = Object.entries(parsed).slice(0, ROWS_MAX);
  const rows = entries.filter(([name]) => name !== "sample_spec").map(([name, row]) => readLiteLlm(name, row));
  return rows.some((row) => row !== null) ? collected("litellm", rows) : null;
}

type ReadRow = ListedRow | RefusedRow | null;

function collected(format: PriceList["format"], rows: readonly ReadRow[]): PriceList {
  const told = rows.filter((row) => row !== null);
  return {
    format,
    rows: told.filter((row): row is ListedRow => "price" in row),
    refused: told.filter((row): row is RefusedRow => "reason" in row),
  };
}

/** Numbers become text, so that no digit is lost. So do NaN and Infinity, which some writers put where JSON has nothing. */
function parseExactly(text: string): unknown {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:\d[\d.eE+-]*|NaN|Infinity)/g;
  try {
    return JSON.parse(text.replace(token, (match) => (match.startsWith('"') ? match : `"${match}"`)));
  } catch {
    return null;
  }
}

type TextMap = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is TextMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Endpoints by the `mode` of LiteLLM's rows. The gateway has no endpoint for other modes, such as images. */
const MODES: Readonly<Record<string, Partial<Pick<ListedRow, "capabilities" | "formats">>>> = {
  chat: {},
  responses: { formats: ["openai-responses"] },
  embedding: { capabilities: ["embeddings"] },
  rerank: { capabilities: ["rerank"] },
  moderation: { capabilities: ["moderation"] },
};

/** Fields of LiteLLM's rows that are true where a model can do it. */
const LITELLM_FLAGS: readonly (readonly [field: string, capability: Capability])[] = [
  ["supports_function_calling", "tools"],
  ["supports_vision", "vision"],
  ["supports_response_schema", "json"],
  ["supports_reasoning", "reasoning"],
  ["supports_audio_input", "audio"],
  ["supports_pdf_input", "files"],
];

function readLiteLlm(name: string, row: unknown): ReadRow {
  if (!isMap(row) || typeof row.litellm_provider !== "string") return null;
  const { input_cost_per_token: input, output_cost_per_token: output, litellm_provider: vendor, mode = "chat" } = row;
  const served = MODES[String(mode)];
  if (served === undefined || (input === undefined && output === undefined)) return null;
  const own = name.startsWith(`${vendor}/`) ? name.slice(vendor.length + 1) : name;
  const capabilities = LITELLM_FLAGS.filter(([field]) => row[field] === true).map(([, capability]) => capability);
  const read = rowOf(
    { upstream: own, vendor },
    {
      input,
      // Models without output, such as those of embeddings.
      output: output ?? (served.capabilities === undefined ? undefined : "0"),
      cacheRead: row.cache_read_input_token_cost,
      cacheWrite: row.cache_creation_input_token_cost,
      context: row.max_input_tokens ?? row.max_tokens,
      maxOutput: row.max_output_tokens,
    },
    { capabilities, ...served },
  );
  if ("reason" in read) return read;
  const price = completeCard(row, read.price);
  return typeof price === "string" ? { upstream: own, vendor, reason: price } : { ...read, price };
}

function readOpenRouter(row: unknown): ReadRow {
  if (!isMap(row) || typeof row.id !== "string" || !isMap(row.pricing)) return null;
  const { prompt, completion, input_cache_read: cacheRead, input_cache_write: cacheWrite } = row.pricing;
  const top = isMap(row.top_provider) ? row.top_provider.max_completion_tokens : undefined;
  const { input_modalities: modalities } = isMap(row.architecture) ? row.architecture : {};
  const told = new Set([row.supported_parameters, modalities].flatMap((list) => (Array.isArray(list) ? list : [])));
  return rowOf(
    { upstream: row.id, vendor: "openrouter" },
    {
      input: prompt,
      output: completion,
      cacheRead,
      cacheWrite,
      context: row.context_length,
      maxOutput: top,
    },
    { capabilities: OPENROUTER_WORDS.filter(([word]) => told.has(word)).map(([, capability]) => capability) },
  );
}

/** Parameters and kinds of input in OpenRouter's rows, and what they stand for. */
const OPENROUTER_WORDS: readonly (readonly [word: string, capability: Capability])[] = [
  ["tools", "tools"],
  ["image", "vision"],
  ["response_format", "json"],
  ["reasoning", "reasoning"],
  ["audio", "audio"],
  ["file", "files"],
];

const PRICE_FIELDS = ["input", "output", "cacheRead", "cacheWrite"] as const;
type PriceField = (typeof PRICE_FIELDS)[number];
type WrittenRow = Readonly<Record<PriceField | "context" | "maxOutput", unknown>>;

/** A price for the cache may be missing, and so may limits. */
function rowOf(
  named: Pick<ListedRow, "upstream" | "vendor">,
  written: WrittenRow,
  served: Pick<ListedRow, "capabilities" | "formats">,
): ListedRow | RefusedRow {
  const micro: Partial<Record<PriceField, number>> = {};
  for (const field of PRICE_FIELDS) {
    const text = written[field] ?? null;
    if (text === null && (field === "cacheRead" || field === "cacheWrite")) continue;
    const read = typeof text === "string" ? readPerToken(text) : MISSING;
    if (!read.ok) return { ...named, reason: `the ${WORDS[field]} price ${read.reason}` };
    micro[field] = read.micro;
  }
  const { input = 0, output = 0, cacheRead = null, cacheWrite = null } = micro;
  const limits = { context: countOf(written.context), maxOutput: countOf(written.maxOutput) };
  return { ...named, price: { input, output, cacheRead, cacheWrite }, ...limits, ...served };
}

const MISSING = { ok: false, reason: "is missing" } as const;
const WORDS: Readonly<Record<PriceField, string>> = {
  input: "input",
  output: "output",
  cacheRead: "cache read",
  cacheWrite: "cache write",
};

function countOf(text: unknown): number | null {
  const value = typeof text === "string" && /^\d{1,9}(?:\.0+)?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}
