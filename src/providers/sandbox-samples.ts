// Values for JSON schemas, as far as the sandbox needs to know schemas. The caller says what to put where.

import { isObject, type JsonObject } from "../formats/json/fields.ts";

/** Values for places where a schema leaves a choice. `name` is that of the property; empty if there is none. */
export interface Samples {
  text(name: string, schema: JsonObject): string;
  /** At least `minimum`. */
  number(name: string, minimum: number | null): number;
  truth(name: string): boolean;
  /** One of the values of an enumeration. */
  choice(values: readonly unknown[]): unknown;
  /** The items of a list of texts. */
  texts(name: string, schema: JsonObject): readonly string[];
}

const DEPTH_MAX = 12;

export function sampleOf(schema: JsonObject, samples: Samples, name = "", depth = 0): unknown {
  if (depth > DEPTH_MAX) return null;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return samples.choice(schema.enum);
  const alternative = [schema.anyOf, schema.oneOf].find(Array.isArray)?.find(isObject);
  if (alternative !== undefined) return sampleOf(alternative, samples, name, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || isObject(schema.properties)) return sampleObject(schema, samples, depth);
  if (type === "array") return sampleArray(schema, samples, name, depth);
  if (type === "integer" || type === "number") {
    return samples.number(name, typeof schema.minimum === "number" ? schema.minimum : null);
  }
  if (type === "boolean") return samples.truth(name);
  return type === "null" ? null : samples.text(name, schema);
}

function sampleObject(schema: JsonObject, samples: Samples, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const entries = required.map((key) => {
    const name = String(key);
    const inner = properties[name];
    return [name, sampleOf(isObject(inner) ? inner : {}, samples, name, depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function sampleArray(schema: JsonObject, samples: Samples, name: string, depth: number): readonly unknown[] {
  const { items } = schema;
  if (!isObject(items)) return [];
  return items.type === "string" && items.enum === undefined
    ? samples.texts(name, items)
    : [sampleOf(items, samples, name, depth + 1)];
}
