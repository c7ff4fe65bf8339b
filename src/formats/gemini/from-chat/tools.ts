// Tools and tool choice of a chat-completions request in the Gemini format, and the JSON schemas that Google accepts.

import type { Conversion } from "../../convert/conversion.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";

/** Names that the API takes for a function. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

/** The fields `tools` and `toolConfig`, as far as they are needed. */
export function writeTools(body: JsonObject, conversion: Conversion): JsonObject {
  const choice = body.tool_choice ?? body.function_call;
  const allowed = allowedNames(choice);
  const functionDeclarations = [...objectsIn(body.tools), ...objectsIn(body.functions)]
    .map((tool) => writeDeclaration(tool, conversion))
    .filter((tool) => tool !== null && (allowed === null || allowed.includes(tool.name)));
  if (functionDeclarations.length === 0) return {};
  if (body.parallel_tool_calls === false) {
    conversion.note("option_dropped", "dropped 'parallel_tool_calls': the Gemini format has no counterpart");
  }
  const config = writeChoice(choice);
  return {
    tools: [{ functionDeclarations }],
    ...(config === null ? {} : { toolConfig: { functionCallingConfig: config } }),
  };
}

/** Nested or flat, as both are sent. */
function writeDeclaration(tool: JsonObject, conversion: Conversion): JsonObject | null {
  if (isObject(tool.custom) || tool.type === "custom") {
    conversion.refuse("it knows no custom tools with free text or a grammar");
    return null;
  }
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string") {
    conversion.note("tool_dropped", `dropped a tool '${toText(tool.type)}': only its own provider runs it`);
    return null;
  }
  if (strict === true)
    conversion.note("option_dropped", "dropped 'strict' of tools: the Gemini format has no counterpart");
  if (!NAME.test(name)) conversion.refuse(`the name of a tool must begin with a letter or _, not '${name}'`);
  return {
    name,
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    ...(takesNothing(parameters) ? {} : { parametersJsonSchema: acceptedSchema(parameters) }),
  };
}

/** A function without parameters has no schema: Google refuses an object without properties. */
function takesNothing(parameters: unknown): boolean {
  if (!isObject(parameters)) return true;
  const { properties, type, additionalProperties: others } = parameters;
  const isBare = properties === undefined || (isObject(properties) && Object.keys(properties).length === 0);
  const hasOther = ["$ref", "anyOf", "oneOf", "allOf"].some((name) => parameters[name] !== undefined);
  return isBare && !hasOther && !isObject(others) && (type === undefined || type === "object");
}

function allowedNames(choice: unknown): readonly unknown[] | null {
  if (!isObject(choice) || choice.type !== "allowed_tools") return null;
  return objectsIn(allowedIn(choice).tools).map(nameOf);
}

function allowedIn(choice: JsonObject): JsonObject {
  return isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
}

function nameOf(tool: JsonObject): unknown {
  return isObject(tool.function) ? tool.function.name : tool.name;
}

function writeChoice(choice: unknown): JsonObject | null {
  const kind = isObject(choice) ? choice.type : choice;
  if (kind === "none") return { mode: "NONE" };
  if (kind === "required" || kind === "any") return { mode: "ANY" };
  if (isObject(choice) && kind === "allowed_tools") {
    return { mode: allowedIn(choice).mode === "required" ? "ANY" : "AUTO" };
  }
  const name = isObject(choice) ? nameOf(choice) : null;
  if (typeof name === "string") return { mode: "ANY", allowedFunctionNames: [name] };
  return kind === "auto" ? { mode: "AUTO" } : null;
}

const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const MAPS = ["properties", "$defs", "definitions"] as const;
/** Deeper schemas are passed on as they are. */
const DEPTH_MAX = 64;

/**
 * The schema as Google reads JSON Schema: keywords that it does not know it ignores, but beside `$ref` it accepts no
 * other, and a constant it knows only as an enumeration of one.
 */
export function acceptedSchema(schema: unknown, depth = 0): unknown {
  if (schema === true) return {};
  if (!isObject(schema) || depth > DEPTH_MAX) return schema;
  if (typeof schema.$ref === "string") return onlyReferences(schema, depth);
  const result: Record<string, unknown> = { ...schema };
  if (schema.const !== undefined) {
    delete result.const;
    result.enum ??= [schema.const];
  }
  if (isObject(schema.items)) result.items = acceptedSchema(schema.items, depth + 1);
  if (isObject(schema.additionalProperties)) {
    result.additionalProperties = acceptedSchema(schema.additionalProperties, depth + 1);
  }
  for (const name of LISTS) {
    const list = schema[name];
    if (Array.isArray(list)) result[name] = list.map((item) => acceptedSchema(item, depth + 1));
  }
  for (const name of MAPS) if (isObject(schema[name])) result[name] = acceptedMap(schema[name], depth + 1);
  return result;
}

function onlyReferences(schema: JsonObject, depth: number): JsonObject {
  const kept = Object.entries(schema).filter(([name]) => name.startsWith("$"));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === "$defs" && isObject(value) ? acceptedMap(value, depth + 1) : value]),
  );
}

function acceptedMap(map: JsonObject, depth: number): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, item]) => [name, acceptedSchema(item, depth)]));
}
