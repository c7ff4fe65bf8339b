// The models list in Google's shape, with its page tokens.

import type { Catalog } from "../../catalog/catalog.ts";
import type { Model } from "../../core/model.ts";
import { invalid, type JsonObject } from "../json/fields.ts";

/** The page sizes of the vendor's own API. A larger page than the largest is cut to it. */
const PAGE_DEFAULT = 50;
const PAGE_MAX = 1000;

export function writeGeminiModel(model: Model): JsonObject {
  return {
    name: `models/${model.id}`,
    baseModelId: model.id,
    version: model.priceAsOf,
    displayName: model.name,
    description: `${model.name} by ${model.vendor}`,
    inputTokenLimit: model.context,
    outputTokenLimit: model.maxOutput,
    supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
    thinking: model.capabilities.has("reasoning"),
  };
}

/** One page. The token of the next one is the id of the last model on this one. */
export function writeGeminiModels(
  models: readonly Model[],
  _catalog: Catalog,
  { pageSize, pageToken = "" }: Readonly<Record<string, string>>,
): JsonObject {
  const from = pageToken === "" ? 0 : models.findIndex(({ id }) => id === pageToken) + 1;
  if (pageToken !== "" && from === 0) throw invalid("pageToken", "'pageToken' is not one that this list has returned.");
  const page = models.slice(from, from + readSize(pageSize));
  const isLast = from + page.length >= models.length;
  return { models: page.map(writeGeminiModel), ...(isLast ? {} : { nextPageToken: page.at(-1)?.id }) };
}

function readSize(text: string | undefined): number {
  if (!/^\d+$/.test(text ?? "0")) throw invalid("pageSize", "'pageSize' must be a whole number, 0 or more.");
  const size = Number(text ?? 0);
  return size === 0 ? PAGE_DEFAULT : Math.min(size, PAGE_MAX);
}
