// A provider's own list of models on the wire: how it is asked for, and what is read of it. Vendors agree on `id` and on
// little else.

import type { ProviderKind } from "../../core/model.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";

export interface ListedModel {
  readonly id: string;
  readonly aliases: readonly string[];
  /** In micro-USD per million tokens; null where the list has no prices. */
  readonly price: ListedPrice | null;
}

export interface ListedPrice {
  readonly input: number;
  readonly output: number;
}

export interface ListRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One page holds them all: no vendor has a thousand. */
const PAGE = 1_000;

export function listRequest(kind: ProviderKind, { hasQuery }: { readonly hasQuery: boolean }): ListRequest {
  if (kind !== "anthropic") return { path: "/models", headers: {} };
  const page = hasQuery ? "" : `?limit=${PAGE}`;
  return { path: `/v1/models${page}`, headers: { "anthropic-version": "2023-06-01" } };
}

/** Null when it is no list of models. Some answer with the bare array. */
export function readListedModels(bytes: Buffer): readonly ListedModel[] | null {
  let answer: unknown;
  try {
    answer = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  const rows = isObject(answer) ? answer.data : answer;
  if (!Array.isArray(rows)) return null;
  return rows.filter(isObject).flatMap(readRow);
}

function readRow({ id, aliases, pricing }: JsonObject): readonly ListedModel[] {
  if (typeof id !== "string") return [];
  const others = Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === "string") : [];
  return [{ id: withoutPrefix(id), aliases: others, price: isObject(pricing) ? readPrice(pricing) : null }];
}

/** Google writes `models/` before each id and takes it without. */
function withoutPrefix(id: string): string {
  return id.replace(/^models\//, "");
}

const MICRO_PER_MILLION_TOKENS = 1e12;
const MICRO = 1e6;

/** As text in USD per token, or as numbers in USD per million; less than nothing means that it varies. */
function readPrice({ prompt, completion, input, output }: JsonObject): ListedPrice | null {
  if (typeof prompt === "string" && typeof completion === "string") {
    return priceOf(Number(prompt) * MICRO_PER_MILLION_TOKENS, Number(completion) * MICRO_PER_MILLION_TOKENS);
  }
  if (typeof input !== "number" || typeof output !== "number") return null;
  // Lists of this form write nothing as zero.
  return input === 0 && output === 0 ? null : priceOf(input * MICRO, output * MICRO);
}

function priceOf(input: number, output: number): ListedPrice | null {
  const isPrice = [input, output].every((value) => Number.isFinite(value) && value >= 0);
  return isPrice ? { input: Math.round(input), output: Math.round(output) } : null;
}
