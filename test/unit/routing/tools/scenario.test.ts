import { describe, expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import type { ChatMessage, Tool } from "../../../../src/core/chat.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";
import { detectScenario } from "../../../../src/routing/tools/scenario.ts";
import { toolScoreOf } from "../../../../src/routing/tools/scores.ts";
import { makeChat, makeModel, makeTool } from "../../../support/catalog.ts";

const WEATHER = makeTool();
const SEARCH = makeTool({ name: "web_search", description: "Search the web for pages" });
const MEMORY = makeTool({ name: "core_memory_add", description: "Store a fact" });

function scenarioOf(
  text: string,
  tools: readonly Tool[],
  extra: { toolChoice?: unknown; history?: ChatMessage[] } = {},
) {
  const messages: ChatMessage[] = [...(extra.history ?? []), { role: "user", content: text }];
  const prompt = readPrompt(text);
  const chat = makeChat({ messages, tools, toolChoice: extra.toolChoice ?? null });
  return detectScenario({ chat, prompt, category: classify(prompt, null).category, weights: null });
}

describe("detectScenario", () => {
  const call: ChatMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", function: { name: "get_weather" } }],
  };
  const cases: readonly [string, string | null, string, readonly Tool[], Parameters<typeof scenarioOf>[2]?][] = [
    ["no tools", null, "What is the weather in Paris?", []],
    ["one call", "single", "What is the weather in Paris?", [WEATHER]],
    [
      "several calls",
      "parallel",
      "Get the weather in Paris, in Rome, in Oslo and also in Bern, for each city",
      [WEATHER],
    ],
    ["the web", "web_search", "What is the latest news about the election?", [SEARCH]],
    ["a memory store", "memory", "What did I tell you about my dog?", [MEMORY]],
    ["a greeting", "optional", "hello there", [WEATHER]],
    ["unrelated to the tools", "optional", "Prove Fermat's little theorem rigorously", [WEATHER]],
    ["forbidden to call", "optional", "What is the weather in Paris?", [WEATHER], { toolChoice: "none" }],
    ["made to call", "single", "Prove Fermat's little theorem rigorously", [WEATHER], { toolChoice: "required" }],
    ["calls in the history", "multi_turn", "and in Rome?", [WEATHER], { history: [call] }],
    ["another script proves nothing", "single", "巴黎天气怎么样", [WEATHER]],
  ];
  it.each(cases)("%s: %s", (_name, expected, text, tools, extra) => {
    expect(scenarioOf(text, tools, extra)).toBe(expected);
  });
});

describe("with the weights that ship, tools", () => {
  const weights = readWeights();
  const parameters = { type: "object", properties: { value: { type: "string" } }, required: ["value"] };
  const named = (name: string): Tool => ({ name, description: name.replace("_", " "), parameters });
  const cases: readonly [string, string, string][] = [
    ["are needed for what is the asker's own", "Where is my parcel 1Z840512?", "track_package"],
    ["are needed for what is so now", "How warm is it in Chicago right now", "get_weather"],
    ["are needed where values are given", "How much is 144 euros in yen?", "convert_currency"],
  ];
  it.each(cases)("%s", (_what, text, tool) => {
    const prompt = readPrompt(text);
    const { category } = classify(prompt, weights);
    const scenarioWith = (tools: readonly Tool[]) =>
      detectScenario({ chat: makeChat({ tools }), prompt, category, weights });
    expect([tool, "resize_image"].map((name) => scenarioWith([named(name)]))).toEqual(["single", "optional"]);
  });

  describe("described in Chinese", () => {
    const tool = (name: string, description: string): Tool => ({ name, description, parameters });
    const STOCK = tool("get_stock_price", "查询指定股票的当前价格");
    const ROUTE = tool("plan_route", "规划两地之间的驾车路线");
    const chinese: readonly [string, string, string, readonly Tool[]][] = [
      ["fit a request", "single", "帮我查一下贵州茅台股票今天的价格", [STOCK]],
      ["do not fit another", "optional", "帮我写一首关于秋天的诗", [STOCK]],
      ["do not fit what is about another field", "optional", "帮我查一下贵州茅台股票今天的价格", [ROUTE]],
    ];
    it.each(chinese)("%s", (_what, expected, text, tools) => {
      const prompt = readPrompt(text);
      const { category } = classify(prompt, weights);
      expect(detectScenario({ chat: makeChat({ tools }), prompt, category, weights })).toBe(expected);
    });
  });

  it("are optional for a question about the world that only shares a word with one", () => {
    const prompt = readPrompt("Why do currencies lose their worth over a century?");
    const chat = makeChat({ tools: [named("convert_currency")] });
    expect(detectScenario({ chat, prompt, category: "reasoning", weights })).toBe("optional");
  });
});

describe("toolScoreOf", () => {
  it("takes the scenario's score, else the overall one, else null", () => {
    const model = makeModel({ scores: { overall: 50, single: 70 } });
    expect(toolScoreOf(model, "single")).toBe(70);
    expect(toolScoreOf(model, "memory")).toBe(50);
    expect(toolScoreOf(makeModel(), "single")).toBeNull();
  });
});
