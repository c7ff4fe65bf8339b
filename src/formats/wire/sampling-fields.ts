// Fields of the two formats that say how to answer, and that the gateway reads to convert them: checked for type and
// range as their vendors document them, so that what no provider takes is refused before anything is held or sent.

import {
  invalid,
  isObject,
  type JsonObject,
  readArray,
  readBoolean,
  readInteger,
  readNumber,
  readObject,
} from "./fields.ts";

export function checkChatFields(body: JsonObject): void {
  readNumber(body, "temperature", { min: 0, max: 2 });
  readNumber(body, "top_p", { min: 0, max: 1 });
  readNumber(body, "frequency_penalty", { min: -2, max: 2 });
  readNumber(body, "presence_penalty", { min: -2, max: 2 });
  readBoolean(body, "parallel_tool_calls");
  readObject(body, "response_format");
  checkTextOr(body, "stop", "an array of strings", isTexts);
  checkTextOr(body, "tool_choice", "an object", isObject);
}

export function checkMessagesFields(body: JsonObject): void {
  readNumber(body, "temperature", { min: 0, max: 1 });
  readNumber(body, "top_p", { min: 0, max: 1 });
  readInteger(body, "top_k", { min: 0, max: Number.MAX_SAFE_INTEGER });
  for (const name of ["thinking", "tool_choice", "output_config", "output_format", "metadata"]) readObject(body, name);
  if (!isTexts(readArray(body, "stop_sequences"))) {
    throw invalid("stop_sequences", "'stop_sequences' must be an array of strings.");
  }
}

function checkTextOr(body: JsonObject, name: string, what: string, isOther: (value: unknown) => boolean): void {
  const value = body[name] ?? "";
  if (typeof value !== "string" && !isOther(value)) throw invalid(name, `'${name}' must be a string or ${what}.`);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
