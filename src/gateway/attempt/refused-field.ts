// When a provider refuses a field of the request: whether the request may go without it, and how.

import type { Dialect, Model } from "../../core/model.ts";
import { BETA_HEADER, PREFILL, THINKING_HISTORY } from "../../formats/anthropic/errors.ts";
import type { ClientRequest } from "../../formats/format.ts";
import { isObject, type JsonObject } from "../../formats/wire/fields.ts";

// Without one of these the answer would not be what was asked for; the next model is tried with it instead.
const ESSENTIAL: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "n",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "response_format",
  "system",
  "output_format",
  "mcp_servers",
  "container",
]);

/** Parts of a request that no top-level field names but that a provider may refuse by themselves. */
const SEPARABLE: ReadonlySet<string> = new Set([THINKING_HISTORY, PREFILL, BETA_HEADER]);

/** What conversion writes for a wish that can go unfulfilled: thinking, effort, the name of a user. */
const WRITTEN_BY_US: ReadonlySet<string> = new Set(["thinking", "output_config", "metadata"]);

export function mayLeaveOut(field: string, { body, chat, toChat, format }: ClientRequest): boolean {
  // In a stream we ask for usage ourselves, so this one can be refused although the client never sent it.
  if (field === "stream_options") return chat.isStream;
  if (SEPARABLE.has(field)) return true;
  if (field === "output_config" && hasAnswerForm(body)) return false;
  if (format === "openai" && WRITTEN_BY_US.has(field)) return true;
  // What was converted may have fields that the client never wrote.
  return (body[field] !== undefined || toChat !== undefined) && !ESSENTIAL.has(field);
}

/** Effort can be done without; the form of the answer, which stands in the same field, cannot. */
function hasAnswerForm({ output_config: output, response_format: format }: JsonObject): boolean {
  return format !== undefined || (isObject(output) && output.format !== undefined);
}

/** The model as it is to be addressed without these fields: a cap goes under its other name, so that it still holds. */
export function avoiding(model: Model, refusedFields: readonly string[]): Model {
  if (refusedFields.length === 0) return model;
  const changes: Partial<Dialect> = {
    ...(refusedFields.includes("max_tokens") ? { outputCap: "max_completion_tokens" } : {}),
    ...(refusedFields.includes("max_completion_tokens") ? { outputCap: "max_tokens" } : {}),
    ...(refusedFields.includes("stream_options") ? { takesStreamOptions: false } : {}),
  };
  return { ...model, dialect: { ...model.dialect, ...changes } };
}
