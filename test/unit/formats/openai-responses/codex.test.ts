// A turn of Codex, with the fields that it sends: what a model of another vendor gets of it, and what routing reads.

import { expect, it } from "vitest";
import type { Json } from "../anthropic/exchange.ts";
import { read, send } from "./exchange.ts";

const message = (role: string, text: string): object => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
});
const CODEX = {
  model: "auto",
  instructions: "You are a coding agent.",
  input: [
    message("developer", "<permissions instructions>Ask before you write.</permissions instructions>"),
    message("user", "<environment_context><cwd>/src</cwd></environment_context>"),
    message("user", "Fix the failing test."),
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Look first." }],
      encrypted_content: "gAAAAAB",
    },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "shell", arguments: '{"command":["ls"]}' },
    { type: "function_call", id: "fc_2", call_id: "call_2", name: "shell", arguments: '{"command":["cat","a.ts"]}' },
    { type: "function_call_output", call_id: "call_1", output: "a.ts" },
    { type: "function_call_output", call_id: "call_2", output: "let a = 1" },
    { type: "custom_tool_call", id: "ctc_1", call_id: "call_3", name: "apply_patch", input: "*** Begin Patch" },
    { type: "custom_tool_call_output", call_id: "call_3", output: "Done!" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
  ],
  tools: [
    { type: "function", name: "shell", description: "Runs a command", strict: false, parameters: { type: "object" } },
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits files.",
      format: { type: "grammar", syntax: "lark", definition: "start: begin_patch" },
    },
    { type: "web_search", external_web_access: false },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "medium", summary: "auto" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "01a2",
  text: { verbosity: "low" },
  service_tier: "priority",
  client_metadata: { session: "x" },
};

it("reaches a chat-completions model with nothing that it could not read", () => {
  const { json, conversions } = send(CODEX, { capabilities: ["tools", "reasoning"] });
  const messages = json.messages as readonly Json[];
  expect(messages.map(({ role }) => role)).toEqual([
    ...["system", "developer", "user", "user", "assistant", "tool", "tool", "assistant", "tool"],
  ]);
  expect(messages[4]?.tool_calls).toMatchObject([{ id: "call_1" }, { id: "call_2" }]);
  expect(messages[7]?.tool_calls).toMatchObject([
    { function: { name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' } },
  ]);
  expect(Object.keys(json).sort()).toEqual([
    ...["messages", "model", "prompt_cache_key", "reasoning_effort", "stream", "stream_options", "tool_choice"],
    ...["tools", "verbosity"],
  ]);
  expect(JSON.stringify(json)).not.toMatch(/gAAAAAB|web_search|priority/);
  expect(conversions).toEqual([
    "dropped 'web_search_call' from earlier turns: only providers of the Responses API can read it",
    "dropped the tool 'web_search': only providers of the Responses API run it",
    "turned custom tools into functions with one text argument",
    "dropped 'client_metadata': only providers of the Responses API have it",
    "served at the usual service tier instead of 'priority': its price is not known",
  ]);
});

it("is read by routing as chat would be", () => {
  const { chat, nativeNeeds, controls } = read(CODEX);
  expect(nativeNeeds).toEqual([]);
  expect(controls).toMatchObject({ profile: "auto", forcedTier: null });
  expect(chat).toMatchObject({ isStream: true, wantsUsage: true, maxOutputTokens: null });
  expect(chat.tools.map(({ name }) => name)).toEqual(["shell", "apply_patch"]);
});
