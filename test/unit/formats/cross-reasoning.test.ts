// Signed reasoning in a tool loop between Messages and Responses, in both directions: each vendor gets its own back.

import { expect, it } from "vitest";
import { isSealed } from "../../../src/formats/convert/reasoning-details.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { answer, FORMATS, type Json, read, send } from "./anthropic/exchange.ts";

const { anthropic } = FORMATS;
const MODEL = { maxOutput: 64_000, capabilities: ["tools", "reasoning"] } as const;
const SCHEMA = { type: "object", properties: { path: { type: "string" } } };

it("a Messages client brings a Responses model its encrypted reasoning back, and Anthropic never gets it", () => {
  const request = {
    max_tokens: 4000,
    tools: [{ name: "read", input_schema: SCHEMA }],
    messages: [{ role: "user", content: "Go." }] as Json[],
  };
  const output = [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "gAAA" },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "read",
      arguments: '{"path":"a"}',
      status: "completed",
    },
  ];
  const usage = { input_tokens: 3, output_tokens: 9, total_tokens: 12 };
  const response = { id: "resp_1", object: "response", status: "completed", model: "m", output, usage };
  const { content } = answer([openaiResponses, anthropic], response, read(anthropic, request)) as { content: Json[] };
  expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
  const call = content[1] as Json;
  const result = { type: "tool_result", tool_use_id: call.id, content: "found" };
  const next = {
    ...request,
    messages: [...request.messages, { role: "assistant", content }, { role: "user", content: [result] }],
  };
  const { json } = send([anthropic, openaiResponses], next, { model: MODEL });
  const sent = json.input as Json[];
  expect(sent.find(({ type }) => type === "reasoning")).toMatchObject({ encrypted_content: "gAAA" });
  expect(sent.findIndex(({ type }) => type === "reasoning")).toBeLessThan(
    sent.findIndex(({ type }) => type === "function_call"),
  );
  const native = send([anthropic, anthropic], next, { model: MODEL });
  expect((native.json.messages as Json[])[1]?.content).toEqual([call]);
});

it("a Responses client brings Claude its signed thinking back, and a Responses model never gets it", () => {
  const request = {
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "read", parameters: SCHEMA }],
    input: [{ role: "user", content: "Go." }] as Json[],
  };
  const content = [
    { type: "thinking", thinking: "Hm.", signature: "EqQB" },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
  ];
  const usage = { input_tokens: 3, output_tokens: 9 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason: "tool_use",
    usage,
  };
  const { output } = answer([anthropic, openaiResponses], message, read(openaiResponses, request)) as {
    output: Json[];
  };
  const call = output.find(({ type }) => type === "function_call") as Json;
  const result = { type: "function_call_output", call_id: call.call_id, output: "found" };
  const next = { ...request, input: [...request.input, ...output, result] };
  const { json } = send([openaiResponses, anthropic], next, { model: MODEL });
  expect((json.messages as Json[])[1]).toEqual({ role: "assistant", content });
  const sealed = output.map((item) => item.encrypted_content).filter(isSealed);
  expect(sealed).toHaveLength(1);
  const native = send([openaiResponses, openaiResponses], next, { model: MODEL });
  expect(native.body.toString()).not.toContain(sealed[0]);
});
