// Differences between two versions, in words. Secrets are named by their last four characters, keys also by their id.

import { isDeepStrictEqual } from "node:util";
import { CATALOGUE_SECTION } from "../catalog/file/published.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay } from "../core/overlay.ts";
import { catalogueChanges } from "./catalogue.ts";
import { modelsOf } from "./document.ts";
import { isSealed, secretId } from "./secrets.ts";

export interface Change {
  /** Such as `providers.lab.baseUrl`. */
  readonly path: string;
  readonly words: string;
}

/** Longer values are cut in words; the document has them whole. */
const SHOWN_MAX = 200;

export function changesBetween(before: Overlay, after: Overlay): readonly Change[] {
  return [
    ...catalogueChanges(before, after),
    ...entityChanges("provider", "providers", mapOf(before.providers), mapOf(after.providers)),
    ...entityChanges("model", "models", rowsById(before), rowsById(after)),
    ...namesOf(before, after)
      .filter((section) => !OWN_WORDS.has(section))
      .flatMap((section) => fieldChanges(section, mapOf(before[section]), mapOf(after[section]))),
  ];
}

const OWN_WORDS: ReadonlySet<string> = new Set(["providers", "models", CATALOGUE_SECTION]);

function mapOf(value: Json | undefined): JsonMap {
  return isJsonMap(value) ? value : {};
}

function rowsById(document: Overlay): JsonMap {
  return Object.fromEntries(modelsOf(document).map((row) => [String(row.id), row]));
}

function entityChanges(noun: string, section: string, before: JsonMap, after: JsonMap): readonly Change[] {
  return namesOf(before, after).flatMap((id) => {
    const path = `${section}.${id}`;
    if (before[id] === undefined) return [{ path, words: `added ${noun} ${id}` }];
    if (after[id] === undefined) return [{ path, words: `removed ${noun} ${id}` }];
    return fieldChanges(path, mapOf(before[id]), mapOf(after[id]));
  });
}

function fieldChanges(path: string, before: JsonMap, after: JsonMap): readonly Change[] {
  return namesOf(before, after).flatMap((name) => {
    const [old, next] = [before[name], after[name]];
    const at = `${path}.${name}`;
    if (isDeepStrictEqual(old, next)) return [];
    if (isSealed(old) || isSealed(next)) return [{ path: at, words: `${at}: ${secretWords(old, next)}` }];
    if (isMapOrNothing(old) && isMapOrNothing(next)) return fieldChanges(at, mapOf(old), mapOf(next));
    return [{ path: at, words: `${at}: ${written(old)} → ${written(next)}` }];
  });
}

function isMapOrNothing(value: Json | undefined): boolean {
  return value === undefined || isJsonMap(value);
}

function namesOf(before: JsonMap, after: JsonMap): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

function secretWords(old: Json | undefined, next: Json | undefined): string {
  if (next === undefined) return "removed";
  const ending = isSealed(next) && next.lastFour !== "" ? ` (ends in ${next.lastFour})` : "";
  return `${old === undefined ? "set" : "replaced"}${ending}`;
}

function written(value: Json | undefined): string {
  if (value === undefined) return "not set";
  const text = plain(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** Sealed texts never get here as text: keys are told by their last four characters, ids and weights. */
function plain(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (!Array.isArray(value)) return isSealed(value) ? "a key" : JSON.stringify(value);
  const items = value as readonly Json[];
  if (items.length === 0) return "none";
  const keys = items.map(keyWords);
  if (keys.some((words) => words !== null)) {
    return `${items.length} ${items.length === 1 ? "key" : "keys"} (${keys.map((words) => words ?? "a key").join(", ")})`;
  }
  return items.every((each) => typeof each === "string") ? items.join(", ") : JSON.stringify(items);
}

/** Describes an entry of a list of keys; null for an entry that is no key. */
function keyWords(entry: Json): string | null {
  if (isSealed(entry)) return `…${entry.lastFour} ${secretId(entry)}`;
  if (!isJsonMap(entry) || !isSealed(entry.key)) return null;
  const { key, weight = 1 } = entry;
  return `…${key.lastFour} ${secretId(key)}${weight === 1 ? "" : ` × ${String(weight)}`}`;
}
