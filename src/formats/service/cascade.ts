// Reads `service_cascade`: on, off, or on with checks.

import type { CascadeChecks, CascadeControl } from "../../core/requests/cascade.ts";
import { compilePattern, PatternError } from "../checks/pattern.ts";
import { invalid, isObject, type JsonObject, readObject, readString } from "../json/fields.ts";

const FIELDS: ReadonlySet<string> = new Set(["json_schema", "pattern", "tool_calls"]);

/** Throws what is wrong, by field; null where the body does not have it. */
export function readCascade(body: JsonObject, field: string): CascadeControl | null {
  const given = body[field] ?? null;
  if (given === null || typeof given === "boolean") return given;
  if (!isObject(given)) throw invalid(field, `'${field}' must be true, false or an object.`);
  const stranger = Object.keys(given).find((name) => !FIELDS.has(name));
  if (stranger !== undefined) {
    throw invalid(field, `'${field}' takes ${[...FIELDS].join(", ")}, and nothing else.`);
  }
  return { ...readSchema(given, field), ...readPattern(given, field), ...readToolCalls(given, field) };
}

function readSchema(given: JsonObject, field: string): Pick<CascadeChecks, "json_schema"> {
  if ((given.json_schema ?? null) === null) return {};
  const schema = readObject({ [`${field}.json_schema`]: given.json_schema }, `${field}.json_schema`) as JsonObject;
  // A schema may come with a name, as in `response_format`.
  return { json_schema: typeof schema.name === "string" && isObject(schema.schema) ? schema.schema : schema };
}

function readPattern(given: JsonObject, field: string): Pick<CascadeChecks, "pattern"> {
  const name = `${field}.pattern`;
  const pattern = readString({ [name]: given.pattern }, name);
  if (pattern === null) return {};
  try {
    compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) throw invalid(name, `'${name}' cannot be used: it ${error.message}.`);
    throw error;
  }
  return { pattern };
}

function readToolCalls(given: JsonObject, field: string): Pick<CascadeChecks, "tool_calls"> {
  const { tool_calls: checks = null } = given;
  if (checks === null) return {};
  if (typeof checks !== "boolean") throw invalid(`${field}.tool_calls`, `'${field}.tool_calls' must be true or false.`);
  return { tool_calls: checks };
}
