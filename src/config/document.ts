// The configuration file: parses switchyard.yaml into located values. `${NAME}` and `${NAME:-default}` in values are
// replaced from the environment.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { Environment } from "./environment.ts";
import type { Located, MappingEntry } from "./located.ts";
import type { Report } from "./report.ts";

interface DocumentInput {
  readonly text: string;
  /** The file's name as problems show it. */
  readonly name: string;
  readonly environment: Environment;
  readonly report: Report;
  /** Says that no provider will be called, so what only a call needs may be missing. */
  readonly callsNobody?: boolean | undefined;
}

/** The file while it is walked through. */
interface FileWalk extends DocumentInput {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly references: References;
}

/** Deeper than any real configuration; an alias to its own parent would otherwise never end. */
const DEPTH_MAX = 32;

/** The root of the file; null when it is empty or cannot be parsed, which is then reported. */
export function parseLocated(input: DocumentInput): Located | null {
  const lines = new LineCounter();
  const references = maskReferences(input.text);
  const document = parseDocument(references.masked, { lineCounter: lines, prettyErrors: false });
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0]);
    const message = describeYamlError(error.code, references.restore(error.message));
    input.report.problems.push({ place: `${input.name}:${line}:${col}`, message, suggestion: null });
  }
  if (document.errors.length > 0 || document.contents === null) return null;
  const walk: FileWalk = { ...input, document, lines, references };
  const root = locate(document.contents, { path: "", offset: 0, depth: 0 }, walk);
  if (root.kind === "mapping") return root;
  if (root.kind === "empty") return null;
  const message = "expected a mapping of settings at the top of the file";
  input.report.problems.push({ place: `${input.name}:1:1`, message, suggestion: null });
  return null;
}

/** The parser's own words, except where ours are plainer. */
function describeYamlError(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "the same key is written twice in one mapping";
  return `not valid YAML: ${message.replace(/\.$/, "")}`;
}

/** The position of the walk. An alias has no text of its own, so its parent's offset stays. */
interface Position {
  readonly path: string;
  readonly offset: number;
  readonly depth: number;
}

/** A YAML node as a located value, with references replaced. */
function locate(node: unknown, position: Position, walk: FileWalk): Located {
  const offset = (node as { range?: [number, number, number] | null } | null)?.range?.[0] ?? position.offset;
  const here: Position = { ...position, offset };
  const spot = { path: position.path, place: placeOf(here, walk) };
  if (position.depth > DEPTH_MAX) {
    walk.report.problems.push({ place: spot.place, message: "nested too deeply", suggestion: null });
    return { kind: "broken", ...spot };
  }
  if (isAlias(node)) return locate(node.resolve(walk.document), { ...here, depth: here.depth + 1 }, walk);
  if (isMap(node)) return { kind: "mapping", entries: locateEntries(node, here, walk), ...spot };
  if (isSeq(node)) {
    const items = node.items.map((item, index) =>
      locate(item, { path: `${here.path}[${index}]`, offset, depth: here.depth + 1 }, walk),
    );
    return { kind: "sequence", items, ...spot };
  }
  const value = isScalar(node) ? node.value : null;
  if (typeof value === "string") return locateText(value, spot, walk);
  if (typeof value === "number" || typeof value === "boolean") {
    return { kind: "scalar", value, isBareText: false, isHidden: false, ...spot };
  }
  return { kind: "empty", ...spot };
}

function locateEntries(map: YAMLMap, position: Position, walk: FileWalk): ReadonlyMap<string, MappingEntry> {
  const entries = new Map<string, MappingEntry>();
  for (const pair of map.items as Pair<unknown, unknown>[]) {
    const key = walk.references.restore(String(isScalar(pair.key) ? pair.key.value : pair.key));
    const range = (pair.key as { range?: [number, number, number] | null }).range;
    const path = position.path === "" ? key : `${position.path}.${key}`;
    const at: Position = { path, offset: range?.[0] ?? position.offset, depth: position.depth + 1 };
    entries.set(key, { keyPlace: placeOf(at, walk), node: locate(pair.value, at, walk) });
  }
  return entries;
}

/** Stands for what is not set: text and an address, so that it is valid wherever a provider's setting is either. */
const UNSET = "http://unset.invalid";

/** A reference that is not set is a problem; one that is set to nothing counts as not written. */
function locateText(value: string, spot: { path: string; place: string }, walk: FileWalk): Located {
  const replaced = walk.references.replace(value, (name) => walk.environment.read(name)?.text ?? null);
  const mayBeUnset = walk.callsNobody === true && spot.path.startsWith("providers.");
  if (mayBeUnset && replaced.unset.length > 0) {
    const value = `${UNSET}/${replaced.unset.join("/")}`;
    return { kind: "scalar", value, isBareText: true, isHidden: true, ...spot };
  }
  for (const name of replaced.unset) {
    const message = `the environment variable ${name} is not set. Set it, or write \${${name}:-} to leave it empty`;
    walk.report.problems.push({ place: spot.place, message, suggestion: null });
  }
  if (replaced.unset.length > 0) return { kind: "broken", ...spot };
  const isReference = replaced.count > 0;
  if (isReference && replaced.text === "") return { kind: "empty", ...spot };
  return { kind: "scalar", value: replaced.text, isBareText: isReference, isHidden: isReference, ...spot };
}

/** `switchyard.yaml:12:5 models[0].price`, as problems show it. */
function placeOf(position: Position, walk: FileWalk): string {
  const { line, col } = walk.lines.linePos(position.offset);
  const at = `${walk.name}:${line}:${col}`;
  return position.path === "" ? at : `${at} ${position.path}`;
}

// References. Braces are YAML's own signs inside `{ … }`. So each `${NAME}` is masked before parsing by private-use characters of
// the same length, which keeps line and column true, and is replaced afterwards.

/** `$${NAME}` is an escaped reference. */
const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?\}/g;
/** Private-use characters: one for each reference, then a filler up to the length of the reference. */
const FIRST_MASK = 0xe100;
const MASK_COUNT = 0x1700;
const FILLER = "\ue000";
const MASKED = /([\ue100-\uf7ff])\ue000*/g;

interface Reference {
  readonly source: string;
  readonly name: string;
  readonly fallback: string | null;
  /** `$${NAME}` stands for the text `${NAME}` itself. */
  readonly isEscaped: boolean;
}

interface Replaced {
  readonly text: string;
  readonly count: number;
  readonly unset: readonly string[];
}

interface References {
  readonly masked: string;
  /** The text as it was written, for keys and messages. */
  restore(text: string): string;
  /** The text with values in place of references, and the names that have none. */
  replace(text: string, lookUp: (name: string) => string | null): Replaced;
}

function maskReferences(text: string): References {
  const references: Reference[] = [];
  const masked = text.replace(REFERENCE, (source: string, dollar?: string, name = "", fallback?: string) => {
    if (references.length >= MASK_COUNT) return source;
    references.push({ source, name, fallback: fallback ?? null, isEscaped: dollar !== undefined });
    return String.fromCharCode(FIRST_MASK + references.length - 1) + FILLER.repeat(source.length - 1);
  });
  const referenceOf = (mask: string): Reference | undefined => references[mask.charCodeAt(0) - FIRST_MASK];
  return {
    masked,
    restore: (value) => value.replace(MASKED, (whole, mask: string) => referenceOf(mask)?.source ?? whole),
    replace: (value, lookUp) => replaceAll(value, referenceOf, lookUp),
  };
}

function replaceAll(
  value: string,
  referenceOf: (mask: string) => Reference | undefined,
  lookUp: (name: string) => string | null,
): Replaced {
  const unset: string[] = [];
  let count = 0;
  const text = value.replace(MASKED, (whole, mask: string) => {
    const reference = referenceOf(mask);
    if (reference === undefined) return whole;
    if (reference.isEscaped) return reference.source.slice(1);
    count += 1;
    const found = lookUp(reference.name) ?? reference.fallback;
    if (found === null) unset.push(reference.name);
    return found ?? "";
  });
  return { text, count, unset };
}
