// Edits of the run-time configuration's document: each takes a document and returns another. Nothing is checked here.

import { TIERS_WITH_TOOLS } from "../catalog/chains.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay } from "../core/overlay.ts";
import { readEntry } from "../core/requests/effort.ts";

/** One provider, model, chain or rule of the document, by its path. */
export function entryAt(document: Overlay, section: string, id: string): Json | undefined {
  if (section === "models") return modelsOf(document).find((row) => row.id === id);
  const entries = document[section];
  return isJsonMap(entries) && Object.hasOwn(entries, id) ? entries[id] : undefined;
}

/** With the entry put in place of the one it had; null takes it out. */
export function withEntry(document: Overlay, section: string, id: string, entry: Json): Overlay {
  if (section === "models") return withSection(document, section, withRow(modelsOf(document), id, entry));
  const entries = isJsonMap(document[section]) ? Object.entries(document[section]) : [];
  const others = entries.filter(([key]) => key !== id);
  const isKnown = others.length < entries.length;
  const replaced = isKnown ? entries.map(([key, value]) => [key, key === id ? entry : value] as const) : entries;
  const kept = entry === null ? others : isKnown ? replaced : [...entries, [id, entry] as const];
  return withSection(document, section, Object.fromEntries(kept));
}

function withRow(rows: readonly JsonMap[], id: string, entry: Json): readonly Json[] {
  if (entry === null) return rows.filter((row) => row.id !== id);
  if (!rows.some((row) => row.id === id)) return [...rows, entry];
  return rows.map((row) => (row.id === id ? entry : row));
}

/** A section without entries is left out. */
function withSection(document: Overlay, section: string, value: Json): Overlay {
  const others = Object.entries(document).filter(([key]) => key !== section);
  const isEmpty = Object.keys(value as object).length === 0;
  return Object.fromEntries(isEmpty ? others : [...others, [section, value]]);
}

/** Without a provider, the models that it alone serves, and their places in chains, where none of `back` takes them. */
export function withoutProvider(document: Overlay, id: string, back: ReadonlySet<Json>): Overlay {
  const gone = modelsOf(document).filter((row) => servers(row).join() === id);
  const ids = new Set(gone.flatMap((row) => (back.has(row.id as Json) ? [] : [String(row.id)])));
  let next = withEntry(document, "providers", id, null);
  for (const row of gone) next = withEntry(next, "models", String(row.id), null);
  for (const section of ["tiers", TIERS_WITH_TOOLS]) next = withoutPlaces(next, section, ids);
  return next;
}

function withoutPlaces(document: Overlay, section: string, ids: ReadonlySet<string>): Overlay {
  const chains = document[section];
  let next = document;
  for (const [tier, chain] of Object.entries(isJsonMap(chains) ? chains : {})) {
    if (!Array.isArray(chain)) continue;
    const left = (chain as readonly Json[]).filter((entry) => !ids.has(modelIn(entry, ids)));
    if (left.length === chain.length) continue;
    // A tier without a model of its own has the chain that ships.
    next = withEntry(next, section, tier, left.length === 0 ? null : left);
  }
  return next;
}

/** The model of an entry, which may have an effort behind it. */
function modelIn(entry: Json, ids: ReadonlySet<string>): string {
  return readEntry(String(entry), (id) => ids.has(id)).id;
}

/** The providers that a row names, each once. Null says nothing, as in a file. */
function servers({ provider, hosts }: JsonMap): readonly Json[] {
  const named = [
    provider,
    ...(Array.isArray(hosts) ? hosts : []).map((host) => (isJsonMap(host) ? host.provider : null)),
  ];
  return [...new Set(named.filter((each) => each !== undefined && each !== null))];
}

/** The rows of `models`; what is no row is passed over. */
export function modelsOf({ models }: Overlay): readonly JsonMap[] {
  return Array.isArray(models) ? (models as readonly Json[]).filter(isJsonMap) : [];
}

/** A merge patch (RFC 7396): null takes a key out, mappings are merged, everything else replaces. */
export function patched(target: Json | undefined, patch: Json): Json {
  if (!isJsonMap(patch)) return patch;
  const entries = new Map<string, Json>(isJsonMap(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) entries.delete(key);
    else entries.set(key, patched(entries.get(key), value));
  }
  return Object.fromEntries(entries);
}

/** The sections of a draft in place of what the document has: chains and rules one by one, models by id. */
export function drafted(document: Overlay, draft: Overlay): Overlay {
  let next = document;
  for (const [section, entries] of Object.entries(draft)) {
    if (section === "models" && Array.isArray(entries)) {
      for (const row of entries as readonly Json[]) {
        if (!isJsonMap(row) || typeof row.id !== "string") return { ...next, models: entries };
        next = withEntry(next, section, row.id, patched(entryAt(next, section, row.id), row));
      }
    } else if (isJsonMap(entries)) {
      for (const [id, entry] of Object.entries(entries))
        next = withEntry(next, section, id, entry === null ? null : patched(entryAt(next, section, id), entry));
    } else next = { ...next, [section]: entries };
  }
  return next;
}

const DEPTH_MAX = 40;

/** Tells whether a value is nested deeper than any document, without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}
