// Finish reasons of all hosts in the words of chat-completions.

const NAMES: Readonly<Record<string, string>> = {
  eos: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  STOP: "stop",
  max_tokens: "length",
  model_length: "length",
  MAX_TOKENS: "length",
  tool_use: "tool_calls",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
};

/** Some hosts say `stop` although they called a tool; clients wait for `tool_calls`. */
export function normalFinish(reason: unknown, hasToolCalls: boolean): unknown {
  if (typeof reason !== "string") return reason;
  const named = NAMES[reason] ?? reason;
  return named === "stop" && hasToolCalls ? "tool_calls" : named;
}
