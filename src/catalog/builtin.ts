// The catalogue that ships with the gateway, read from the JSON files beside this one.

import { readFileSync } from "node:fs";
import type { DialectChanges } from "./dialect.ts";
import type { ModelRow, ProviderRow, TierRows } from "./rows.ts";

export interface Builtin {
  readonly models: readonly ModelRow[];
  readonly providers: readonly ProviderRow[];
  readonly dialects: Readonly<Record<string, DialectChanges>>;
  readonly tiers: TierRows;
}

/** Files rather than JSON imports, because Node 20 prints a warning for each of those. */
export function readBuiltin(): Builtin {
  const { providers, dialects } = readJson("providers.json") as Pick<Builtin, "providers" | "dialects">;
  return {
    models: readJson("models.json") as Builtin["models"],
    providers,
    dialects,
    tiers: readJson("tiers.json") as TierRows,
  };
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}
