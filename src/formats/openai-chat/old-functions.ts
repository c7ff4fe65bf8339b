// Answers for clients that send `functions`, from before there were `tools`. They read one `function_call`, without an
// id, and no `tool_calls`.

import type { ResponseContext } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";

export function readsFunctionCalls({ request }: Pick<ResponseContext, "request">): boolean {
  const { functions, tools } = request?.body ?? {};
  return Array.isArray(functions) && functions.length > 0 && objectsIn(tools).length === 0;
}

/** The same choice where it calls nothing. */
export function withFunctionCall(choice: JsonObject): JsonObject {
  const finished = choice.finish_reason === "tool_calls" ? { ...choice, finish_reason: "function_call" } : choice;
  const name = isObject(choice.message) ? "message" : "delta";
  const said = choice[name];
  if (!isObject(said) || !Array.isArray(said.tool_calls)) return finished;
  const { tool_calls: calls, ...rest } = said;
  const called = firstCall(objectsIn(calls));
  return { ...finished, [name]: called === null ? rest : { ...rest, function_call: called } };
}

/** The format has room for one call, so others are left out. */
function firstCall(calls: readonly JsonObject[]): JsonObject | null {
  const pieces = calls.filter(({ index }, place) => (Number.isInteger(index) ? index === 0 : place === 0));
  if (pieces.length === 0) return null;
  const called = pieces.map((piece) => (isObject(piece.function) ? piece.function : {}));
  const named = called.find(({ name }) => typeof name === "string" && name !== "");
  const text = called.map((each) => textOrEmpty(each.arguments)).join("");
  return { ...(named === undefined ? {} : { name: named.name }), arguments: text };
}
