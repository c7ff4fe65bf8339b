// Token counts as a chat-completions provider reports them, in whichever place it puts them.
// Counts that cannot be true are treated as missing.

import type { Usage } from "../../core/chat.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";

const TOKENS_MAX = 1e9;

export function readUsage(carrier: JsonObject): Usage | null {
  const groq = isObject(carrier.x_groq) ? carrier.x_groq.usage : null;
  const usage = carrier.usage ?? groq;
  if (!isObject(usage)) return null;
  const prompt = usage.prompt_tokens;
  const completion = usage.completion_tokens ?? 0;
  if (!isCount(prompt) || !isCount(completion)) return null;
  const output = completion + thoughtsBeside(usage, prompt + completion);
  return { ...usage, prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
}

/**
 * Some hosts count what a model thought beside what it said, name it, and have it in their total. It is output, and they
 * bill it. A total that is wrong in any other way says nothing.
 */
function thoughtsBeside(
  { total_tokens: total, completion_tokens_details: details }: JsonObject,
  counted: number,
): number {
  const thoughts = isObject(details) ? details.reasoning_tokens : 0;
  return isCount(thoughts) && total === counted + thoughts ? thoughts : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
