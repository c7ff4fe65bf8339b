// PATCH of SCIM, in the forms that identity providers send: operations in any case, with a path, with paths as the names of
// a value's fields, or with neither. Pure.

import { isJsonMap, type Json, type JsonMap } from "../../../core/overlay.ts";
import { type AttributePath, readPath, wrong } from "./filter.ts";

type Verb = "add" | "replace" | "remove";

/** A part of a resource that a patch may change. */
type ResourceDraft = { [name: string]: Json };

const OPERATIONS_MAX = 1_000;
/** Names as they are stored, whatever case they arrive in. */
const NAMES = [
  ...["userName", "externalId", "displayName", "active", "name", "emails", "members"],
  ...["givenName", "familyName", "middleName", "formatted", "value", "type", "primary"],
];

/** The resource with all operations of the body applied, one after the other. */
export function patched(resource: JsonMap, body: JsonMap): JsonMap {
  const operations = Object.entries(body).find(([name]) => name.toLowerCase() === "operations")?.[1];
  if (!Array.isArray(operations) || operations.length === 0) throw wrong("invalidSyntax", "'Operations' is missing.");
  if (operations.length > OPERATIONS_MAX) throw wrong("tooMany", `More than ${OPERATIONS_MAX} operations.`);
  const draft = structuredClone(resource) as ResourceDraft;
  for (const operation of operations as readonly Json[]) apply(draft, operation);
  return draft;
}

function apply(draft: ResourceDraft, operation: Json): void {
  if (!isJsonMap(operation)) throw wrong("invalidSyntax", "An operation must be an object.");
  const verb = String(operation.op).toLowerCase();
  if (verb !== "add" && verb !== "replace" && verb !== "remove") {
    throw wrong("invalidSyntax", "'op' must be add, replace or remove.");
  }
  const { path, value = null } = operation;
  if (typeof path === "string" && path !== "") {
    applyAt(draft, readPath(path), { verb, value });
    return;
  }
  if (verb === "remove") throw wrong("noTarget", "'remove' needs a path.");
  if (!isJsonMap(value)) throw wrong("invalidValue", "Without a path, 'value' must be an object.");
  for (const [name, each] of Object.entries(value)) {
    if (!NOT_FOR_CLIENTS.test(name)) applyAt(draft, readPath(name), { verb, value: each });
  }
}

const NOT_FOR_CLIENTS = /^(schemas|id|meta|groups)$/i;

interface PatchChange {
  readonly verb: Verb;
  readonly value: Json;
}

/** A path of another schema changes nothing: its attributes are not kept. */
function applyAt(draft: ResourceDraft, path: AttributePath | null, change: PatchChange): void {
  if (path === null) return;
  const name = nameIn(draft, path.attribute);
  if (path.conditions.length > 0) draft[name] = filtered(listOf(draft[name]), path, change);
  else if (path.part === null) setWhole(draft, name, change);
  else {
    const part: ResourceDraft = isJsonMap(draft[name]) ? (draft[name] as ResourceDraft) : {};
    setWhole(part, nameIn(part, path.part), change);
    draft[name] = part;
  }
}

function setWhole(draft: ResourceDraft, name: string, { verb, value }: PatchChange): void {
  const known = draft[name];
  if (verb === "remove") {
    // Some name the items to remove as a value beside the path.
    if (Array.isArray(known) && value !== null) draft[name] = without(known, listOf(value));
    else delete draft[name];
  } else if (Array.isArray(known) && verb === "add") draft[name] = [...without(known, listOf(value)), ...listOf(value)];
  else if (Array.isArray(known)) draft[name] = listOf(value);
  else if (isJsonMap(known) && isJsonMap(value)) {
    const part = known as ResourceDraft;
    for (const [key, each] of Object.entries(value)) part[nameIn(part, key)] = each;
  } else draft[name] = value;
}

/** Items count as the same by their `value`. */
function without(items: readonly Json[], gone: readonly Json[]): Json[] {
  const values = new Set(gone.map(identityOf));
  return items.filter((item) => !values.has(identityOf(item)));
}

function identityOf(item: Json): string {
  const value = isJsonMap(item) ? (item[nameIn(item, "value")] ?? null) : item;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The items that meet the conditions are changed; where none does, an addition makes one. */
function filtered(items: readonly Json[], { conditions, part }: AttributePath, { verb, value }: PatchChange): Json[] {
  const isMeant = (item: Json): boolean =>
    isJsonMap(item) &&
    conditions.every((each) => textOf(item[nameIn(item, each.attribute)]) === each.value.toLowerCase());
  if (verb === "remove" && part === null) return items.filter((item) => !isMeant(item));
  const made = Object.fromEntries(conditions.map((each) => [nameIn({}, each.attribute), each.value]));
  const changed = items.some(isMeant) || verb === "remove" ? [...items] : [...items, made];
  return changed.map((item) => {
    if (!isMeant(item)) return item;
    const draft = { ...(item as JsonMap) } as ResourceDraft;
    if (part !== null) setWhole(draft, nameIn(draft, part), { verb, value });
    else if (isJsonMap(value)) Object.assign(draft, value);
    else draft.value = value;
    return draft;
  });
}

function textOf(value: Json | undefined): string {
  return String(value ?? "").toLowerCase();
}

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

/** The name as the object has it, else as the schema writes it. */
function nameIn(object: JsonMap, name: string): string {
  const isSame = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  return Object.keys(object).find(isSame) ?? NAMES.find(isSame) ?? name;
}
