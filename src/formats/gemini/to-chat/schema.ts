// Gemini's schemas as JSON Schema. They are a subset of OpenAPI 3.0: types in capitals, `nullable`, and counts as text.

import { isObject, type JsonObject } from "../../json/fields.ts";
import { camelFields } from "./parse.ts";

/** Fields that say nothing to other models. */
const LEFT_OUT: ReadonlySet<string> = new Set(["propertyOrdering", "example", "nullable"]);
/** 64-bit counts, which Google writes as text. */
const COUNTS: ReadonlySet<string> = new Set([
  ...["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"],
]);
/** Formats of OpenAPI that JSON Schema does not have. Strict hosts refuse them. */
const FOREIGN_FORMATS: ReadonlySet<unknown> = new Set(["enum", "int32", "int64", "float", "double", "byte"]);

const MAPS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

/** Also for what clients send as JSON Schema: Gemini CLI writes its types in capitals there too. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const given = camelFields(schema);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (LEFT_OUT.has(name) || (name === "format" && FOREIGN_FORMATS.has(value))) continue;
    result[name] = convertKeyword(name, value);
  }
  return given.nullable === true ? withNull(result) : result;
}

function convertKeyword(name: string, value: unknown): unknown {
  if (name === "type") return typeof value === "string" ? value.toLowerCase() : value;
  if (COUNTS.has(name)) return typeof value === "string" ? Number(value) : value;
  if (MAPS.has(name)) return isObject(value) ? convertMap(value) : value;
  if (name === "items" || name === "additionalProperties") return isObject(value) ? toJsonSchema(value) : value;
  if (LISTS.has(name)) {
    return Array.isArray(value) ? value.map((item) => (isObject(item) ? toJsonSchema(item) : item)) : value;
  }
  return value;
}

function convertMap(map: JsonObject): JsonObject {
  const entries = Object.entries(map);
  return Object.fromEntries(entries.map(([name, item]) => [name, isObject(item) ? toJsonSchema(item) : item]));
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf } = schema;
  return {
    ...schema,
    ...(typeof type === "string" ? { type: [type, "null"] } : {}),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
    ...(Array.isArray(anyOf) && type === undefined ? { anyOf: [...anyOf, { type: "null" }] } : {}),
  };
}
