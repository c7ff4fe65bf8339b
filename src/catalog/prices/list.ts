// Reads a price list in the forms that people share: LiteLLM's table of models, the list of OpenRouter's models endpoint,
// and the data of Pydantic's genai-prices. A row that cannot be true is refused with its reason, and the others are read.

import type { Capability } from "../../core/model.ts";
import { readPerToken } from "./decimal.ts";
import { createEntryCutter, type ListEntry, NotJson } from "./entries.ts";
import { readGenaiProvider } from "./genai.ts";
import { countOf, isMap, type ListedRow, type ReadRow, type RefusedRow } from "./listed.ts";
import { completeCard } from "./litellm.ts";

export interface PriceList {
  readonly format: "litellm" | "openrouter" | "genai-prices";
  readonly rows: readonly ListedRow[];
  readonly refused: readonly RefusedRow[];
}

export interface ReadTerms {
  /** The day whose prices are read from lists that have dates. */
  readonly day: string;
  /** Rows of other vendors are dropped at once. All are kept where this is left out. */
  readonly isWanted?: (vendor: string) => boolean;
}

export interface ListReader {
  /** Reads the next part of the text. Throws NotJson. */
  push(text: string): void;
  /** Returns null where the text was no price list. Throws NotJson. */
  end(): PriceList | null;
}

/** Several times the largest list. */
const ROWS_MAX = 50_000;

/** Reads a list of any form. Null for anything else. */
export function readPriceList(text: string, terms: ReadTerms): PriceList | null {
  const reader = createListReader(terms);
  try {
    reader.push(text);
    return reader.end();
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}

/** Reads a list part by part. Only the rows that are wanted stay in memory. */
export function createListReader({ day, isWanted = () => true }: ReadTerms): ListReader {
  const cutter = createEntryCutter();
  const rows: ListedRow[] = [];
  const refused: RefusedRow[] = [];
  let format: PriceList["format"] | null = null;
  const keep = (read: ReadRow): void => {
    if (read === null || !isWanted(read.vendor) || rows.length + refused.length >= ROWS_MAX) return;
    if ("price" in read) rows.push(read);
    else refused.push(read);
  };
  return {
    push(text) {
      for (const entry of cutter.push(text)) {
        const found = formatOf(entry);
        const read = readEntry(found, entry, day);
        if (found === "openrouter" || read.some((row) => row !== null)) format ??= found;
        for (const row of read) keep(row);
      }
    },
    end() {
      cutter.end();
      return format === null ? null : { format, rows, refused };
    },
  };
}

function formatOf({ name, isInner }: ListEntry): PriceList["format"] {
  if (isInner) return "openrouter";
  return name === null ? "genai-prices" : "litellm";
}

function readEntry(format: PriceList["format"], { name, text }: ListEntry, day: string): readonly ReadRow[] {
  const value = parseExactly(text);
  if (format === "openrouter") return [readOpenRouter(value)];
  if (format === "genai-prices") return readGenaiProvider(value, day);
  return [name === null || name === "sample_spec" ? null : readLiteLlm(name, value)];
}

/** Numbers become text, so that no digit is lost. So do NaN and Infinity, which some writers put where JSON has nothing. */
function parseExactly(text: string): unknown {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:\d[\d.eE+-]*|NaN|Infinity)/g;
  try {
    return JSON.parse(text.replace(token, (match) => (match.startsWith('"') ? match : `"${match}"`)));
  } catch {
    throw new NotJson();
  }
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
  if (typeof price === "string") return { upstream: own, vendor, reason: price };
  const { deprecation_date: retires } = row;
  return { ...read, price, ...(typeof retires === "string" && DAY.test(retires) ? { retires } : {}) };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

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
