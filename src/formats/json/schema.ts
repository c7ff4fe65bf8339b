// Questions about JSON schemas that decide how structured output can be asked for, and the form Anthropic takes.

import { isObject, type JsonObject } from "./fields.ts";

const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const MAPS = ["properties", "$defs", "definitions"] as const;
const SINGLES = ["items"] as const;
/** Deeper schemas are passed on as they are. */
const DEPTH_MAX = 64;

// Anthropic refuses these; said in the description the model still heeds them.
const CONSTRAINTS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
] as const;

/** Tells whether OpenAI takes the schema as strict: every object closed and every property required. */
export function isStrictSchema(schema: unknown, depth = 0): boolean {
  if (!isObject(schema)) return true;
  if (depth > DEPTH_MAX) return false;
  if (isObject(schema.properties) || schema.type === "object") {
    const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false || !names.every((name) => required.includes(name))) return false;
  }
  return innerSchemas(schema).every((inner) => isStrictSchema(inner, depth + 1));
}

/** The schema with every object closed and every constraint it may not have turned into words. */
export function closedSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > DEPTH_MAX) return schema;
  const result: Record<string, unknown> = { ...schema };
  const words: string[] = [];
  for (const name of CONSTRAINTS) {
    if (result[name] === undefined) continue;
    words.push(`${name}: ${JSON.stringify(result[name])}`);
    delete result[name];
  }
  if (words.length > 0) {
    const said = typeof schema.description === "string" ? `${schema.description} ` : "";
    result.description = `${said}(${words.join(", ")})`;
  }
  if (schema.type === "object" || isObject(schema.properties)) result.additionalProperties = false;
  for (const name of SINGLES) if (isObject(result[name])) result[name] = closedSchema(result[name], depth + 1);
  for (const name of LISTS) {
    const list = result[name];
    if (Array.isArray(list)) result[name] = list.map((item) => (isObject(item) ? closedSchema(item, depth + 1) : item));
  }
  for (const name of MAPS) {
    const map = result[name];
    if (isObject(map)) result[name] = closedMap(map, depth + 1);
  }
  return result;
}

function closedMap(map: JsonObject, depth: number): JsonObject {
  const entries = Object.entries(map);
  return Object.fromEntries(entries.map(([name, item]) => [name, isObject(item) ? closedSchema(item, depth) : item]));
}

function innerSchemas(schema: JsonObject): readonly unknown[] {
  const lists = LISTS.flatMap((name) => (Array.isArray(schema[name]) ? (schema[name] as unknown[]) : []));
  const maps = MAPS.flatMap((name) => (isObject(schema[name]) ? Object.values(schema[name]) : []));
  return [...SINGLES.map((name) => schema[name]), ...lists, ...maps];
}
