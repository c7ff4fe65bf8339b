// Reads single fields of a client's JSON body, with the errors of the contract. Null counts as absent. A wrong type or
// range is a 400 that names the field.

import { GatewayError } from "../../core/errors.ts";
import type { JsonSource } from "../scan/scan.ts";

/** Anything that came from outside is unknown until it is read. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A 400 in our own words alone: the name of the field comes from us, too. */
function wrong(param: string, must: string): GatewayError {
  const message = `'${param}' must be ${must}.`;
  return new GatewayError("badRequest", message, { code: "invalid_value", param, logged: message });
}

/** A 400 that names the field. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError("badRequest", message, { code: "invalid_value", param });
}

export function readString(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === "string") return value;
  throw wrong(name, "a string");
}

export function readBoolean(body: JsonObject, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value === "boolean") return value;
  throw wrong(name, "true or false");
}

export function readInteger(body: JsonObject, name: string, range: { min: number; max: number }): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= range.min && value <= range.max)
    return value;
  throw wrong(name, `a whole number from ${range.min} to ${range.max}`);
}

export function readNumber(body: JsonObject, name: string, range: { min: number; max: number }): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && value >= range.min && value <= range.max) return value;
  throw wrong(name, `a number from ${range.min} to ${range.max}`);
}

/** One of the given words. */
export function readChoice<T extends string>(body: JsonObject, name: string, choices: readonly T[]): T | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (choices.includes(value as T)) return value as T;
  throw wrong(name, `one of ${choices.join(", ")}`);
}

export function readArray(body: JsonObject, name: string): readonly unknown[] {
  const value = body[name] ?? [];
  if (Array.isArray(value)) return value;
  throw wrong(name, "an array");
}

export function readObject(body: JsonObject, name: string): JsonObject | null {
  const value = body[name] ?? null;
  if (value === null || isObject(value)) return value;
  throw wrong(name, "an object");
}

export function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** The texts of a list. What is no list has none. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

/** The objects of a list. What is no list has none. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Empty where it is no text. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Writes a value from outside as text. String() would throw for an object with a `toString` of its own. */
export function toText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** Cache entries for an hour are asked for by this value, wherever it stands; text that quotes it costs a larger hold. */
export function mentionsHourCache({ bytes, hasHour }: JsonSource): boolean {
  // A quote is in every line of code: without it the search is five times as fast.
  return hasHour ?? (bytes.includes('1h"') && bytes.includes('"1h"'));
}
