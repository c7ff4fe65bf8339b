// LangChain with its Anthropic and its OpenAI integration, unchanged: only base URL and key are set.

import { ChatAnthropic } from "@langchain/anthropic";
import { type AIMessage, type AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
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

type Connect = (gateway: TestGateway, apiKey?: string) => ChatAnthropic | ChatOpenAI;
const CLIENTS: Readonly<Record<string, Connect>> = {
  "@langchain/anthropic": ({ url, key }, apiKey = key) =>
    new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey, anthropicApiUrl: url, maxRetries: 0 }),
  "@langchain/openai": ({ url, key }, apiKey = key) =>
    new ChatOpenAI({ model: "auto", apiKey, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 }),
  "@langchain/openai, Responses": ({ url, key }, apiKey = key) =>
    new ChatOpenAI({
      model: "auto",
      apiKey,
      configuration: { baseURL: `${url}/v1` },
      useResponsesApi: true,
      maxRetries: 0,
    }),
};
const EVERYWHERE = Object.keys(CLIENTS).flatMap((name) => HOUSES.map((house) => ({ name, house })));

describe.each(EVERYWHERE)("$name on $house", ({ name, house }) => {
  const connect = CLIENTS[name] as Connect;
  const expectsText = (words: string): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : words);
  let model: ChatAnthropic | ChatOpenAI;
  beforeAll(() => {
    model = connect(houses[house]);
  });

  it("a plain message", async () => {
    const message = await model.invoke("What is the capital of France?");
    expect(message.text).toEqual(expectsText(CAPITAL));
    expect(message.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  });

  it("a stream", async () => {
    let whole: AIMessageChunk | null = null;
    let pieces = 0;
    for await (const piece of await model.stream("What is the capital of France?")) {
      whole = whole === null ? piece : whole.concat(piece);
      pieces += 1;
    }
    expect(pieces).toBeGreaterThan(3);
    expect(whole?.text).toEqual(expectsText(CAPITAL));
    // It adds the output tokens of the first event to those of the last, which real ones of Anthropic count twice as well.
    // Of the input it keeps what the first event says, which is an estimate where the stream was converted.
    const isAnthropic = name.endsWith("anthropic");
    const counted = {
      input_tokens: isAnthropic && house !== "native" ? expect.any(Number) : 12,
      output_tokens: isAnthropic && house === "native" ? 6 : 5,
    };
    if (house !== "sandbox") expect(whole?.usage_metadata).toMatchObject(counted);
  });

  it.each(["whole", "streamed"])("a tool loop with calls in parallel, %s", async (manner) => {
    const weather = tool(async () => "", {
      name: WEATHER,
      description: "The weather",
      schema: z.object({ city: z.string() }),
    });
    const bound = model.bindTools([weather]);
    const ask = async (messages: (HumanMessage | AIMessage | ToolMessage)[]): Promise<AIMessage> => {
      if (manner === "whole") return bound.invoke(messages);
      let whole: AIMessageChunk | null = null;
      for await (const piece of await bound.stream(messages)) whole = whole === null ? piece : whole.concat(piece);
      return whole as unknown as AIMessage;
    };
    const question = new HumanMessage("What is the weather in Rome and Oslo?");
    const first = await ask([question]);
    const calls = first.tool_calls ?? [];
    if (house !== "sandbox") expect(calls.map(({ args }) => args)).toEqual(CITIES.map((city) => ({ city })));
    const results = calls.map(
      ({ id }, index) => new ToolMessage({ tool_call_id: id as string, content: `${20 + index} degrees` }),
    );
    const second = await ask([question, first, ...results]);
    expect(second.text).toContain("20 degrees");
    if (house !== "sandbox") expect(second.text).toContain("21 degrees");
  });

  it("an image", async () => {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ];
    expect((await model.invoke([new HumanMessage({ content })])).text).toEqual(expectsText("A red square."));
  });

  it("structured output", async () => {
    const schema = z.object({ name: z.string(), people: z.number().int() });
    const value = await model.withStructuredOutput(schema).invoke("Describe Rome.");
    expect(value).toEqual(house === "sandbox" ? { name: expect.any(String), people: expect.any(Number) } : CITY);
  });

  it("errors", async () => {
    const stranger = connect(houses[house], "sk-service-wrong");
    await expect(stranger.invoke("hi")).rejects.toMatchObject({ status: 401 });
    if (house === "sandbox") return;
    await expect(model.invoke(REFUSED)).rejects.toMatchObject({ status: 400 });
  });
});
