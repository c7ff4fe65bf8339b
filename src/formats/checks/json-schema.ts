// Checks a JSON value against a JSON Schema, with a bound on the work: schemas come from callers, and one that refers to itself
// could run for ever. It does not check `format`, `contains`, `dependent…`, `unevaluated…`, `propertyNames` and references
// to other documents; values pass those keywords.

import { isObject, type JsonObject } from "../json/fields.ts";
import { compilePattern, PATTERN_WORK_MAX, type Pattern, PatternError, type Work } from "./pattern.ts";

/** A place in a value that does not fit, as a JSON pointer, and the rule that it breaks. */
export interface Misfit {
  readonly at: string;
  readonly must: string;
}

/** Values times keywords: about 20 ms. */
const WORK_MAX = 200_000;
const DEPTH_MAX = 200;

/** Returns null where the value fits. A value that takes too much work does not fit. */
export function findMisfit(value: unknown, schema: unknown): Misfit | null {
  try {
    const work = { work: { left: WORK_MAX }, patternWork: { left: PATTERN_WORK_MAX } };
    return misfitOf(value, schema, { root: schema, at: "", depth: 0, ...work, patterns: new Map() });
  } catch (error) {
    if (error instanceof TooMuchWork) return { at: "", must: "be small enough to be checked" };
    throw error;
  }
}

class TooMuchWork extends Error {}

interface SchemaPlace {
  readonly root: unknown;
  readonly at: string;
  readonly depth: number;
  readonly work: Work;
  readonly patternWork: Work;
  readonly patterns: Map<string, Pattern | null>;
}

type Rule = (value: unknown, schema: JsonObject, place: SchemaPlace) => Misfit | null;

function misfitOf(value: unknown, schema: unknown, place: SchemaPlace): Misfit | null {
  if (schema === false) return { at: place.at, must: "not be there" };
  if (!isObject(schema)) return null;
  place.work.left--;
  if (place.work.left < 0 || place.depth > DEPTH_MAX) throw new TooMuchWork();
  const inner = { ...place, depth: place.depth + 1 };
  for (const rule of RULES) {
    const misfit = rule(value, schema, inner);
    if (misfit !== null) return misfit;
  }
  return null;
}

const byReference: Rule = (value, { $ref: reference }, place) => {
  if (typeof reference !== "string" || !reference.startsWith("#")) return null;
  return misfitOf(value, resolve(reference, place.root), place);
};

/** Undefined, which everything fits, where there is no such place. */
function resolve(reference: string, root: unknown): unknown {
  let found = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    const inside: JsonObject = isObject(found) || Array.isArray(found) ? (found as JsonObject) : {};
    found = Object.hasOwn(inside, name) ? inside[name] : undefined;
  }
  return found;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

const ofType: Rule = (value, { type, nullable }, { at }) => {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (type === undefined || (nullable === true && value === null)) return null;
  return names.some((name) => isOfType(value, name)) ? null : { at, must: `be of type ${names.join(" or ")}` };
};

function isOfType(value: unknown, name: unknown): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "boolean":
    case "number":
      return typeof value === name;
    default:
      return true;
  }
}

const oneOfValues: Rule = (value, schema, { at, work }) => {
  const { enum: choices } = schema;
  if (Array.isArray(choices) && !choices.some((choice) => isSame(choice, value, work))) {
    return { at, must: "be one of the values of enum" };
  }
  return Object.hasOwn(schema, "const") && !isSame(schema.const, value, work) ? { at, must: "be the constant" } : null;
};

/** Compares values of JSON, whatever the order of fields. */
function isSame(a: unknown, b: unknown, work: SchemaPlace["work"]): boolean {
  if (--work.left < 0) throw new TooMuchWork();
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index], work));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name], work))
  );
}

/** Keywords that bound a number: of the value itself, of its characters, of its items or of its fields. */
const BOUNDS: readonly (readonly [keyword: string, of: (value: unknown) => number | null, isMax: boolean])[] = [
  ["minimum", numberOf, false],
  ["maximum", numberOf, true],
  ["minLength", lengthOf, false],
  ["maxLength", lengthOf, true],
  ["minItems", itemsOf, false],
  ["maxItems", itemsOf, true],
  ["minProperties", fieldsOf, false],
  ["maxProperties", fieldsOf, true],
];

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
function lengthOf(value: unknown): number | null {
  return typeof value === "string" ? [...value].length : null;
}
function itemsOf(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null;
}
function fieldsOf(value: unknown): number | null {
  return isObject(value) ? Object.keys(value).length : null;
}

const withinBounds: Rule = (value, schema, { at }) => {
  for (const [keyword, of, isMax] of BOUNDS) {
    const bound = schema[keyword];
    if (typeof bound !== "number") continue;
    const counted = of(value);
    if (counted !== null && (isMax ? counted > bound : counted < bound))
      return { at, must: `keep ${keyword} ${bound}` };
  }
  return typeof value === "number" ? strictBounds(value, schema, at) : null;
};

function strictBounds(value: number, schema: JsonObject, at: string): Misfit | null {
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: unit } = schema;
  if (typeof above === "number" && value <= above) return { at, must: `keep exclusiveMinimum ${above}` };
  if (typeof below === "number" && value >= below) return { at, must: `keep exclusiveMaximum ${below}` };
  // 0.3 is a multiple of 0.1, although its floating point is not.
  const isMultiple = typeof unit !== "number" || unit <= 0 || Math.abs(value / unit - Math.round(value / unit)) < 1e-9;
  return isMultiple ? null : { at, must: `keep multipleOf ${unit}` };
}

const matchesPattern: Rule = (value, { pattern }, place) => {
  if (typeof pattern !== "string" || typeof value !== "string") return null;
  return matches(pattern, value, place) ? null : { at: place.at, must: "match the pattern" };
};

/** Any text matches an expression that cannot be used. */
function matches(source: string, text: string, { patterns, patternWork }: SchemaPlace): boolean {
  const isMatch = patternOf(source, patterns)?.matches(text, patternWork);
  if (isMatch === null) throw new TooMuchWork();
  return isMatch ?? true;
}

/** Returns null for an expression that cannot be used. */
function patternOf(source: string, patterns: SchemaPlace["patterns"]): Pattern | null {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  let pattern: Pattern | null = null;
  try {
    pattern = compilePattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
  }
  patterns.set(source, pattern);
  return pattern;
}

const fieldsFit: Rule = (value, schema, place) => {
  if (!isObject(value)) return null;
  const { required, properties, patternProperties, additionalProperties: others } = schema;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === "string" && !Object.hasOwn(value, name)) return { at: place.at, must: `have '${name}'` };
  }
  const known: JsonObject = isObject(properties) ? properties : {};
  const alike = isObject(patternProperties) ? Object.entries(patternProperties) : [];
  for (const [name, field] of Object.entries(value)) {
    place.work.left -= 1 + alike.length;
    const inner = { ...place, at: `${place.at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` };
    const matching = alike.filter(([pattern]) => matches(pattern, name, place));
    const schemas = [...(Object.hasOwn(known, name) ? [known[name]] : []), ...matching.map(([, each]) => each)];
    for (const each of schemas.length === 0 ? [others] : schemas) {
      const misfit = misfitOf(field, each, inner);
      if (misfit !== null) return misfit;
    }
  }
  return null;
};

const itemsFit: Rule = (value, { prefixItems, items, uniqueItems }, place) => {
  if (!Array.isArray(value)) return null;
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? undefined : items;
  for (const [index, item] of value.entries()) {
    const misfit = misfitOf(item, index < first.length ? first[index] : rest, { ...place, at: `${place.at}/${index}` });
    if (misfit !== null) return misfit;
  }
  if (uniqueItems !== true) return null;
  const isRepeated = value.some((item, index) =>
    value.slice(0, index).some((other) => isSame(item, other, place.work)),
  );
  return isRepeated ? { at: place.at, must: "have no item twice" } : null;
};

const combined: Rule = (value, { allOf, anyOf, oneOf, not }, place) => {
  const { at } = place;
  for (const each of Array.isArray(allOf) ? allOf : []) {
    const misfit = misfitOf(value, each, place);
    if (misfit !== null) return misfit;
  }
  const fits = (each: unknown): boolean => misfitOf(value, each, place) === null;
  if (Array.isArray(anyOf) && !anyOf.some(fits)) return { at, must: "fit a schema of anyOf" };
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return { at, must: "fit one schema of oneOf" };
  return not !== undefined && fits(not) ? { at, must: "not fit the schema of not" } : null;
};

const conditional: Rule = (value, { if: condition, then: consequence, else: otherwise }, place) => {
  if (condition === undefined) return null;
  return misfitOf(value, misfitOf(value, condition, place) === null ? consequence : otherwise, place);
};

const RULES: readonly Rule[] = [
  ...[byReference, ofType, oneOfValues, withinBounds, matchesPattern],
  ...[fieldsFit, itemsFit, combined, conditional],
];
