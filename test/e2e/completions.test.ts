// Clients of the legacy completions endpoint, unchanged: only base URL and key are set.

import { createOpenAI } from "@ai-sdk/openai";
import { OpenAI as LangchainOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAPITAL, HOUSES, type Houses, openHouses } from "../support/gateway/acting.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";

const PROMPT = "What is the capital of France?";

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

describe.each(HOUSES)("on %s", (house) => {
  const expected = (): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : CAPITAL);
  let gateway: TestGateway;
  beforeAll(() => {
    gateway = houses[house];
  });

  it("the official client", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
    const whole = await client.completions.create({ model: "auto", prompt: PROMPT });
    expect([whole.object, whole.choices[0]?.text]).toEqual(["text_completion", expected()]);
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    const stream = await client.completions.create({
      model: "auto",
      prompt: PROMPT,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens = 0;
    for await (const part of stream) {
      text += part.choices[0]?.text ?? "";
      tokens = part.usage?.completion_tokens ?? tokens;
    }
    expect(text).toEqual(expected());
    expect(tokens).toBeGreaterThan(0);
    await expect(client.completions.create({ model: "auto", prompt: ["a", "b"] })).rejects.toMatchObject({
      status: 400,
      param: "prompt",
    });
  });

  it("the AI SDK", async () => {
    const openai = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const model = openai.completion("auto");
    const { text, usage } = await generateText({ model, prompt: PROMPT, maxRetries: 0 });
    expect(text).toEqual(expected());
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(await streamText({ model, prompt: PROMPT, maxRetries: 0 }).text).toEqual(expected());
  });

  it("LangChain", async () => {
    const model = new LangchainOpenAI({
      model: "auto",
      apiKey: gateway.key,
      maxRetries: 0,
      configuration: { baseURL: `${gateway.url}/v1` },
    });
    expect(await model.invoke(PROMPT)).toEqual(expected());
    let text = "";
    for await (const piece of await model.stream(PROMPT)) text += piece;
    expect(text).toEqual(expected());
  });
});
