// Writes a whole chat-completions response for a client. The bytes stay the same apart from the model name, missing
// usage, fields that hosts leave out, and the added `service` object.

import type { ResponseAdditions, ResponseContext, WholeResponse } from "../format.ts";
import { isObject, objectsIn } from "../json/fields.ts";
import { sourceOf, spliceFields } from "../json/splice.ts";
import { SERVICE_TIER } from "../provider/service-tier.ts";
import type { JsonSource } from "../scan/scan.ts";
import { uniqueToolId, withTextArguments, withWholeArguments } from "../tools/calls.ts";
import { readsFunctionCalls, withFunctionCall } from "./old-functions.ts";
import { FILTERED, hasMessage, normalFinish } from "./read-response.ts";
import { withCitations } from "./search.ts";
import { writeUsage } from "./usage.ts";

/** The finish of a whole response that does not name one. A stream without it is broken. */
const WHOLE = "stop";

/** From a provider of another format, or put together by the gateway: the converted completion. */
export function writeOpenaiResponse(
  response: WholeResponse,
  context: ResponseContext,
  additions: ResponseAdditions,
): Buffer {
  const { completion } = response;
  const choices = objectsIn(completion.choices).map(withCitations);
  const shown = response.isComposed === true ? { ...response, completion: { ...completion, choices } } : response;
  return complete(sourceOf(shown.completion), { response: shown, context, additions });
}

/** From a provider of this format: its own bytes. */
export function passOpenaiResponse(
  response: WholeResponse,
  context: ResponseContext,
  additions: ResponseAdditions,
): Buffer {
  return complete(response.native.source, { response, context, additions });
}

interface Completing {
  readonly response: WholeResponse;
  readonly context: ResponseContext;
  readonly additions: ResponseAdditions;
}

function complete(source: JsonSource, { response, context, additions }: Completing): Buffer {
  const { completion } = response;
  const changes = new Map<string, string>();
  // A stored completion is read again by its id, and hosts may give one id twice.
  if (context.kept !== undefined)
    changes.set("id", JSON.stringify(completionIdOf(context.answerId ?? context.requestId)));
  else if (typeof completion.id !== "string") changes.set("id", JSON.stringify(`chatcmpl-${context.requestId}`));
  if (completion.object !== "chat.completion") changes.set("object", '"chat.completion"');
  if (!Number.isInteger(completion.created)) changes.set("created", String(context.createdAtSeconds));
  changes.set("model", JSON.stringify(context.modelId));
  const given = completion.choices as readonly unknown[];
  const completed = completeChoices(given, context);
  const choices = readsFunctionCalls(context) ? objectsIn(completed ?? given).map(withFunctionCall) : completed;
  if (choices !== null) changes.set("choices", JSON.stringify(choices));
  const usage = additions.usage === null ? correctedUsage(response) : writeUsage(additions.usage);
  if (usage !== null) changes.set("usage", JSON.stringify(usage));
  const serviceTier = response.usage?.serviceTier;
  if (serviceTier !== undefined && completion[SERVICE_TIER] === undefined) {
    changes.set(SERVICE_TIER, JSON.stringify(serviceTier));
  }
  changes.set("service", JSON.stringify(additions.service));
  return spliceFields(source, changes);
}

export function completionIdOf(answerId: string): string {
  return `chatcmpl-${answerId}`;
}

/** Returns corrected counts; null when those given stand where clients look for them and are charged. */
function correctedUsage({ completion: { usage: given }, usage }: WholeResponse): object | null {
  if (usage === null) return null;
  const counted = writeUsage(usage);
  return isObject(given) && COUNTS.every((name) => given[name] === counted[name]) ? null : counted;
}

/** The counters clients read. */
const COUNTS = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;

/** Choices with what some hosts leave out or name otherwise, or null when they are fine as they are. */
function completeChoices(choices: readonly unknown[], context: ResponseContext): readonly unknown[] | null {
  let isChanged = false;
  const completed = choices.map((choice, index) => {
    if (!hasMessage(choice)) return choice;
    const calls = choice.message.tool_calls;
    const finish = normalFinish(choice.finish_reason ?? WHOLE, Array.isArray(calls) && calls.length > 0);
    const hasIndex = Number.isInteger(choice.index);
    const hasRole = typeof choice.message.role === "string";
    const isCut = finish === "length" || finish === FILTERED;
    const completed = completeCalls(calls, isCut, context);
    if (finish === choice.finish_reason && hasIndex && hasRole && completed === calls) return choice;
    isChanged = true;
    const said = completed === calls ? choice.message : { ...choice.message, tool_calls: completed };
    const message = hasRole ? said : { role: "assistant", ...said };
    return { ...choice, index: hasIndex ? choice.index : index, message, finish_reason: finish };
  });
  return isChanged ? completed : null;
}

/** The same calls when each has an id, a type and arguments as text, which clients need to answer them. */
function completeCalls(calls: unknown, isCut: boolean, context: ResponseContext): unknown {
  if (!Array.isArray(calls)) return calls;
  const completed = calls.map((call: unknown, index) => {
    if (!isObject(call)) return call;
    const id = uniqueToolId(typeof call.id === "string" ? call.id : "", index, context);
    const said = isCut ? withTextArguments(call) : withWholeArguments(call);
    if (said === call && id === call.id && typeof call.type === "string") return call;
    return { ...said, id, type: call.type ?? "function" };
  });
  return completed.every((call, index) => call === calls[index]) ? calls : completed;
}
