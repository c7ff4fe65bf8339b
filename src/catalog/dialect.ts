// Dialects: the plain one, and how a provider's and a model's differences are laid over it.

import type { Dialect } from "../core/model.ts";

export type DialectChanges = Partial<Dialect>;

/** The dialect of an unknown OpenAI-compatible server, which gets the request as the client wrote it. */
export const PLAIN_DIALECT: Dialect = {
  outputCap: "as-sent",
  refuses: [],
  renames: {},
  toolIds: "any",
  hasDeveloperRole: true,
  takesMessageNames: true,
  takesStreamOptions: true,
};

/** Later changes win; refused fields and renames add up, since a model is bound by its host's rules too. */
export function mergeDialects(...changes: readonly (DialectChanges | undefined)[]): Dialect {
  let merged = PLAIN_DIALECT;
  for (const change of changes) {
    if (change === undefined) continue;
    merged = {
      ...merged,
      ...change,
      refuses: [...new Set([...merged.refuses, ...(change.refuses ?? [])])],
      renames: { ...merged.renames, ...change.renames },
    };
  }
  return merged;
}
