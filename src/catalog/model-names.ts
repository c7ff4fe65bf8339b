// Finds the model that a client names: by its id, or as other gateways write it, with its vendor or provider in front.

import type { Model } from "../core/model.ts";

/** Vendors under the names that other gateways have for them. */
const VENDORS: ReadonlyMap<string, string> = new Map([
  ["gemini", "google"],
  ["meta-llama", "meta"],
  ["mistralai", "mistral"],
  ["moonshotai", "moonshot"],
  ["x-ai", "xai"],
  ["z-ai", "zai"],
]);

export function findModel(models: ReadonlyMap<string, Model>, id: string): Model | undefined {
  const known = models.get(id);
  const slash = id.indexOf("/");
  if (known !== undefined || slash < 0) return known;
  const [prefix, name] = [id.slice(0, slash), id.slice(slash + 1)];
  // Some write the version of a model with dots, and some with dashes.
  const model = models.get(name) ?? models.get(name.replaceAll(".", "-"));
  return model !== undefined && isFrom(model, prefix) ? model : undefined;
}

function isFrom({ vendor, hosts }: Model, prefix: string): boolean {
  return vendor === (VENDORS.get(prefix) ?? prefix) || hosts.some(({ provider }) => provider === prefix);
}
