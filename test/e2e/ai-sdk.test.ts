// The Vercel AI SDK with its Anthropic, Google, OpenAI (Responses) and OpenAI-compatible providers, unchanged: only base
// URL and key are set.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  CAPITAL,
  CITIES,
  CITY,
  HOUSES,
  type Houses,
  openHouses,
  PIXEL,
  REFUSED,
  WEATHER,
} from "../support/gateway/acting.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

type Connect = (gateway: TestGateway, apiKey?: string) => LanguageModel;
const PROVIDERS: Readonly<Record<string, Connect>> = {
  "@ai-sdk/anthropic": ({ url, key }, apiKey = key) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
  "@ai-sdk/google": ({ url, key }, apiKey = key) =>
    createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })("auto"),
  "@ai-sdk/openai": ({ url, key }, apiKey = key) => createOpenAI({ baseURL: `${url}/v1`, apiKey })("auto"),
  "@ai-sdk/openai-compatible": ({ url, key }, apiKey = key) =>
    createOpenAICompatible({ name: "switchyard", baseURL: `${url}/v1`, apiKey, supportsStructuredOutputs: true })(
      "auto",
    ),
};
const EVERYWHERE = Object.keys(PROVIDERS).flatMap((name) => HOUSES.map((house) => ({ name, house })));

describe.each(EVERYWHERE)("$name on $house", ({ name, house }) => {
  const connect = PROVIDERS[name] as Connect;
  const expectsText = (words: string): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : words);
  const prompt = "What is the capital of France?";
  let model: LanguageModel;
  beforeAll(() => {
    model = connect(houses[house]);
  });

  it("a plain text", async () => {
    const result = await generateText({ model, prompt, maxRetries: 0 });
    expect(result.text).toEqual(expectsText(CAPITAL));
    expect(result.finishReason).toBe("stop");
    expect(result.usage.outputTokens).toBeGreaterThan(0);
  });

  it("a stream", async () => {
    const result = streamText({ model, prompt, maxRetries: 0 });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toEqual(expectsText(CAPITAL));
    expect(await result.finishReason).toBe("stop");
  });

  it.each(["whole", "streamed"])("a tool loop with calls in parallel, %s", async (manner) => {
    const cities: string[] = [];
    const weather = tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        cities.push(city);
        return `20 degrees in ${city}`;
      },
    });
    const call = {
      model,
      prompt: "What is the weather in Rome and Oslo?",
      tools: { [WEATHER]: weather },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    };
    const text = manner === "whole" ? (await generateText(call)).text : await streamText(call).text;
    expect(text).toContain("20 degrees");
    if (house !== "sandbox") expect(cities.sort()).toEqual([...CITIES].sort());
  });

  it("an image", async () => {
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image" as const, image: PIXEL, mediaType: "image/png" },
    ];
    const result = await generateText({ model, messages: [{ role: "user", content }], maxRetries: 0 });
    expect(result.text).toEqual(expectsText("A red square."));
  });

  it("structured output", async () => {
    const schema = z.object({ name: z.string(), people: z.number().int() });
    const { object } = await generateObject({ model, schema, prompt: "Describe Rome.", maxRetries: 0 });
    expect(object).toEqual(house === "sandbox" ? { name: expect.any(String), people: expect.any(Number) } : CITY);
  });

  it("errors", async () => {
    const stranger = connect(houses[house], "sk-service-wrong");
    const unknown = await generateText({ model: stranger, prompt, maxRetries: 0 }).catch((error: unknown) => error);
    expect(APICallError.isInstance(unknown) && unknown.statusCode).toBe(401);
    if (house === "sandbox") return;
    const refused = await generateText({ model, prompt: REFUSED, maxRetries: 0 }).catch((error: unknown) => error);
    expect(APICallError.isInstance(refused) && [refused.statusCode, refused.message]).toEqual([
      400,
      "The prompt is not acceptable.",
    ]);
  });
});
