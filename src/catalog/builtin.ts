// The catalogue that ships with the gateway, read from the JSON files beside this one.

import { readFileSync } from "node:fs";
import type { DialectChanges } from "./dialect.ts";
import type { ModelRow, PolicyRow, ProviderRow, SearchRow, TierRows } from "./rows.ts";

export interface Builtin {
  readonly models: readonly ModelRow[];
  readonly providers: readonly ProviderRow[];
  readonly dialects: Readonly<Record<string, DialectChanges>>;
  /** By provider. */
  readonly policies: Readonly<Record<string, PolicyRow>>;
  /** By provider. */
  readonly searchFees: Readonly<Record<string, SearchRow>>;
  readonly tiers: TierRows;
  /** Ids of models by their other names. */
  readonly aliases: Readonly<Record<string, string>>;
}

let builtin: Builtin | undefined;

/** Read once: nothing changes the files of a running program. */
export function readBuiltin(): Builtin {
  builtin ??= readFiles();
  return builtin;
}

/** Files rather than JSON imports, because Node 20 prints a warning for each of those. */
function readFiles(): Builtin {
  type Providers = Pick<Builtin, "providers" | "dialects" | "policies" | "searchFees">;
  const { providers, dialects, policies, searchFees } = readJson("providers.json") as Providers;
  return {
    models: readJson("models.json") as Builtin["models"],
    providers,
    dialects,
    policies,
    searchFees,
    tiers: readJson("tiers.json") as TierRows,
    aliases: readJson("aliases.json") as Builtin["aliases"],
  };
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}
