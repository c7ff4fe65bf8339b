// A configuration as an import makes it: what it says, what was said in comments, and what could not be taken over.

import type { Json, JsonMap } from "../../core/overlay.ts";

export interface Unmapped {
  /** Place in the source. */
  readonly what: string;
  readonly why: string;
}

export interface Imported {
  /** Keys of switchyard.yaml. */
  readonly config: JsonMap;
  /** Sentences about what became what. */
  readonly mapped: readonly string[];
  readonly unmapped: readonly Unmapped[];
  /** Worth a look before traffic moves. */
  readonly notes: readonly string[];
  /** Comments of the source: those of a model by its id, and the others. */
  readonly comments: { readonly head: readonly string[]; readonly models: ReadonlyMap<string, readonly string[]> };
}

/** A value at a path such as `server.adminToken`. */
export function setAt(config: Record<string, Json>, path: string, value: Json): void {
  const [section = "", key] = path.split(".");
  if (key === undefined) config[section] = value;
  else config[section] = { ...((config[section] as JsonMap | undefined) ?? {}), [key]: value };
}

/** Names of the variables that a configuration refers to, in order. */
export function variablesOf(config: Json): readonly string[] {
  const names = JSON.stringify(config).matchAll(/\$\{([A-Za-z_]\w*)\}/g);
  return [...new Set([...names].map(([, name = ""]) => name))];
}

/** A reference to a variable, as switchyard.yaml has it. */
export function variable(name: string): string {
  return `\${${name}}`;
}
