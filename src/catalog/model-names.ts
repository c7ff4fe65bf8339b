// Finds the model that a client names: by its id, by an alias, or as other gateways write it, with its vendor or provider
// in front.

import type { Model } from "../core/model.ts";
import { hostRows, type ModelRow } from "./rows.ts";

/** Vendors under the names that other gateways have for them. */
const VENDORS: ReadonlyMap<string, string> = new Map([
  ["gemini", "google"],
  ["meta-llama", "meta"],
  ["mistralai", "mistral"],
  ["moonshotai", "moonshot"],
  ["x-ai", "xai"],
  ["z-ai", "zai"],
]);

/** Models by id, and the ids of models by their other names. */
export interface NamedModels {
  readonly models: ReadonlyMap<string, Model>;
  readonly aliases: ReadonlyMap<string, string>;
}

export function findModel({ models, aliases }: NamedModels, name: string): Model | undefined {
  const called = (id: string): Model | undefined => models.get(id) ?? models.get(aliases.get(id) ?? "");
  const known = called(name);
  const slash = name.indexOf("/");
  if (known !== undefined || slash < 0) return known;
  const [prefix, own] = [name.slice(0, slash), name.slice(slash + 1)];
  // Some write the version of a model with dots, and some with dashes.
  const model = called(own) ?? called(own.replaceAll(".", "-"));
  return model !== undefined && isFrom(model, prefix) ? model : undefined;
}

/** The ids of models in a list of names. Unknown names stay as they are. */
export function idsNamed(catalog: NamedModels, names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => findModel(catalog, name)?.id ?? name));
}

function isFrom({ vendor, hosts }: Model, prefix: string): boolean {
  return vendor === (VENDORS.get(prefix) ?? prefix) || hosts.some(({ provider }) => provider === prefix);
}

/**
 * Other names of these models: aliases that are written, and names such as `vendor/model` under which one of their hosts
 * has them. A name of two models names neither, and the id of a model names that model alone.
 */
export function aliasesOf(
  written: Readonly<Record<string, string>>,
  rows: ReadonlyMap<string, ModelRow>,
): ReadonlyMap<string, string> {
  const named = new Map<string, string | null>();
  for (const row of rows.values()) {
    const { id } = row;
    for (const { upstream = id } of hostRows(row)) {
      const isOther = (named.get(upstream) ?? id) !== id;
      if (upstream.includes("/")) named.set(upstream, isOther ? null : id);
    }
  }
  for (const [alias, id] of Object.entries(written)) named.set(alias, rows.has(id) ? id : null);
  const unique = [...named].filter((entry): entry is [string, string] => entry[1] !== null && !rows.has(entry[0]));
  return new Map(unique);
}
