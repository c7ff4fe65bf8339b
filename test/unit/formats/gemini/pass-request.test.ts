// A Gemini client's own request for a Gemini model: its bytes, but for our controls and what this model would refuse.

import { describe, expect, it } from "vitest";
import { sealDetail } from "../../../../src/formats/convert/reasoning-details.ts";
import { type Json, pass } from "./provider-end.ts";

const ODD =
  ' { "contents" : [ { "parts":[{"text":"1e3 \\u00e9"}] } ], "generationConfig":{"temperature":1.0} , "x": 1e3}';

describe("bytes", () => {
  it("stay as they are when nothing has to change", () => {
    expect(pass(ODD).body.toString()).toBe(ODD);
    expect(pass(ODD).conversions).toBeUndefined();
  });

  it("lose our controls and the model, and keep the spelling of the rest", () => {
    const text = '{"service_profile":"auto","contents":[{"parts":[{"text":"a"}]}],"model":"models/x","big":1e3}';
    expect(pass(text).body.toString()).toBe('{"contents":[{"parts":[{"text":"a"}]}],"big":1e3}');
  });
});

describe("settings", () => {
  const config = (generationConfig: object, model: object = {}, sending: object = {}): unknown =>
    pass(JSON.stringify({ contents: [], generationConfig }), { model, ...sending }).json.generationConfig;

  it("get a cap that the model can take and the balance covers", () => {
    expect(config({ maxOutputTokens: 99_999 })).toEqual({ maxOutputTokens: 16_384 });
    expect(config({ topK: 1 }, {}, { outputCap: 7 })).toEqual({ topK: 1, maxOutputTokens: 7 });
    expect(pass('{"contents":[]}', { outputCap: 7 }).json).toEqual({
      contents: [],
      generationConfig: { maxOutputTokens: 7 },
    });
  });

  it("lose what the dialect or the provider refuses", () => {
    expect(config({ frequencyPenalty: 1, topP: 1 }, { dialect: { refuses: ["frequency_penalty"] } })).toEqual({
      topP: 1,
    });
    expect(config({ seed: 1, topP: 1 }, {}, { refusedFields: ["generationConfig.seed"] })).toEqual({ topP: 1 });
    const sent = pass('{"contents":[],"foo":1}', { refusedFields: ["foo"] });
    expect([sent.json, sent.droppedFields, sent.conversions]).toEqual([
      { contents: [] },
      ["foo"],
      ["dropped 'foo': the model refuses it"],
    ]);
  });

  it("think in the form the model takes", () => {
    const level = { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } };
    expect(config(level, { dialect: { thinking: "budget" } })).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
    });
    expect(config(level, { dialect: { thinking: "level" } })).toEqual(level);
    expect(config(level, { dialect: { thinking: "none" } })).toEqual({});
    const budget = { thinkingConfig: { thinkingBudget: 100 } };
    expect(config(budget, { dialect: { thinking: "level" } })).toEqual(budget);
  });
});

describe("snake_case", () => {
  it("stays as it is when nothing has to change", () => {
    const text =
      '{"contents":[],"system_instruction":{"parts":{"text":"a"}},"generation_config":{"max_output_tokens":5}}';
    expect(pass(text).body.toString()).toBe(text);
  });

  it("gets one cap, under one name", () => {
    const text = '{"contents":[],"generation_config":{"max_output_tokens":99999,"top_k":1}}';
    expect(pass(text).json).toEqual({ contents: [], generationConfig: { maxOutputTokens: 16_384, topK: 1 } });
  });

  it("gives way to camelCase, the spelling that was read, where both are given", () => {
    const inside = '{"contents":[],"generationConfig":{"max_output_tokens":9,"maxOutputTokens":5}}';
    expect(pass(inside).json).toEqual({ contents: [], generationConfig: { maxOutputTokens: 5 } });
    const outside =
      '{"generation_config":{"maxOutputTokens":9},"contents":[],"generationConfig":{"maxOutputTokens":5}}';
    expect(pass(outside).body.toString()).toBe('{"contents":[],"generationConfig":{"maxOutputTokens":5}}');
  });

  it("loses what the model refuses, and thinks in its form", () => {
    const config = { thinking_config: { thinking_level: "LOW", include_thoughts: true }, frequency_penalty: 1 };
    const model = { dialect: { thinking: "budget", refuses: ["frequency_penalty"] } } as const;
    expect(pass(JSON.stringify({ contents: [], generation_config: config }), { model }).json).toEqual({
      contents: [],
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } },
    });
    const refusedFields = ["cachedContent", "safety_settings"];
    const sent = pass('{"contents":[],"cached_content":"c","safetySettings":[]}', { refusedFields });
    expect([sent.json, sent.droppedFields]).toEqual([{ contents: [] }, ["cached_content", "safetySettings"]]);
  });
});

describe("signatures", () => {
  const NEEDS = { dialect: { needsThoughtSignatures: true } };
  const PLACEHOLDER = "skip_thought_signature_validator";
  const partsIn = (parts: readonly object[], model: object = NEEDS, refusedFields: readonly string[] = []): unknown => {
    const body = {
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts },
      ],
    };
    const { json } = pass(JSON.stringify(body), { model, refusedFields });
    return (json.contents as readonly { parts: Json[] }[])[1]?.parts;
  };
  const call = (signature?: string): object => ({
    functionCall: { name: "one", args: {} },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  });
  const sealed = sealDetail({ type: "reasoning.encrypted", format: "anthropic", data: "x" });

  it("of Gemini stay", () => {
    const parts = [{ text: "a", thoughtSignature: "S" }, call("SIG"), call()];
    expect(partsIn(parts)).toEqual(parts);
  });

  it("are made up for the first call, where the model needs one", () => {
    expect(partsIn([call(), call()])).toEqual([call(PLACEHOLDER), call()]);
    expect(partsIn([call(), call()], {})).toEqual([call(), call()]);
  });

  it("of other vendors, which the gateway sealed, do not reach Google", () => {
    const parts = [
      { text: "Hm.", thought: true, thoughtSignature: sealed },
      { text: "", thoughtSignature: sealed },
      { text: "Said.", thoughtSignature: sealed },
      call(sealed),
    ];
    expect(partsIn(parts)).toEqual([{ text: "Said." }, call(PLACEHOLDER)]);
    expect(partsIn(parts, {})).toEqual([{ text: "Said." }, call()]);
  });

  it("are found in snake_case, and in a part that stands for a list", () => {
    const snake = (signature?: string): object => ({
      function_call: { name: "one", args: {} },
      ...(signature === undefined ? {} : { thought_signature: signature }),
    });
    expect(partsIn([snake("SIG"), snake()])).toEqual([snake("SIG"), snake()]);
    expect(partsIn([snake(), snake()])).toEqual([call(PLACEHOLDER), snake()]);
    expect(partsIn([{ text: "Said.", thought_signature: sealed }, snake(sealed)])).toEqual([
      { text: "Said." },
      call(PLACEHOLDER),
    ]);
    const text = JSON.stringify({ contents: [{ role: "model", parts: call() }] });
    expect(pass(text, { model: NEEDS }).json).toEqual({ contents: [{ role: "model", parts: [call(PLACEHOLDER)] }] });
  });

  it("go once the provider has refused one", () => {
    const refused = ["contents.thoughtSignature"];
    expect(partsIn([{ text: "a", thoughtSignature: "S" }, call("SIG")], NEEDS, refused)).toEqual([
      { text: "a" },
      call(PLACEHOLDER),
    ]);
  });
});
