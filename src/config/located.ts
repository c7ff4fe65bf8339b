// Located values: a value together with where it was written, so that every check can name the place.

import type { Variable } from "./environment.ts";

interface Spot {
  /** The path in the configuration, such as `models[0].price`. */
  readonly path: string;
  /** Place that a problem with the value names: file, line, column and path, or the variable or flag. */
  readonly place: string;
}

interface Scalar extends Spot {
  readonly kind: "scalar";
  readonly value: string | number | boolean;
  /** Came as bare text (a variable, a flag, a reference in the file), so "8080" may be meant as a number. */
  readonly isBareText: boolean;
  /** Must not appear in messages. */
  readonly isHidden: boolean;
}

/** A value in a mapping, and where its key stands. */
export interface MappingEntry {
  readonly keyPlace: string;
  readonly node: Located;
}

interface Mapping extends Spot {
  readonly kind: "mapping";
  readonly entries: ReadonlyMap<string, MappingEntry>;
}

interface Sequence extends Spot {
  readonly kind: "sequence";
  readonly items: readonly Located[];
}

/** `empty` was written without a value. `broken` has been reported already and causes no further message. */
interface Hole extends Spot {
  readonly kind: "empty" | "broken";
}

/** A value of the file, of a variable or of a flag, all in one shape. */
export type Located = Scalar | Mapping | Sequence | Hole;

export function locatedVariable(variable: Variable, path: string): Scalar {
  const { text, place, isSecret } = variable;
  return { kind: "scalar", value: text, isBareText: true, isHidden: isSecret, path, place };
}

export function locatedFlag(flag: string, text: string, path: string): Scalar {
  return { kind: "scalar", value: text, isBareText: true, isHidden: false, path, place: `flag --${flag}` };
}

/** The node at a path such as `server.port`; null when nothing was written there. */
export function nodeAt(root: Located | null, path: string): Located | null {
  let node = root;
  for (const step of path.split(".")) {
    if (node?.kind !== "mapping") return null;
    node = node.entries.get(step)?.node ?? null;
  }
  return node === null || node.kind === "empty" ? null : node;
}
