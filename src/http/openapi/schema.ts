// The words that the schemas of the contract are written in.

import { TIERS } from "../../core/tiers.ts";

export const text = { type: "string" };
export const number = { type: "number" };
export const integer = { type: "integer" };
export const tier = { type: "string", enum: TIERS };
export const quality = { type: "integer", minimum: 0, maximum: 2 };
export const fraction = { type: "number", minimum: 0, maximum: 1 };
export const time = { type: "string", format: "date-time" };

/** An object whose listed fields are all there. */
export function object(properties: Readonly<Record<string, object>>): object {
  return { type: "object", required: Object.keys(properties), properties };
}

/** A model that was looked at; `restingBecause` is there only where there is a reason. */
export function candidate(more: Readonly<Record<string, object>> = {}): object {
  const always = { model: text, removedBecause: nullable(text), ...more };
  return { ...object(always), properties: { ...always, restingBecause: text } };
}

export function nullable(schema: object): object {
  return { anyOf: [schema, { type: "null" }] };
}
