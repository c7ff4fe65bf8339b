// Inputs drawn from the OpenAPI document: values that keep to a schema, and values that break it in one place.

import { Compile } from "typebox/schema";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";
import { fc } from "../property.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

const { components } = openapiDocument();
const validators = new Map<object, ReturnType<typeof Compile>>();

/** Where a value breaks a schema whose references point into the document. */
export function problemsOf(schema: object, value: unknown): readonly unknown[] {
  const validator = validators.get(schema) ?? Compile({ components, allOf: [schema] });
  validators.set(schema, validator);
  return validator.Check(value) ? [] : validator.Errors(value)[1];
}

/** Values that keep to the schema. */
export function valid(schema: Schema): fc.Arbitrary<unknown> {
  return draw(schema).filter((value) => problemsOf(schema, value).length === 0);
}

/** Values that break the schema: a valid one with one place replaced or left out. */
export function broken(schema: Schema): fc.Arbitrary<unknown> {
  return fc
    .tuple(draw(schema), fc.nat(), fc.constantFrom(...WRONG, LEFT_OUT))
    .map(([value, at, wrong]) => replaceAt(value, at, wrong))
    .filter((value) => value !== undefined && problemsOf(schema, value).length > 0);
}

/** Query parameters and headers travel as text. */
export function validText(schema: Schema): fc.Arbitrary<string> {
  return valid(schema).map(String);
}

export function brokenText(schema: Schema): fc.Arbitrary<string> {
  return fc.constantFrom(...WRONG_TEXTS).filter((text) => problemsOf(schema, readText(schema, text)).length > 0);
}

/** Whether any text breaks it. */
export function canBreak(schema: Schema): boolean {
  return WRONG_TEXTS.some((text) => problemsOf(schema, readText(schema, text)).length > 0);
}

/** Names that a careless look-up finds in every object, and characters that stores and terminals dislike. */
const HOSTILE = [
  "__proto__",
  "constructor",
  "toString",
  "\u0000",
  "a\u0000b",
  "\u2028",
  "\ud800",
  "' OR 1=1 --",
  "%00",
];
const LEFT_OUT = Symbol("left out");
const WRONG = [
  null,
  true,
  -1,
  1.5,
  1e21,
  "",
  "\u0000",
  "UNHEARD_OF",
  "x".repeat(5_000),
  [],
  [[]],
  {},
  { a: 1 },
] as const;
const WRONG_TEXTS = [
  "",
  " ",
  "\u0000",
  "-1",
  "1.5",
  "0x10",
  "501",
  "UNHEARD_OF",
  "__proto__",
  "x".repeat(400),
  "yes",
  "2026",
];

function readText({ type }: Schema, text: string): unknown {
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  return type === "boolean" && /^(true|false)$/.test(text) ? text === "true" : text;
}

function draw(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined && schema.properties === undefined) return fc.oneof(...schema.anyOf.map(draw));
  return fc.oneof(...[schema.type ?? ANY_TYPES].flat().map((type) => drawType(type, schema)));
}

/** No lists: their items could be lists again without end. */
const ANY_TYPES = ["null", "boolean", "string", "object"];

function drawType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(...edges(schema), fc.integer({ min: schema.minimum ?? -100, max: schema.maximum ?? 100 }));
    case "number":
      return fc.oneof(...edges(schema), fc.constantFrom(0, 0.5, 1, 2.25));
    case "array":
      return fc.array(draw(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: (schema.minItems ?? 0) + 2,
      });
    case "object":
      return drawObject(schema);
    default:
      return drawString(schema);
  }
}

/** The limits themselves. */
function edges({ minimum, maximum }: Schema): fc.Arbitrary<unknown>[] {
  return [minimum, maximum].filter((edge) => edge !== undefined).map((edge) => fc.constant(edge));
}

function drawObject({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, draw(field)]));
  const known = fc.record(fields, { requiredKeys: [...required] });
  if (additionalProperties === false || Object.keys(fields).length > 0) return known;
  return fc.dictionary(fc.constantFrom("a", "type", ...HOSTILE), fc.constantFrom<unknown>(1, "text", null, {}), {
    maxKeys: 2,
  });
}

function drawString({ pattern, examples, minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<unknown> {
  const some = examples === undefined ? [] : [fc.constantFrom(...examples)];
  if (pattern !== undefined) return fc.oneof(...some, fc.stringMatching(new RegExp(pattern), { size: "small" }));
  const free = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, minLength + 50) });
  return fc.oneof(...some, free, fc.constantFrom(...HOSTILE));
}

function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return components.schemas[schema.$ref.split("/").at(-1) as string] as Schema;
}

/** The value with its n-th place replaced, counted over all objects and lists in it. */
function replaceAt(value: unknown, at: number, wrong: unknown): unknown {
  const places = placesIn(value);
  const path = places[at % places.length] as readonly string[];
  return setAt(value, path, wrong);
}

function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))];
}

function setAt(value: unknown, [name, ...rest]: readonly string[], wrong: unknown): unknown {
  if (name === undefined) return wrong === LEFT_OUT ? undefined : wrong;
  const entries = Object.entries(value as object).flatMap(([key, inner]) => {
    if (key !== name) return [[key, inner]];
    const next = setAt(inner, rest, wrong);
    return next === undefined ? [] : [[key, next]];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
