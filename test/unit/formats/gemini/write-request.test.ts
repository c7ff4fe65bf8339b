// Chat-completions requests as Google receives them: path, turns, parts, tools, and the settings of the generation.

import { describe, expect, it } from "vitest";
import { type Json, USER, write } from "./provider-end.ts";

const SIGNED = { dialect: { needsThoughtSignatures: true } };
const call = (id: string, name: string, args: object, signature?: string): Json => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
  ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
});
const result = (id: string, content: unknown): Json => ({ role: "tool", tool_call_id: id, content });
const contentsOf = (messages: readonly object[], model = {}): unknown => write({ messages }, { model }).json.contents;

describe("the path", () => {
  it.each([
    ["gemini-3-flash", {}, "/models/gemini-3-flash:generateContent"],
    ["gemini-3-flash", { stream: true }, "/models/gemini-3-flash:streamGenerateContent?alt=sse"],
    ["tunedModels/mine", {}, "/tunedModels/mine:generateContent"],
    ["with space?", {}, "/models/with%20space%3F:generateContent"],
  ])("of %s with %j", (upstream, body, path) => {
    expect(write(body, { model: { upstream } }).path).toBe(path);
  });
});

describe("turns", () => {
  it("keeps instructions apart, and turns later ones into reminders", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "Be kind." }] },
      USER,
      { role: "system", content: "Mind the time." },
    ];
    const { json, conversions } = write({ messages });
    expect(json).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
      contents: [
        {
          role: "user",
          parts: [{ text: "Hi" }, { text: "<system-reminder>\nMind the time.\n</system-reminder>" }],
        },
      ],
    });
    expect(conversions).toEqual(["turned a system message among the messages into a reminder"]);
  });

  it("asks the last instruction when there is nothing else", () => {
    expect(write({ messages: [{ role: "system", content: "Say ok." }] }).json).toEqual({
      contents: [{ role: "user", parts: [{ text: "Say ok." }] }],
    });
  });

  it("merges turns of one side, begins with the user and ends with the user", () => {
    const messages = [
      { role: "assistant", content: "Welcome." },
      { role: "assistant", content: "How can I help?" },
      { role: "user", content: "One" },
      { role: "user", content: "Two" },
      { role: "assistant", content: "The answer is" },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: "user", parts: [{ text: "(The conversation begins with the next message.)" }] },
      { role: "model", parts: [{ text: "Welcome." }, { text: "How can I help?" }] },
      { role: "user", parts: [{ text: "One" }, { text: "Two" }] },
      { role: "model", parts: [{ text: "The answer is" }] },
      { role: "user", parts: [{ text: "Continue exactly where your last message ends." }] },
    ]);
    expect(contentsOf([USER, { role: "assistant", content: "a" }], { dialect: { takesPrefill: true } })).toHaveLength(
      2,
    );
  });

  it("answers each call once, in the order of the calls, with id and name", () => {
    const messages = [
      USER,
      { role: "assistant", content: "Let me see.", tool_calls: [call("a", "one", { x: 1 }), call("b", "two", {})] },
      result("b", "second"),
      result("a", '{"temp": 20}'),
      { role: "user", content: "And?" },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: "user", parts: [{ text: "Hi" }] },
      {
        role: "model",
        parts: [
          { text: "Let me see." },
          { functionCall: { id: "a", name: "one", args: { x: 1 } } },
          { functionCall: { id: "b", name: "two", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "one", response: { temp: 20 } } },
          { functionResponse: { id: "b", name: "two", response: { output: "second" } } },
          { text: "And?" },
        ],
      },
    ]);
  });

  it("makes up for missing results and for results without a call", () => {
    const messages = [
      USER,
      { role: "assistant", content: null, tool_calls: [call("a", "one", {})] },
      { role: "user", content: "Never mind." },
      result("gone", "old"),
    ];
    const { json, conversions } = write({ messages });
    expect((json.contents as readonly Json[])[2]).toEqual({
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "one", response: { output: "[no result]" } } },
        { text: "Never mind." },
        { text: expect.stringContaining("old") },
      ],
    });
    expect(conversions).toEqual([
      "added an empty result for a tool call that had none",
      "turned a tool result without its call into text",
    ]);
  });

  it("gives the same id in two turns to the nearest call", () => {
    const turn = (name: string, said: string): readonly Json[] => [
      { role: "assistant", content: null, tool_calls: [call("call_0", name, {})] },
      result("call_0", said),
    ];
    const contents = contentsOf([USER, ...turn("one", "1"), ...turn("two", "2")]) as readonly { parts: Json[] }[];
    expect(contents[2]?.parts[0]).toEqual({
      functionResponse: { id: "call_0", name: "one", response: { output: "1" } },
    });
    expect(contents[4]?.parts[0]).toEqual({
      functionResponse: { id: "call_0", name: "two", response: { output: "2" } },
    });
  });

  it("writes results as objects, and never rounds a number in them", () => {
    const cases = [
      ["plain", { output: "plain" }],
      ['["a"]', { output: '["a"]' }],
      ['{"id": 12345678901234567890}', { output: '{"id": 12345678901234567890}' }],
      ["{broken", { output: "{broken" }],
      ["", { output: "" }],
    ] as const;
    for (const [content, response] of cases) {
      const contents = contentsOf([
        USER,
        { role: "assistant", content: null, tool_calls: [call("a", "one", {})] },
        result("a", content),
      ]) as readonly { parts: Json[] }[];
      expect(contents[2]?.parts[0]).toEqual({ functionResponse: { id: "a", name: "one", response } });
    }
  });

  it("shows images of a result beside it", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const contents = contentsOf([
      USER,
      { role: "assistant", content: null, tool_calls: [call("a", "shot", {})] },
      result("a", [{ type: "text", text: "done" }, image]),
    ]) as readonly { parts: Json[] }[];
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { id: "a", name: "shot", response: { output: "done" } } },
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
    ]);
  });

  it("takes deprecated functions and broken arguments", () => {
    const messages = [
      USER,
      { role: "assistant", content: null, function_call: { name: "one", arguments: "{oops" } },
      { role: "function", name: "one", content: "1" },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ functionCall: { name: "one", args: { raw_arguments: "{oops" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "one", response: { output: "1" } } }] },
    ]);
  });
});

describe("signatures", () => {
  const turn = (assistant: object): readonly object[] => [USER, { role: "assistant", content: null, ...assistant }];
  const partsOf = (assistant: object, model: object = SIGNED, refusedFields: readonly string[] = []): unknown => {
    const { json } = write({ messages: turn(assistant) }, { model, refusedFields });
    return (json.contents as readonly { parts: unknown }[])[1]?.parts;
  };
  const encrypted = (data: string, id?: string): Json => ({
    type: "reasoning.encrypted",
    format: "gemini",
    data,
    ...(id === undefined ? {} : { id }),
  });
  const PLACEHOLDER = "skip_thought_signature_validator";
  const CALLS = [call("a", "one", {}, "SIG-A"), call("b", "two", {})];

  it.each([
    ["on the call", { tool_calls: CALLS }, ["SIG-A", undefined]],
    [
      "among the details",
      { tool_calls: [call("a", "one", {}), call("b", "two", {})], reasoning_details: [encrypted("SIG-A", "a")] },
      ["SIG-A", undefined],
    ],
    [
      "among the details under another id",
      { tool_calls: [call("x", "one", {}), call("y", "two", {})], reasoning_details: [encrypted("SIG-A", "a")] },
      ["SIG-A", undefined],
    ],
    ["nowhere", { tool_calls: [call("a", "one", {}), call("b", "two", {})] }, [PLACEHOLDER, undefined]],
    [
      "only of another format",
      {
        tool_calls: [call("a", "one", {})],
        reasoning_details: [{ type: "reasoning.encrypted", format: "anthropic", data: "X", id: "a" }],
      },
      [PLACEHOLDER],
    ],
  ])("stand %s", (_where, assistant, expected) => {
    const parts = partsOf(assistant) as readonly Json[];
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual(expected);
  });

  it("are not made up for models that need none", () => {
    expect(partsOf({ tool_calls: [call("a", "one", {})] }, {})).toEqual([
      { functionCall: { id: "a", name: "one", args: {} } },
    ]);
  });

  it("of a text go back to its last part, and of a thought with it", () => {
    const thought = { type: "reasoning.text", format: "gemini", text: "Hm.", signature: "SIG-T" };
    expect(partsOf({ content: "Said.", reasoning_details: [thought, encrypted("SIG-X")] })).toEqual([
      { text: "Hm.", thought: true, thoughtSignature: "SIG-T" },
      { text: "Said.", thoughtSignature: "SIG-X" },
    ]);
  });

  it("are replaced once the provider has refused one", () => {
    const assistant = { content: "Said.", tool_calls: CALLS, reasoning_details: [encrypted("SIG-X")] };
    expect(partsOf(assistant, SIGNED, ["contents.thoughtSignature"])).toEqual([
      { text: "Said." },
      { functionCall: { id: "a", name: "one", args: {} }, thoughtSignature: PLACEHOLDER },
      { functionCall: { id: "b", name: "two", args: {} } },
    ]);
  });
});

describe("parts", () => {
  it.each([
    [{ type: "text", text: "a" }, { text: "a" }],
    [
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
    ],
    [
      { type: "image_url", image_url: { url: "https://example.com/a.JPG?size=1" } },
      { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/a.JPG?size=1" } },
    ],
    [
      { type: "image_url", image_url: { url: "https://example.com/a" } },
      { fileData: { fileUri: "https://example.com/a" } },
    ],
    [
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
      { inlineData: { mimeType: "audio/mp3", data: "AAAA" } },
    ],
    [
      { type: "input_audio", input_audio: { data: "AAAA", format: "flac" } },
      { inlineData: { mimeType: "audio/flac", data: "AAAA" } },
    ],
    [
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
      { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
    ],
    [
      { type: "file", file: { filename: "a.csv", file_data: "YSxi" } },
      { inlineData: { mimeType: "text/csv", data: "YSxi" } },
    ],
    [
      { type: "file", file: { file_id: "https://generativelanguage.googleapis.com/v1beta/files/abc" } },
      { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" } },
    ],
  ])("%j", (part, expected) => {
    expect(contentsOf([{ role: "user", content: [part] }])).toEqual([{ role: "user", parts: [expected] }]);
  });

  it.each([
    [{ type: "file", file: { file_id: "file-1" } }, /kept at another provider/],
    [{ type: "image_url", image_url: { url: "data:image/svg+xml,<svg/>" } }, /base64/],
  ])("refuses %j", (part, reason) => {
    expect(() => contentsOf([{ role: "user", content: [part] }])).toThrow(reason);
  });

  it.each([
    ["user", { type: "smell", smell: "b" }, /content of the type 'smell'/],
    [
      "system",
      { type: "image_url", image_url: { url: "https://a.b/c.png" } },
      /text only in messages of the role 'system'/,
    ],
    ["assistant", { type: "image_url", image_url: { url: "https://a.b/c.png" } }, /text only .* 'assistant'/],
  ])("refuses content of the role %s that it has no way to say", (role, part, reason) => {
    const messages = [
      { role, content: [{ type: "text", text: "a" }, part] },
      { role: "user", content: "So?" },
    ];
    expect(() => contentsOf(messages)).toThrow(reason);
  });
});
