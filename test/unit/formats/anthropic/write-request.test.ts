// Chat-completions requests for a native Anthropic model: field by field, and what it cannot be asked.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import type { ModelOverrides } from "../../../support/catalog.ts";
import { FORMATS, type Json, send } from "./exchange.ts";

const { openai, anthropic } = FORMATS;
const TO_MESSAGES = [openai, anthropic] as const;
const USER = { role: "user", content: "Hi" };
const TURN = { role: "user", content: [{ type: "text", text: "Hi" }] };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const CLAUDE: ModelOverrides = {
  capabilities: ["tools", "reasoning"],
  dialect: { thinking: "adaptive", efforts: ["low", "high"] },
};
const OLDER: ModelOverrides = {
  capabilities: ["tools", "reasoning"],
  dialect: { thinking: "budget", efforts: [], takesPrefill: true },
};

describe("fields", () => {
  it.each<[string, ModelOverrides, Json, Json]>([
    ["the model's own limit when there is no cap", {}, {}, { max_tokens: 16_384 }],
    ["the newer cap before the older", {}, { max_tokens: 5, max_completion_tokens: 7 }, { max_tokens: 7 }],
    ["a cap within the model's limit", {}, { max_tokens: 99_999 }, { max_tokens: 16_384 }],
    ["a temperature of at most one", {}, { temperature: 2 }, { temperature: 1 }],
    [
      "no sampling for models that refuse it",
      { dialect: { refuses: ["temperature", "top_p"] } },
      { temperature: 0.2 },
      {},
    ],
    ["top_p alone", {}, { top_p: 0.5 }, { top_p: 0.5 }],
    ["stop as one text", {}, { stop: "END" }, { stop_sequences: ["END"] }],
    ["no blank stops", {}, { stop: ["", "\n"] }, {}],
    ["who is asking", {}, { user: "a", safety_identifier: "b" }, { metadata: { user_id: "b" } }],
    [
      "adaptive thinking with an effort",
      CLAUDE,
      { reasoning_effort: "xhigh", temperature: 0.5 },
      { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
    [
      "thinking with a budget on older models",
      OLDER,
      { reasoning_effort: "low" },
      { thinking: { type: "enabled", budget_tokens: 2048 } },
    ],
    ["no thinking without room", OLDER, { reasoning_effort: "high", max_tokens: 500 }, { max_tokens: 500 }],
    ["no thinking for effort none", CLAUDE, { reasoning_effort: "none" }, {}],
    [
      "OpenRouter's form of effort",
      CLAUDE,
      { reasoning: { effort: "low" } },
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    ],
    [
      "a prompt for JSON",
      {},
      { response_format: { type: "json_object" } },
      { system: [{ type: "text", text: expect.stringContaining("JSON") }] },
    ],
    ["nothing for plain text", {}, { response_format: { type: "text" } }, {}],
    [
      "a schema in words where there is no field for it",
      { dialect: { takesOutputFormat: false } },
      { response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } } },
      { system: [{ type: "text", text: expect.stringContaining('{"type":"object"}') }] },
    ],
  ])("%s", (_name, model, fields, expected) => {
    const { model: _, messages, ...json } = send(TO_MESSAGES, { messages: [USER], ...fields }, { model }).json;
    expect(messages).toEqual([TURN]);
    expect(json).toEqual({ max_tokens: 16_384, ...expected });
  });

  it("a field the provider has just refused", () => {
    const sent = send(TO_MESSAGES, { messages: [USER], top_p: 0.5 }, { refusedFields: ["top_p"] });
    expect(sent.json).not.toHaveProperty("top_p");
    expect(sent.droppedFields).toEqual(["top_p"]);
    expect(sent.headers).toEqual({ "anthropic-version": "2023-06-01" });
  });
});

describe("tool choice", () => {
  it.each<[unknown, boolean | null, unknown]>([
    ["auto", null, { type: "auto" }],
    ["required", null, { type: "any" }],
    ["none", false, { type: "none" }],
    [null, false, { type: "auto", disable_parallel_tool_use: true }],
    [null, true, undefined],
    [{ type: "auto" }, null, { type: "auto" }],
    [
      { type: "function", function: { name: "f" } },
      false,
      { type: "tool", name: "f", disable_parallel_tool_use: true },
    ],
    [{ type: "function", name: "f" }, null, { type: "tool", name: "f" }],
    [
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
      null,
      { type: "any" },
    ],
  ])("%j, parallel %s", (choice, parallel, expected) => {
    const tools = [TOOL, { type: "function", function: { name: "g" } }];
    const { json } = send(TO_MESSAGES, { messages: [USER], tools, tool_choice: choice, parallel_tool_calls: parallel });
    expect(json.tool_choice).toEqual(expected);
    const isAllowed = typeof choice === "object" && choice !== null && "allowed_tools" in choice;
    expect((json.tools as Json[]).map((tool) => tool.name)).toEqual(isAllowed ? ["f"] : ["f", "g"]);
  });

  it("cannot be forced together with thinking", () => {
    const body = { messages: [USER], tools: [TOOL], tool_choice: "required", reasoning_effort: "high" };
    const sent = send(TO_MESSAGES, body, { model: CLAUDE });
    expect(sent.json).toMatchObject({ tool_choice: { type: "any" }, output_config: { effort: "high" } });
    expect(sent.json).not.toHaveProperty("thinking");
    expect(sent.conversions).toEqual([expect.stringContaining("forced tool call")]);
  });

  it("tools of earlier turns are listed when the request has none", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [
      USER,
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: "1" },
      USER,
    ];
    expect(send(TO_MESSAGES, { messages }).json).toMatchObject({
      tools: [{ name: "f" }],
      tool_choice: { type: "none" },
    });
  });
});

describe("turns", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });

  it("ids that hosts made up are told apart from turn to turn", () => {
    const round = [
      { role: "assistant", content: null, tool_calls: [call("call_0")] },
      { role: "tool", tool_call_id: "call_0", content: "1" },
    ];
    const turns = send(TO_MESSAGES, { messages: [USER, ...round, ...round], tools: [TOOL] }).json.messages as {
      content: Json[];
    }[];
    const ids = turns
      .flatMap((turn) => turn.content.map((block) => block.id ?? block.tool_use_id))
      .filter((id) => id !== undefined);
    expect(ids.slice(0, 2)).toEqual(["call_0", "call_0"]);
    expect(ids[2]).toBe(ids[3]);
    expect(new Set(ids).size).toBe(2);
  });

  it("a budget is not asked for inside a tool loop, since the thinking before it is gone", () => {
    const messages = [
      USER,
      { role: "assistant", content: "a", tool_calls: [call("x")] },
      { role: "tool", tool_call_id: "x", content: "1" },
    ];
    const body = { messages, tools: [TOOL], reasoning_effort: "high" };
    expect(send(TO_MESSAGES, body, { model: OLDER }).json).not.toHaveProperty("thinking");
    expect(send(TO_MESSAGES, body, { model: CLAUDE }).json).toHaveProperty("thinking");
  });

  it("a begun answer stays one where the model continues it, without space at its end", () => {
    const messages = [USER, { role: "assistant", content: "{ " }];
    expect(send(TO_MESSAGES, { messages }, { model: OLDER }).json.messages).toEqual([
      TURN,
      { role: "assistant", content: [{ type: "text", text: "{" }] },
    ]);
    const refused = send(TO_MESSAGES, { messages }, { model: OLDER, refusedFields: ["messages.prefill"] });
    expect((refused.json.messages as Json[]).at(-1)?.role).toBe("user");
  });

  it.each<[string, readonly Json[], Json]>([
    [
      "instructions alone",
      [
        { role: "system", content: "a" },
        { role: "developer", content: "b" },
      ],
      { system: [{ type: "text", text: "a" }], messages: [{ role: "user", content: [{ type: "text", text: "b" }] }] },
    ],
    [
      "assistant messages in a row",
      [USER, { role: "assistant", content: "a" }, { role: "assistant", content: "b" }, USER],
      {
        messages: [
          TURN,
          {
            role: "assistant",
            content: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
          TURN,
        ],
      },
    ],
    [
      "blank texts",
      [USER, { role: "assistant", content: " " }, { role: "user", content: "" }, USER],
      { messages: [TURN, TURN] },
    ],
  ])("%s", (_name, messages, expected) => {
    expect(send(TO_MESSAGES, { messages }).json).toMatchObject(expected);
  });
});

describe("what it cannot be asked", () => {
  const audio = { type: "input_audio", input_audio: { data: "", format: "wav" } };

  it.each<[string, Json]>([
    ["several answers", { n: 2 }],
    ["sound", { messages: [{ role: "user", content: [audio] }] }],
    [
      "a video",
      { messages: [{ role: "user", content: [{ type: "video_url", video_url: { url: "https://a.b/c" } }] }] },
    ],
    ["a video of a tool", { messages: [USER, { role: "tool", tool_call_id: "x", content: [{ type: "video_url" }] }] }],
    [
      "an image in the instructions",
      {
        messages: [{ role: "system", content: [{ type: "image_url", image_url: { url: "https://a.b/c.png" } }] }, USER],
      },
    ],
    ["the audio of its answer", { messages: [USER, { role: "assistant", audio: { id: "audio_1" } }, USER] }],
    ["a file kept elsewhere", { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }],
    [
      "a spreadsheet",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "file", file: { file_data: "data:application/vnd.ms-excel;base64,AA==" } }],
          },
        ],
      },
    ],
    [
      "an image as tiff",
      {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/tiff;base64,AA==" } }] },
        ],
      },
    ],
    ["a custom tool", { tools: [{ type: "custom", custom: { name: "patch" } }] }],
  ])("%s", (_name, fields) => {
    let error: unknown = null;
    try {
      send(TO_MESSAGES, { messages: [USER], ...fields });
    } catch (cause) {
      error = cause;
    }
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).details.code).toBe("unconvertible");
    expect((error as GatewayError).status).toBe(400);
  });
});
