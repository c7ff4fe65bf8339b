// Parses switchyard.yaml into located values. `${NAME}` and `${NAME:-default}` in values are replaced from the environment.

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
import type { Entry, Located } from "./located.ts";
import { maskReferences, type References } from "./references.ts";
import type { Report } from "./report.ts";

interface DocumentInput {
  readonly text: string;
  /** The file's name as problems show it. */
  readonly name: string;
  readonly environment: Environment;
  readonly report: Report;
}

interface Walk extends DocumentInput {
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
  const walk: Walk = { ...input, document, lines, references };
  const root = locate(document.contents, { path: "", offset: 0, depth: 0 }, walk);
  if (root.kind === "mapping") return root;
  if (root.kind === "empty") return null;
  const message = "expected a mapping of settings at the top of the file";
  input.report.problems.push({ place: `${input.name}:1:1`, message, suggestion: null });
  return null;
}

function describeYamlError(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "the same key is written twice in one mapping";
  return `not valid YAML: ${message.replace(/\.$/, "")}`;
}

interface Position {
  readonly path: string;
  readonly offset: number;
  readonly depth: number;
}

function locate(node: unknown, position: Position, walk: Walk): Located {
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

function locateEntries(map: YAMLMap, position: Position, walk: Walk): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const pair of map.items as Pair<unknown, unknown>[]) {
    const key = walk.references.restore(String(isScalar(pair.key) ? pair.key.value : pair.key));
    const range = (pair.key as { range?: [number, number, number] | null }).range;
    const path = position.path === "" ? key : `${position.path}.${key}`;
    const at: Position = { path, offset: range?.[0] ?? position.offset, depth: position.depth + 1 };
    entries.set(key, { keyPlace: placeOf(at, walk), node: locate(pair.value, at, walk) });
  }
  return entries;
}

function locateText(value: string, spot: { path: string; place: string }, walk: Walk): Located {
  const replaced = walk.references.replace(value, (name) => walk.environment.read(name)?.text ?? null);
  for (const name of replaced.unset) {
    const message = `the environment variable ${name} is not set`;
    walk.report.problems.push({ place: spot.place, message, suggestion: `\${${name}:-default}` });
  }
  if (replaced.unset.length > 0) return { kind: "broken", ...spot };
  const isReference = replaced.count > 0;
  if (isReference && replaced.text === "") return { kind: "empty", ...spot };
  return { kind: "scalar", value: replaced.text, isBareText: isReference, isHidden: isReference, ...spot };
}

function placeOf(position: Position, walk: Walk): string {
  const { line, col } = walk.lines.linePos(position.offset);
  const at = `${walk.name}:${line}:${col}`;
  return position.path === "" ? at : `${at} ${position.path}`;
}
