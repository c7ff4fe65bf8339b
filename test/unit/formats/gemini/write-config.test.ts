// Tools, tool choice and the settings of the generation, as Google receives them from a chat-completions client.

import { describe, expect, it } from "vitest";
import { type Json, write } from "./provider-end.ts";

const tool = (name: string, parameters?: object, extra: object = {}): Json => ({
  type: "function",
  function: { name, description: `Does ${name}.`, ...(parameters === undefined ? {} : { parameters }), ...extra },
});
const WEATHER = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("tools", () => {
  const declared = (parameters: object): unknown => {
    const { tools } = write({ tools: [tool("one", parameters)] }).json as { tools: [{ functionDeclarations: Json[] }] };
    return tools[0].functionDeclarations[0]?.parametersJsonSchema;
  };

  it("are declared with a JSON schema, or none where they take nothing", () => {
    const tools = [
      tool("weather", WEATHER),
      tool("now"),
      tool("empty", { type: "object", properties: {} }),
      tool("open", { type: "object", additionalProperties: { type: "string" } }),
    ];
    expect(write({ tools }).json.tools).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: "Does weather.", parametersJsonSchema: WEATHER },
          { name: "now", description: "Does now." },
          { name: "empty", description: "Does empty." },
          {
            name: "open",
            description: "Does open.",
            parametersJsonSchema: { type: "object", additionalProperties: { type: "string" } },
          },
        ],
      },
    ]);
  });

  it("have schemas without what Google refuses", () => {
    const parameters = {
      type: "object",
      properties: {
        kind: { const: "a" },
        any: true,
        node: { $ref: "#/$defs/node", description: "refused beside $ref" },
        list: { type: "array", items: { anyOf: [{ const: 1 }, { type: "null" }] } },
      },
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node", default: null } } } },
    };
    expect(declared(parameters)).toEqual({
      type: "object",
      properties: {
        kind: { enum: ["a"] },
        any: {},
        node: { $ref: "#/$defs/node" },
        list: { type: "array", items: { anyOf: [{ enum: [1] }, { type: "null" }] } },
      },
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    });
  });

  it.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [
      { type: "function", function: { name: "weather" } },
      { mode: "ANY", allowedFunctionNames: ["weather"] },
    ],
    [undefined, undefined],
  ])("choice %j", (choice, expected) => {
    const { toolConfig } = write({ tools: [tool("weather", WEATHER)], tool_choice: choice }).json;
    expect(toolConfig).toEqual(expected === undefined ? undefined : { functionCallingConfig: expected });
  });

  it("that are allowed are the only ones declared", () => {
    const choice = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "b" } }] },
    };
    const { json } = write({ tools: [tool("a", WEATHER), tool("b", WEATHER)], tool_choice: choice });
    expect(json.toolConfig).toEqual({ functionCallingConfig: { mode: "ANY" } });
    expect(JSON.stringify(json.tools)).not.toContain('"a"');
  });

  it("of other kinds are dropped with a note or refused", () => {
    const { json, conversions } = write({ tools: [{ type: "web_search" }, tool("a", WEATHER)] });
    expect(JSON.stringify(json.tools)).not.toContain("web_search");
    expect(conversions).toEqual(["dropped a tool 'web_search': only its own provider runs it"]);
    expect(() => write({ tools: [{ type: "custom", custom: { name: "x" } }] })).toThrow(/custom tools/);
    expect(() => write({ tools: [tool("1st", WEATHER)] })).toThrow(/begin with a letter/);
  });
});

describe("settings", () => {
  const config = (body: object, model: object = {}, sending: object = {}): unknown =>
    write(body, { model, ...sending }).json.generationConfig;

  it("go under Google's names", () => {
    const body = {
      max_tokens: 50,
      temperature: 1.5,
      top_p: 0.5,
      top_k: 7,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      seed: 42,
      stop: ["END", ""],
      n: 3,
    };
    expect(config(body)).toEqual({
      maxOutputTokens: 50,
      candidateCount: 3,
      temperature: 1.5,
      topP: 0.5,
      topK: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      seed: 42,
      stopSequences: ["END"],
    });
  });

  it("are left out where nothing was asked for", () => {
    expect(config({})).toBeUndefined();
  });

  it("keep the cap below the model's own, and below what the balance covers", () => {
    expect(config({ max_completion_tokens: 1e6 })).toEqual({ maxOutputTokens: 16_384 });
    expect(config({}, {}, { outputCap: 99 })).toEqual({ maxOutputTokens: 99 });
  });

  it("take a seed of any size", () => {
    expect((config({ seed: -9_007_199_254_740_991 }) as { seed: number }).seed).toBeLessThan(2 ** 31);
  });

  it("refuse more answers or stops than Google gives", () => {
    expect(() => write({ n: 9 })).toThrow(/at most 8/);
    expect(() => write({ stop: ["1", "2", "3", "4", "5", "6"] })).toThrow(/stop sequences/);
  });

  it("drop refused fields and those without a counterpart, with a note", () => {
    const model = { dialect: { refuses: ["temperature"] } };
    const { json, droppedFields, conversions } = write({ temperature: 1, logit_bias: {}, user: null }, { model });
    expect(json.generationConfig).toBeUndefined();
    expect(droppedFields).toEqual(["temperature", "logit_bias"]);
    expect(conversions).toEqual([
      "dropped 'temperature': the model refuses it",
      "dropped 'logit_bias': the Gemini format has no counterpart",
    ]);
  });

  it("never contain a control of the gateway", () => {
    const { body, conversions } = write({ service_profile: "auto", service_max_cost: 1 });
    expect(body.toString()).not.toContain("service_");
    expect(conversions).toBeUndefined();
  });
});

describe("the form of the answer", () => {
  const schema = { type: "object", properties: { a: { const: 1 } }, additionalProperties: false };
  const format = { type: "json_schema", json_schema: { name: "x", strict: true, schema } };

  it("is asked for as JSON, with its schema", () => {
    expect(write({ response_format: { type: "json_object" } }).json.generationConfig).toEqual({
      responseMimeType: "application/json",
    });
    expect(write({ response_format: format }).json.generationConfig).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { enum: [1] } }, additionalProperties: false },
    });
    expect(write({ response_format: { type: "text" } }).json.generationConfig).toBeUndefined();
  });

  it("is said in words beside tools, where the model cannot have both", () => {
    const body = { response_format: format, tools: [tool("a", WEATHER)] };
    const both = write(body).json;
    expect(both.generationConfig).toHaveProperty("responseJsonSchema");
    const { json } = write(body, { model: { dialect: { takesFormatWithTools: false } } });
    expect(json.generationConfig).toBeUndefined();
    expect(JSON.stringify(json.systemInstruction)).toContain("JSON schema");
  });
});

describe("thinking", () => {
  const thinking = (body: object, dialect: object, extra: object = {}): unknown =>
    (write(body, { model: { dialect, ...extra } }).json.generationConfig as Json | undefined)?.thinkingConfig;
  const LEVELS = { thinking: "level", efforts: ["minimal", "low", "medium", "high"] };
  const BUDGETS = { thinking: "budget", efforts: ["none", "low", "medium", "high"] };

  it.each([
    ["low", LEVELS, { thinkingLevel: "LOW", includeThoughts: true }],
    ["max", LEVELS, { thinkingLevel: "HIGH", includeThoughts: true }],
    ["none", LEVELS, { thinkingLevel: "MINIMAL" }],
    ["low", BUDGETS, { thinkingBudget: 2048, includeThoughts: true }],
    ["high", BUDGETS, { thinkingBudget: 24_576, includeThoughts: true }],
    ["none", BUDGETS, { thinkingBudget: 0 }],
    ["none", { thinking: "budget", efforts: ["low", "high"] }, { thinkingBudget: 2048 }],
    ["high", { thinking: "none" }, undefined],
    ["high", {}, { thinkingBudget: 24_576, includeThoughts: true }],
  ])("effort %s with %j", (effort, dialect, expected) => {
    expect(thinking({ reasoning_effort: effort }, dialect)).toEqual(expected);
    expect(thinking({ reasoning: { effort } }, dialect)).toEqual(expected);
  });

  it("leaves half of the cap to the answer, and says nothing where there is no room", () => {
    expect(thinking({ reasoning_effort: "high", max_tokens: 4000 }, BUDGETS)).toEqual({
      thinkingBudget: 2000,
      includeThoughts: true,
    });
    expect(thinking({ reasoning_effort: "high", max_tokens: 100 }, BUDGETS)).toEqual({ includeThoughts: true });
  });

  it("is not asked of a model that cannot, and not without a wish", () => {
    expect(thinking({ reasoning_effort: "high" }, LEVELS, { capabilities: ["tools"] })).toBeUndefined();
    expect(thinking({}, LEVELS)).toBeUndefined();
  });
});

describe("what a provider has refused by name", () => {
  it.each([
    ["generationConfig.thinkingConfig", { reasoning_effort: "low", max_tokens: 5 }, { maxOutputTokens: 5 }],
    [
      "generationConfig.penalties",
      { presence_penalty: 1, frequency_penalty: 1, max_tokens: 5 },
      { maxOutputTokens: 5 },
    ],
    ["generationConfig.seed", { seed: 1 }, undefined],
  ])("%s is left out", (field, body, expected) => {
    expect(write(body, { refusedFields: [field] }).json.generationConfig).toEqual(expected);
  });

  it("instructions go into the first turn", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    expect(write({ messages }, { refusedFields: ["systemInstruction"] }).json).toEqual({
      contents: [{ role: "user", parts: [{ text: "Be brief." }, { text: "Hi" }] }],
    });
  });
});
