// The official OpenAI client, unchanged, landing on a native Anthropic model: conversion in both directions, unseen by the client.

import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { CAPITAL, CITIES, CITY, type Houses, openHouses, PIXEL, REFUSED, WEATHER } from "../support/gateway/acting.ts";

let houses: Houses;
let client: OpenAI;
beforeAll(async () => {
  houses = await openHouses();
  client = new OpenAI({ baseURL: `${houses.native.url}/v1`, apiKey: houses.native.key, maxRetries: 0 });
});
afterAll(() => houses.close());

const HELLO = { model: "auto", messages: [{ role: "user" as const, content: "What is the capital of France?" }] };
const TOOL = {
  type: "function" as const,
  function: {
    name: WEATHER,
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

it("a plain completion", async () => {
  const completion = await client.chat.completions.create({
    ...HELLO,
    temperature: 1.5,
    seed: 7,
    reasoning_effort: "low",
  });
  expect(completion).toMatchObject({
    object: "chat.completion",
    model: "claude",
    choices: [{ index: 0, message: { role: "assistant", content: CAPITAL }, finish_reason: "stop" }],
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
  });
  expect(completion.choices[0]?.message).toHaveProperty("reasoning_content", "Let me think.");
  const sent = houses.providers.native.requests.at(-1);
  expect(sent).toMatchObject({ path: "/v1/messages", body: { model: "claude-real-1", max_tokens: 64_000 } });
  expect(sent?.body).not.toHaveProperty("seed");
});

it("a stream, with the helper and with usage", async () => {
  const runner = client.chat.completions.stream({ ...HELLO, stream_options: { include_usage: true } });
  const pieces: string[] = [];
  runner.on("content", (piece) => void pieces.push(piece));
  const completion = await runner.finalChatCompletion();
  expect(pieces.length).toBeGreaterThan(3);
  expect(completion.choices[0]?.message.content).toBe(CAPITAL);
  expect((await runner.totalUsage()).total_tokens).toBe(17);
});

it.each(["whole", "streamed"])("a tool loop with calls in parallel, %s", async (manner) => {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: "user", content: "What is the weather in Rome and Oslo?" },
  ];
  const ask = (): Promise<OpenAI.Chat.ChatCompletion> => {
    const body = { model: "auto", messages, tools: [TOOL] };
    return manner === "whole"
      ? client.chat.completions.create(body)
      : client.chat.completions.stream(body).finalChatCompletion();
  };
  const [first] = (await ask()).choices;
  expect(first?.finish_reason).toBe("tool_calls");
  const calls = (first?.message.tool_calls ?? []).filter((call) => call.type === "function");
  expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual(CITIES.map((city) => ({ city })));
  messages.push(first?.message as OpenAI.Chat.ChatCompletionMessageParam);
  calls.forEach(
    ({ id }, index) => void messages.push({ role: "tool", tool_call_id: id, content: `${20 + index} degrees` }),
  );
  const [second] = (await ask()).choices;
  expect(second?.message.content).toBe("I was told: 20 degrees and 21 degrees.");
});

it("an image", async () => {
  const content = [
    { type: "text" as const, text: "What is this?" },
    { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ];
  const completion = await client.chat.completions.create({ model: "auto", messages: [{ role: "user", content }] });
  expect(completion.choices[0]?.message.content).toBe("A red square.");
});

it("structured output", async () => {
  const format = zodResponseFormat(z.object({ name: z.string(), people: z.number() }), "city");
  const completion = await client.chat.completions.parse({ ...HELLO, response_format: format });
  expect(completion.choices[0]?.message.parsed).toEqual(CITY);
});

it("errors", async () => {
  const refused = { model: "auto", messages: [{ role: "user" as const, content: REFUSED }] };
  const error = await client.chat.completions.create(refused).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error).toMatchObject({ status: 400, message: "400 The prompt is not acceptable." });
  const several = client.chat.completions.create({ ...HELLO, n: 2 });
  await expect(several).rejects.toMatchObject({ status: 400, code: "unconvertible" });
});
