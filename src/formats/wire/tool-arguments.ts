// The arguments of a tool call are JSON as text. Some hosts send the object itself, which no client can parse.

import { isObject, type JsonObject } from "./fields.ts";

/** The same call where its arguments are text, or not there at all. */
export function withTextArguments(call: JsonObject): JsonObject {
  const { function: called } = call;
  if (!isObject(called) || !isObject(called.arguments)) return call;
  return { ...call, function: { ...called, arguments: JSON.stringify(called.arguments) } };
}
