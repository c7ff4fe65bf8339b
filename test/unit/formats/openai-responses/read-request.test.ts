// A Responses request as a chat-completions provider gets it: items of one turn together, results behind their calls,
// tools that any model can call, and nothing lost without a word.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { sealDetail } from "../../../../src/formats/convert/reasoning-details.ts";
import { fc } from "../../../support/property.ts";
import type { Json } from "../anthropic/exchange.ts";
import { read, send } from "./exchange.ts";

const user = (content: unknown): object => ({ role: "user", content });
const call = (id: string, name = "f"): object => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: `{"id":"${id}"}`,
});
const result = (id: string, output: unknown = `result ${id}`): object => ({
  type: "function_call_output",
  call_id: id,
  output,
});
const reasoning = (text: string, extra: object = {}): object => ({
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text }],
  ...extra,
});
const said = (text: string): object => ({
  type: "message",
  role: "assistant",
  id: "msg_1",
  content: [{ type: "output_text", text, annotations: [] }],
});
const messagesFor = (input: unknown, model = {}): readonly Json[] =>
  send({ input }, model).json.messages as readonly Json[];
const rolesFor = (input: unknown): readonly unknown[] => messagesFor(input).map(({ role }) => role);

describe("history", () => {
  it("parallel calls become one assistant message, followed by their results", () => {
    const messages = messagesFor([
      user("weather?"),
      reasoning("Two cities."),
      said("Let me look."),
      call("call_a"),
      call("call_b"),
      result("call_b"),
      result("call_a"),
    ]);
    expect(messages).toEqual([
      user("weather?"),
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          { id: "call_a", type: "function", function: { name: "f", arguments: '{"id":"call_a"}' } },
          { id: "call_b", type: "function", function: { name: "f", arguments: '{"id":"call_b"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_a", content: "result call_a" },
      { role: "tool", tool_call_id: "call_b", content: "result call_b" },
    ]);
  });

  it("calls one after another stay apart", () => {
    const input = [user("go"), call("a"), result("a"), call("b"), result("b"), said("Done.")];
    expect(rolesFor(input)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"]);
  });

  it("one id in two turns keeps both results", () => {
    const input = [user("go"), call("a"), result("a", "one"), user("again"), call("a"), result("a", "two")];
    const results = messagesFor(input).filter(({ role }) => role === "tool");
    expect(results.map(({ content }) => content)).toEqual(["one", "two"]);
  });

  it("of a repeated result the last counts, and a late one is found", () => {
    const input = [user("go"), call("a"), call("b"), result("a", "old"), said("Hm."), result("b"), result("a", "new")];
    const messages = messagesFor(input);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(messages.slice(2, 4).map(({ content }) => content)).toEqual(["new", "result b"]);
  });

  it("a call without a result gets one, and a result without a call becomes text", () => {
    const sent = send({ input: [call("a"), user("?"), result("gone", "42")] });
    expect(sent.json.messages).toMatchObject([
      { role: "assistant" },
      { role: "tool", tool_call_id: "a", content: "[no result]" },
      { role: "user", content: "?" },
      { role: "user", content: expect.stringContaining("Result of an earlier tool call:\n42") },
    ]);
    expect(sent.conversions).toEqual([
      "added an empty result for a tool call that had none",
      "turned a tool result without its call into text",
    ]);
  });

  it("images of results follow all tool messages", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" };
    const output = [{ type: "input_text", text: "Here:" }, image];
    const messages = messagesFor([user("go"), call("a"), call("b"), result("a", output), result("b")]);
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "Here:\n[image in the next user message]" },
      { role: "tool", tool_call_id: "b", content: "result b" },
      {
        role: "user",
        content: [
          { type: "text", text: expect.stringContaining("What the tool call a returned besides text:") },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } },
        ],
      },
    ]);
  });

  it("custom calls become functions with one text argument", () => {
    const custom = { type: "custom_tool_call", call_id: "p", name: "apply_patch", input: '*** "Begin"\n' };
    const output = { type: "custom_tool_call_output", call_id: "p", output: "ok" };
    expect(messagesFor([user("go"), custom, output]).slice(1)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "p", type: "function", function: { name: "apply_patch", arguments: '{"input":"*** \\"Begin\\"\\n"}' } },
        ],
      },
      { role: "tool", tool_call_id: "p", content: "ok" },
    ]);
  });

  it("items that only other services know are dropped with a note", () => {
    const sent = send({
      input: [user("go"), { type: "web_search_call", id: "ws_1", status: "completed" }, said("ok"), user("?")],
    });
    expect((sent.json.messages as Json[]).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(sent.conversions).toEqual([
      "dropped 'web_search_call' from earlier turns: only providers of the Responses API can read it",
    ]);
  });

  it("has no assistant messages in a row, and one result for each call, whatever the order", () => {
    const items = fc.array(
      fc.oneof(
        fc.constantFrom(user("u"), said("s"), reasoning("r"), { type: "web_search_call", id: "w" }),
        fc.nat(3).map((id) => call(`c${id}`)),
        fc.nat(3).map((id) => result(`c${id}`)),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(items, (input) => {
        const messages = messagesFor([user("begin"), ...input]);
        const roles = messages.map(({ role }) => role);
        expect(roles.filter((role, index) => role === "assistant" && roles[index + 1] === "assistant")).toEqual([]);
        for (const [index, message] of messages.entries()) {
          const ids = ((message.tool_calls ?? []) as Json[]).map(({ id }) => id);
          const following = messages.slice(index + 1, index + 1 + ids.length);
          expect(following.map(({ tool_call_id: id }) => id)).toEqual(ids);
        }
        const results = roles.filter((role) => role === "tool").length;
        expect(results).toBe(input.filter((item) => (item as Json).type === "function_call").length);
      }),
    );
  });
});

describe("reasoning of earlier turns", () => {
  const input = [user("go"), reasoning("Hm."), call("a"), result("a")];

  it("goes back to hosts that demand it, and to no other", () => {
    const keeps = { dialect: { reasoningHistory: "tool-turns" } } as object;
    expect(messagesFor(input, keeps)[1]).toMatchObject({ reasoning_content: "Hm." });
    expect(messagesFor(input)[1]).not.toHaveProperty("reasoning_content");
  });

  it("that we sealed is opened again, and what a vendor encrypted is not", () => {
    const detail = { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "sig" } as const;
    const of = (encrypted: string): unknown =>
      read({ input: [user("go"), reasoning("Hm.", { encrypted_content: encrypted }), said("ok"), user("?")] }).chat
        .messages[1];
    expect(of(sealDetail(detail))).toMatchObject({ reasoning_details: [detail] });
    expect(of("gAAAAABvendor")).not.toHaveProperty("reasoning_details");
  });

  it("never reaches a chat-completions host as an entry", () => {
    const detail = { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "sig" } as const;
    const sealed = reasoning("Hm.", { encrypted_content: sealDetail(detail) });
    expect(JSON.stringify(messagesFor([user("go"), sealed, said("ok"), user("?")]))).not.toContain("sig");
  });
});

describe("content", () => {
  it("of all kinds keeps its form", () => {
    const parts = [
      { type: "input_text", text: "Look:" },
      { type: "input_image", image_url: "https://example.com/a.png", detail: "auto" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
      { type: "input_file", file_id: "file_1" },
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
    ];
    expect(messagesFor([user(parts)])[0]?.content).toEqual([
      { type: "text", text: "Look:" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
      { type: "file", file: { file_id: "file_1" } },
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
    ]);
  });

  it("of instructions, developers and text in parts becomes plain messages", () => {
    const input = [
      { role: "developer", content: "Be kind." },
      user([
        { type: "input_text", text: "a" },
        { type: "input_text", text: "b" },
      ]),
    ];
    expect(send({ input, instructions: "Be brief." }).json.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "developer", content: "Be kind." },
      { role: "user", content: "a\n\nb" },
    ]);
  });

  it.each([
    ["an image by file id", [user([{ type: "input_image", file_id: "file_1" }])]],
    ["a file by URL", [user([{ type: "input_file", file_url: "https://example.com/a.pdf" }])]],
    ["a part of another service", [user([{ type: "computer_screenshot" }])]],
    ["a compaction", [{ type: "compaction", encrypted_content: "x" }, user("go")]],
  ])("%s needs a provider of the same format", (_name, input) => {
    expect(read({ input }).nativeNeeds).toHaveLength(1);
    expect(() => send({ input })).toThrow("The model cannot be asked this");
  });
});

describe("tools", () => {
  const find = { type: "function", name: "find", description: "Finds", parameters: { type: "object" }, strict: true };
  const patch = {
    type: "custom",
    name: "apply_patch",
    description: "Edits files.",
    format: { type: "grammar", syntax: "lark", definition: "start: WORD" },
  };
  const namespace = { type: "namespace", name: "crm", description: "CRM", tools: [{ type: "function", name: "find" }] };
  const search = { type: "web_search" };
  const names = (body: object): readonly unknown[] =>
    ((send(body).json.tools ?? []) as Json[]).map(({ function: inner }) => (inner as Json).name);

  it("of every callable kind become functions", () => {
    const { json, conversions } = send({ tools: [find, patch, namespace, search] });
    expect(json.tools).toEqual([
      {
        type: "function",
        function: { name: "find", parameters: { type: "object" }, description: "Finds", strict: true },
      },
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: "Edits files.\n\nThe input must match this lark grammar:\nstart: WORD",
          parameters: expect.objectContaining({ required: ["input"] }),
        },
      },
      { type: "function", function: { name: "crm__find", parameters: { type: "object", properties: {} } } },
    ]);
    expect(conversions).toEqual([
      "dropped the tool 'web_search': only providers of the Responses API run it",
      "turned custom tools into functions with one text argument",
      "changed tool names: chat-completions takes 64 plain characters",
    ]);
  });

  it("that were loaded in the middle of a conversation are there", () => {
    const input = [user("go"), { type: "additional_tools", role: "developer", tools: [find, patch] }];
    expect(names({ input, tools: [find] })).toEqual(["find", "apply_patch"]);
  });

  it.each([
    ["auto", "auto"],
    ["required", "required"],
    ["none", "none"],
    [
      { type: "function", name: "find" },
      { type: "function", function: { name: "find" } },
    ],
    [
      { type: "custom", name: "apply_patch" },
      { type: "function", function: { name: "apply_patch" } },
    ],
    [{ type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "find" }] }, "required"],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "custom", name: "apply_patch" }] }, "auto"],
  ])("choice %j", (choice, expected) => {
    expect(send({ tools: [find, patch], tool_choice: choice }).json.tool_choice).toEqual(expected);
  });

  it("that are not allowed are not sent", () => {
    const allowed = [{ type: "function", name: "find" }];
    const choice = { type: "allowed_tools", mode: "auto", tools: allowed };
    expect(names({ tools: [find, patch, search], tool_choice: choice })).toEqual(["find"]);
  });

  it.each([
    ["alone", { tools: [search] }, ["web_search"]],
    ["alone, several", { tools: [search, { type: "mcp", server_label: "x" }] }, ["web_search", "mcp"]],
    ["forced", { tools: [find, search], tool_choice: { type: "web_search" } }, ["web_search"]],
    [
      "the only one allowed",
      { tools: [find, search], tool_choice: { type: "allowed_tools", mode: "required", tools: [search] } },
      ["web_search"],
    ],
    ["switched off", { tools: [search], tool_choice: "none" }, []],
    ["a helper", { tools: [{ type: "tool_search" }] }, []],
  ])("built in, %s", (_name, body, needed) => {
    const needs = needed.map((type) => `the tool '${type}' is run only by providers of the Responses API`);
    expect(read(body).nativeNeeds).toEqual(needs);
    expect(read(body).nativeWishes).toEqual([]);
    if (needed.length > 0) expect(() => send(body)).toThrow("The model cannot be asked this");
    else expect(JSON.stringify(send(body).json)).not.toContain("web_search");
  });

  it.each([
    ["any choice", "auto", ["web_search"]],
    ["none", "none", []],
    ["others allowed", { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "find" }] }, []],
    [
      "both allowed",
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "find" }, search] },
      ["web_search"],
    ],
  ])("built in beside others are wished for, %s", (_name, choice, wished) => {
    const body = { tools: [find, search, { type: "tool_search" }], tool_choice: choice };
    const wishes = wished.map((type) => `the tool '${type}' is run only by providers of the Responses API`);
    expect(read(body)).toMatchObject({ nativeNeeds: [], nativeWishes: wishes });
    expect(JSON.stringify(send(body).json)).not.toContain("web_search");
  });

  it("one at a time, when asked", () => {
    expect(send({ tools: [find], parallel_tool_calls: false }).json.parallel_tool_calls).toBe(false);
    expect(send({ tools: [find], parallel_tool_calls: true }).json).not.toHaveProperty("parallel_tool_calls");
    expect(send({ parallel_tool_calls: false }).json).not.toHaveProperty("parallel_tool_calls");
  });
});

describe("fields", () => {
  it("that chat-completions has are sent under its names", () => {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const { json, conversions } = send(
      {
        max_output_tokens: 99,
        temperature: 0,
        top_p: 0.5,
        top_logprobs: 2,
        user: "u",
        safety_identifier: "s",
        prompt_cache_key: "k",
        reasoning: { effort: "high", summary: "auto" },
        text: { verbosity: "low", format: { type: "json_schema", name: "n", schema, strict: true } },
        ...{ metadata: { a: "b" }, store: true, include: [], stream_options: {}, truncation: "disabled" },
        service_tier: "flex",
      },
      { capabilities: ["reasoning", "json"] },
    );
    expect(json).toMatchObject({
      max_tokens: 99,
      temperature: 0,
      top_p: 0.5,
      logprobs: true,
      top_logprobs: 2,
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      reasoning_effort: "high",
      verbosity: "low",
      response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
    });
    const unsent = ["metadata", "store", "include", "truncation", "service_tier", "input", "text", "reasoning"];
    expect(unsent.filter((name) => name in json)).toEqual([]);
    expect(conversions).toEqual(["served at the usual service tier instead of 'flex': its price is not known"]);
  });

  it("that it does not have are dropped with a note", () => {
    expect(send({ truncation: "auto", context_management: [{}], max_tool_calls: 3 }).conversions).toEqual([
      "dropped 'truncation': only providers of the Responses API have it",
      "dropped 'context_management': only providers of the Responses API have it",
      "dropped 'max_tool_calls': only providers of the Responses API have it",
    ]);
  });

  it.each([
    [{ input: undefined }, "input"],
    [{ input: null }, "input"],
    [{ input: 5 }, "input"],
    [{ input: [] }, "input"],
    [{ input: ["x"] }, "input[0]"],
    [{ input: [{}] }, "input[0].type"],
    [{ input: [{ type: 5, role: "user", content: "x" }] }, "input[0].type"],
    [{ input: [{ role: "robot", content: "x" }] }, "input[0].role"],
    [{ input: [{ role: "user" }] }, "input[0].content"],
    [{ input: [{ role: "user", content: [{ text: "x" }] }] }, "input[0].content[0]"],
    [{ input: [{ role: "user", content: [{ type: "input_text" }] }] }, "input[0].content[0].text"],
    [{ input: [{ type: "function_call", name: "f", arguments: "{}" }] }, "input[0].call_id"],
    [{ input: [{ type: "function_call_output", call_id: "a" }] }, "input[0].output"],
    [{ input: [{ type: "web_search_call", id: "ws" }] }, "input"],
    [{ tools: [{ type: "function", function: { name: "f" } }] }, "tools[0].name"],
    [{ tools: [{ name: "f" }] }, "tools[0]"],
    [{ tool_choice: 5 }, "tool_choice"],
    [{ text: { format: "json" } }, "text.format"],
    [{ include: "reasoning" }, "include"],
    [{ max_output_tokens: 0 }, "max_output_tokens"],
    [{ temperature: 3 }, "temperature"],
  ])("wrong: %j", (body, param) => {
    const error = errorOf(() => read(body));
    expect([error.status, error.details.param]).toEqual([400, param]);
  });

  it("a reference to an item that is not stored is 404", () => {
    const error = errorOf(() => read({ input: [{ type: "item_reference", id: "rs_1" }] }));
    expect([error.status, error.details.param, error.message]).toEqual([
      404,
      "input",
      "Item with id 'rs_1' not found. Send the item itself instead of a reference.",
    ]);
    expect(errorOf(() => read({ input: [{ id: "rs_1" }] })).status).toBe(404);
  });
});

function errorOf(reading: () => unknown): GatewayError {
  try {
    reading();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error("it was read");
}
