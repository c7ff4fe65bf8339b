// Differences between a file and a gateway, as a list of changes in words. Nothing is changed here.

import { isDeepStrictEqual } from "node:util";
import type { Json, JsonMap } from "../../core/overlay.ts";
import { RESOURCE_KINDS, type ResourceKind, referencesIn } from "./resources.ts";
import * as TEXT from "./text.ts";

export type WantedState = Readonly<Partial<Record<ResourceKind["section"], readonly JsonMap[]>>>;
export type There = Readonly<Record<ResourceKind["section"], readonly JsonMap[]>>;

export interface PlannedChange {
  readonly kind: ResourceKind;
  readonly action: "create" | "change" | "remove";
  readonly name: string;
  /** The id at the gateway; null for one that is not there yet. */
  readonly id: string | null;
  /** Fields as the file has them, with names in place of ids. */
  readonly fields: JsonMap;
  readonly words: string;
}

interface StatePlan {
  readonly changes: readonly PlannedChange[];
  /** Things that only the gateway has, which stay. */
  readonly left: readonly string[];
}

export function planOf(wanted: WantedState, there: There, prunes: boolean): StatePlan {
  const kinds = RESOURCE_KINDS.filter(({ section }) => wanted[section] !== undefined);
  for (const kind of kinds)
    for (const fields of wanted[kind.section] ?? []) requireNamed(fields, kind, { wanted, there });
  const changes = kinds.flatMap((kind) =>
    parentsFirst(wanted[kind.section] ?? []).flatMap((fields) => changeTo(fields, kind, there) ?? []),
  );
  const extra = kinds.toReversed().flatMap((kind) => {
    const names = new Set((wanted[kind.section] ?? []).map(({ name }) => name));
    const unnamed = there[kind.section].filter(({ name }) => !names.has(name ?? null));
    return parentsFirst(unnamed)
      .toReversed()
      .map((each) => ({ kind, each }));
  });
  const removals = extra.map(({ kind, each }): PlannedChange => {
    const name = String(each.name);
    return { kind, action: "remove", name, id: String(each.id), fields: {}, words: TEXT.removed(kind.noun, name) };
  });
  return {
    changes: prunes ? [...changes, ...removals] : changes,
    left: prunes ? [] : extra.map(({ kind, each }) => TEXT.left(kind.noun, String(each.name))),
  };
}

/** A team inside another needs that one, and is removed before it. */
function parentsFirst(things: readonly JsonMap[]): readonly JsonMap[] {
  const isInside = ({ parent }: JsonMap): boolean => typeof parent === "string";
  return [...things.filter((each) => !isInside(each)), ...things.filter(isInside)];
}

interface Known {
  readonly wanted: WantedState;
  readonly there: There;
}

/** Found before anything is changed, so that a misspelt name leaves nothing half made. */
function requireNamed(fields: JsonMap, kind: ResourceKind, { wanted, there }: Known): void {
  for (const [field, section] of Object.entries(referencesIn(kind, fields))) {
    const name = fields[field];
    const known = [...(wanted[section] ?? []), ...there[section]];
    if (typeof name === "string" && !known.some((each) => each.name === name))
      throw new Error(TEXT.noReference(section.slice(0, -1), name));
  }
}

function changeTo(fields: JsonMap, kind: ResourceKind, there: There): PlannedChange | null {
  const name = String(fields.name);
  const [known, ...others] = there[kind.section].filter((each) => each.name === name);
  if (others.length > 0) throw new Error(TEXT.severalThere(kind.noun, name));
  const whole = { ...kind.unset, ...fields };
  if (known === undefined)
    return { kind, action: "create", name, id: null, fields, words: TEXT.created(kind.noun, name) };
  const shown = withNames(known, kind, there);
  const words = Object.entries(whole).flatMap(([field, value]) =>
    isSame(shown[field], value) ? [] : [`${field} ${written(shown[field])} → ${written(value)}`],
  );
  if (words.length === 0) return null;
  const id = String(known.id);
  return { kind, action: "change", name, id, fields, words: TEXT.changed(kind.noun, name, words.join(", ")) };
}

/** A thing of the gateway with names where it has ids. */
function withNames(known: JsonMap, kind: ResourceKind, there: There): JsonMap {
  const references = Object.entries(referencesIn(kind, known));
  const named = references.map(([field, section]) => {
    const found = there[section].find(({ id }) => id === known[field]);
    return [field, found?.name ?? known[field] ?? null] as const;
  });
  return { ...known, ...Object.fromEntries(named) };
}

/** Amounts are text at the gateway, and times may be written with another precision. */
function isSame(shown: Json | undefined, wanted: Json): boolean {
  if (isDeepStrictEqual(shown ?? null, wanted)) return true;
  if (shown === null || shown === undefined || wanted === null) return false;
  if (typeof shown === "object" || typeof wanted === "object") return false;
  if (DECIMAL.test(String(shown)) && DECIMAL.test(String(wanted))) return plainDecimal(shown) === plainDecimal(wanted);
  return TIME.test(String(shown)) && Date.parse(String(shown)) === Date.parse(String(wanted));
}

const DECIMAL = /^\d+(?:\.\d+)?$/;
const TIME = /^\d{4}-\d{2}-\d{2}T/;

function plainDecimal(value: Json): string {
  const text = String(value);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function written(value: Json | undefined): string {
  return value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value);
}
