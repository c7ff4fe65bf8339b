// Why an answer ended, in the words of both formats.

import { normalFinish } from "../openai-chat/finish-reason.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export interface Ending {
  readonly finish: unknown;
  readonly hasToolCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Some hosts say `stop` although they called a tool, and a refusal is one whatever the finish says. */
export function stopReasonFor({ finish, hasToolCalls, hasRefusal }: Ending): string {
  if (hasRefusal) return "refusal";
  const named = normalFinish(finish, hasToolCalls);
  return STOP_REASONS[String(named)] ?? (hasToolCalls ? "tool_use" : "end_turn");
}

export function finishReasonFor(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? "stop";
}
