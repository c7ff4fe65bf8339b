// The models list in Anthropic's shape, with its cursors.

import type { Catalog } from "../../catalog/catalog.ts";
import { retirementDay } from "../../catalog/retirement.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { JsonObject } from "../json/fields.ts";

/** The page sizes of the vendor's own API. */
const PAGE_DEFAULT = 20;
const PAGE_MAX = 1000;

/** One model. Fields the catalogue knows nothing of are null. */
export function writeAnthropicModel(model: Model, catalog: Catalog): JsonObject {
  const retires = retirementDay(catalog, model);
  return {
    type: "model",
    id: model.id,
    display_name: model.name,
    created_at: createdAt(model.priceAsOf),
    max_input_tokens: model.context,
    max_tokens: model.maxOutput,
    lifecycle: retires === null ? "active" : "deprecated",
    line: null,
    capabilities: null,
    // The catalogue knows when it learned of the end, not when the vendor announced it.
    deprecated_at: retires === null ? null : createdAt(model.priceAsOf),
    retires_at: retires === null ? null : createdAt(retires),
  };
}

/** One page of them, by the cursors of the query. */
export function writeAnthropicModels(
  models: readonly Model[],
  catalog: Catalog,
  query: Readonly<Record<string, string>>,
): JsonObject {
  const { after_id: afterId = null, before_id: beforeId = null } = query;
  const limit = readLimit(query.limit);
  const after = afterId === null ? 0 : models.findIndex((model) => model.id === afterId) + 1;
  const before = beforeId === null ? models.length : Math.max(0, indexOf(models, beforeId));
  const from = beforeId === null ? after : Math.max(after, before - limit);
  const page = models.slice(from, Math.min(before, from + limit));
  return {
    data: page.map((model) => writeAnthropicModel(model, catalog)),
    has_more: beforeId === null ? from + page.length < models.length : from > after,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function readLimit(text: string | undefined): number {
  const count = Number(text ?? PAGE_DEFAULT);
  const isPossible = Number.isInteger(count) && count >= 1 && count <= PAGE_MAX;
  if (!isPossible) throw new GatewayError("badRequest", `'limit' must be from 1 to ${PAGE_MAX}.`, { param: "limit" });
  return count;
}

function indexOf(models: readonly Model[], id: string): number {
  const found = models.findIndex((model) => model.id === id);
  return found < 0 ? models.length : found;
}

// The catalogue knows when a price was read, not when a model was made; the format wants a time.
function createdAt(day: string): string {
  const time = Date.parse(day);
  return new Date(Number.isNaN(time) ? 0 : time).toISOString().replace(".000", "");
}
