// Token counts as a chat-completions provider reports them, in whichever place it puts them.
// Counts that cannot be true are treated as missing.

import type { Usage } from "../core/chat.ts";
import { isObject, type JsonObject } from "./fields.ts";

const TOKENS_MAX = 1e9;

export function readUsage(carrier: JsonObject): Usage | null {
  const groq = isObject(carrier.x_groq) ? carrier.x_groq.usage : null;
  const usage = carrier.usage ?? groq;
  if (!isObject(usage)) return null;
  const prompt = usage.prompt_tokens;
  const completion = usage.completion_tokens ?? 0;
  if (!isCount(prompt) || !isCount(completion)) return null;
  return { ...usage, prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
