// Anything at any place of a request: it is read and written for each provider, or refused with a reason. Values are such
// that JavaScript cannot turn them into text by itself.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/core/errors.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../src/formats/bridge.ts";
import type { CallFormat } from "../../../src/formats/format.ts";
import { geminiClient } from "../../../src/formats/gemini/client.ts";
import { gemini } from "../../../src/formats/gemini/codec.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { decide } from "../../../src/routing/decide.ts";
import { featuresOf } from "../../../src/telemetry/features.ts";
import { makeCatalog, makeModel, makeQuestion } from "../../support/catalog.ts";

const ODD: readonly unknown[] = [{ toString: 1 }, [{ toString: 1 }], ["a b"], 5.5, null];

const SCHEMA = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
const IMAGE = "data:image/png;base64,aGk=";

const CHAT = {
  max_tokens: 50,
  stop: ["x"],
  metadata: { a: "b" },
  response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } },
  tool_choice: { type: "function", function: { name: "f" } },
  tools: [{ type: "function", function: { name: "f", description: "d", parameters: SCHEMA } }],
  messages: [
    { role: "system", content: "Be short." },
    { role: "user", name: "bob", content: [{ type: "image_url", image_url: { url: IMAGE, detail: "low" } }] },
    { role: "user", content: [{ type: "file", file: { filename: "a.txt", file_data: IMAGE } }] },
    { role: "user", content: [{ type: "input_audio", input_audio: { format: "wav", data: "aGk=" } }] },
    {
      role: "assistant",
      content: [{ type: "refusal", refusal: "no" }],
      reasoning_details: [{ type: "reasoning.text", text: "x", signature: "s", index: 0 }],
      tool_calls: [
        { id: "call 1", type: "function", function: { name: "f", arguments: '{"q":"a"}' } },
        { id: "call_2", type: "custom", custom: { name: "g", input: "x" } },
      ],
    },
    { role: "tool", tool_call_id: "call 1", content: "result" },
    { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "r" }] },
    { role: "assistant", content: "ok", function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "r" },
    { role: "user", content: "And now?" },
  ],
};

const MESSAGES = {
  max_tokens: 50,
  stop_sequences: ["x"],
  metadata: { user_id: "u" },
  system: [{ type: "text", text: "Be short.", cache_control: { type: "ephemeral", ttl: "5m" } }],
  thinking: { type: "enabled", budget_tokens: 1024 },
  tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
  output_config: { effort: "low", format: { type: "json_schema", schema: SCHEMA } },
  tools: [
    { name: "f", description: "d", input_schema: SCHEMA, cache_control: { type: "ephemeral" } },
    { type: "web_search_20250305", name: "web_search", max_uses: 2 },
  ],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Hi" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
        { type: "document", title: "t", source: { type: "text", media_type: "text/plain", data: "d" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "tool_use", id: "toolu 1", name: "f", input: { q: "a" } },
        { type: "server_tool_use", id: "srv", name: "web_search", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu 1", is_error: false, content: [{ type: "text", text: "r" }] },
        { type: "tool_result", tool_use_id: "lost", content: "r" },
        { type: "text", text: "And?" },
      ],
    },
  ],
};

const RESPONSES = {
  store: false,
  instructions: "Be short.",
  reasoning: { effort: "low", summary: "auto" },
  text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: SCHEMA } },
  tool_choice: { type: "function", name: "f" },
  tools: [
    { type: "function", name: "f", description: "d", parameters: SCHEMA },
    { type: "custom", name: "g", format: { type: "grammar", syntax: "lark", definition: "x" } },
    { type: "namespace", name: "ns", tools: [{ type: "function", name: "h", parameters: SCHEMA }] },
  ],
  input: [
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Hi" },
        { type: "input_image", image_url: IMAGE, detail: "low" },
        { type: "input_file", filename: "a.txt", file_data: IMAGE },
      ],
    },
    { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "s" }], encrypted_content: "e" },
    {
      type: "message",
      role: "assistant",
      content: [
        { type: "output_text", text: "ok" },
        { type: "refusal", refusal: "no" },
      ],
    },
    { type: "function_call", call_id: "call 1", name: "f", namespace: "ns", arguments: '{"q":"a"}' },
    { type: "custom_tool_call", call_id: "call_2", name: "g", input: "x" },
    { type: "function_call_output", call_id: "call 1", output: "r" },
    { type: "custom_tool_call_output", call_id: "call_2", output: [{ type: "input_text", text: "r" }] },
    { role: "user", content: "And?" },
  ],
};

const GEMINI = {
  systemInstruction: { parts: [{ text: "Be short." }] },
  generationConfig: {
    stopSequences: ["x"],
    responseMimeType: "application/json",
    thinkingConfig: { thinkingBudget: 9 },
  },
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
  tools: [{ functionDeclarations: [{ name: "f", description: "d", parameters: SCHEMA }] }],
  contents: [
    {
      role: "user",
      parts: [
        { text: "Hi" },
        { inlineData: { mimeType: "image/png", data: "aGk=" } },
        { fileData: { mimeType: "image/png", fileUri: "http://x/y" } },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true, thoughtSignature: "s" },
        { functionCall: { id: "c 1", name: "f", args: { q: "a" } } },
        { executableCode: { language: "PYTHON", code: "1" } },
      ],
    },
    { role: "user", parts: [{ functionResponse: { id: "c 1", name: "f", response: { result: "r" } } }] },
    { role: "user", parts: [{ text: "And?" }] },
  ],
};

type Path = readonly string[];

function pathsOf(value: unknown, above: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...above, name], ...pathsOf(inner, [...above, name])]);
}

/** A copy with the value at that place. */
function withOdd(body: object, path: Path, odd: unknown): object {
  const copy = structuredClone(body);
  let holder = copy as Record<string, unknown>;
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  holder[path.at(-1) as string] = odd;
  return copy;
}

const { dialect } = makeModel();
const MODELS = [makeModel(), makeModel({ dialect: { ...dialect, toolIds: "safe-40", reasoningHistory: "keep" } })];
const PROVIDERS = [openaiChat, openaiResponses, anthropicMessages, gemini];
const catalog = makeCatalog();

/** The steps that may each say no. */
function stepsOf(format: CallFormat, body: object): readonly (() => unknown)[] {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify(body)));
  const read = () =>
    format.readRequest(source, parsed, { headers: {}, target: { model: "m", isStream: false, framing: "sse" } });
  const writes = PROVIDERS.flatMap((provider) =>
    MODELS.map(
      (model) => () => writeProviderRequest({ format, request: read() }, provider, { model, refusedFields: [] }),
    ),
  );
  return [
    read,
    () => decide(makeQuestion({ chat: read().chat }), catalog),
    () => featuresOf(read().chat, null),
    ...writes,
  ];
}

function surpriseOf(step: () => unknown): unknown {
  try {
    step();
    return null;
  } catch (error) {
    return error instanceof GatewayError ? null : error;
  }
}

describe.each([
  ["chat-completions", openaiChat, CHAT],
  ["Messages", anthropicMessages, MESSAGES],
  ["Responses", openaiResponses, RESPONSES],
  ["Gemini", geminiClient, GEMINI],
] as const)("a request in %s", (_name, format, body) => {
  it.each(pathsOf(body).map((path) => [path.join("."), path] as const))("with odd values as %s", (_place, path) => {
    for (const odd of ODD) {
      const surprises = stepsOf(format, withOdd(body, path, odd)).map(surpriseOf);
      expect(surprises, JSON.stringify(odd)).toEqual(surprises.map(() => null));
    }
  });
});
