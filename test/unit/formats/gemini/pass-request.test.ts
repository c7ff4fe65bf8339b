// A Gemini client's own request for a Gemini model: its bytes, but for our controls and what this model would refuse.

import { describe, expect, it } from "vitest";
import { sealDetail } from "../../../../src/formats/wire/reasoning-details.ts";
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

  it("go once the provider has refused one", () => {
    const refused = ["contents.thoughtSignature"];
    expect(partsIn([{ text: "a", thoughtSignature: "S" }, call("SIG")], NEEDS, refused)).toEqual([
      { text: "a" },
      call(PLACEHOLDER),
    ]);
  });
});
