// The official Anthropic client, unchanged, in its 1.x and 0.x lines: only its base URL and its key are set. Each story runs
// on the sandbox, on a chat-completions provider and on a native one.

import Anthropic from "@anthropic-ai/sdk";
import AnthropicZero from "anthropic-sdk-0";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

const TOOL = {
  name: WEATHER,
  description: "The weather of a city",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
};
const HELLO = {
  model: "claude-opus-5-5",
  max_tokens: 500,
  messages: [{ role: "user" as const, content: "What is the capital of France?" }],
};
const ASK_WEATHER = "What is the weather in Rome and Oslo?";

// Both lines have the same methods; what differs is inside them (headers, versions), which is what is tried here.
const LINES: readonly (readonly [string, typeof Anthropic])[] = [
  ["1.x", Anthropic],
  ["0.x", AnthropicZero as unknown as typeof Anthropic],
];
const EVERYWHERE = LINES.flatMap(([line, Client]) => HOUSES.map((house) => ({ line, Client, house })));

describe.each(EVERYWHERE)("Anthropic SDK $line on $house", ({ Client, house }) => {
  const expectsText = (words: string): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : words);
  let client: Anthropic;
  beforeAll(() => {
    client = new Client({ baseURL: houses[house].url, apiKey: houses[house].key, maxRetries: 0 });
  });

  it("a plain message", async () => {
    const message = await client.messages.create(HELLO);
    expect(message.content).toMatchObject([{ type: "text", text: expectsText(CAPITAL) }]);
    expect(message).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn", stop_sequence: null });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message._request_id).toMatch(/^req_/);
    expect(message).toHaveProperty("service.tier");
  });

  it("a stream, event by event", async () => {
    let text = "";
    let stop: string | null = null;
    for await (const event of await client.messages.create({ ...HELLO, stream: true })) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
      if (event.type === "message_delta") stop = event.delta.stop_reason;
    }
    expect(text).toEqual(expectsText(CAPITAL));
    expect(stop).toBe("end_turn");
  });

  it("a stream, with the helper", async () => {
    const pieces: string[] = [];
    const stream = client.messages.stream(HELLO).on("text", (piece) => void pieces.push(piece));
    const message = await stream.finalMessage();
    expect(pieces.length).toBeGreaterThan(3);
    expect(message.content).toMatchObject([{ type: "text", text: pieces.join("") }]);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  it.each(["whole", "streamed"])("a tool loop with calls in parallel, %s", async (manner) => {
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: ASK_WEATHER }];
    const ask = (): Promise<Anthropic.Message> => {
      const body = { ...HELLO, messages, tools: [TOOL] };
      return manner === "whole" ? client.messages.create(body) : client.messages.stream(body).finalMessage();
    };
    const first = await ask();
    expect(first.stop_reason).toBe("tool_use");
    const calls = first.content.filter((block) => block.type === "tool_use");
    if (house !== "sandbox") expect(calls.map(({ input }) => input)).toEqual(CITIES.map((city) => ({ city })));
    messages.push({ role: "assistant", content: first.content });
    const results = calls.map(({ id }, index) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: `${20 + index} degrees`,
    }));
    messages.push({ role: "user", content: results.reverse() });
    const second = await ask();
    expect(second.stop_reason).toBe("end_turn");
    expect(JSON.stringify(second.content)).toContain("20 degrees");
    if (house !== "sandbox") expect(JSON.stringify(second.content)).toContain("21 degrees");
  });

  it("an image", async () => {
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: PIXEL },
    };
    const content = [image, { type: "text" as const, text: "What is this?" }];
    const message = await client.messages.create({ ...HELLO, messages: [{ role: "user", content }] });
    expect(message.content).toMatchObject([{ text: expectsText("A red square.") }]);
  });

  it("structured output", async () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, people: { type: "integer" } },
      required: ["name", "people"],
      additionalProperties: false,
    };
    const body = { ...HELLO, output_config: { format: { type: "json_schema", schema } } };
    const message = await client.messages.create(body as Anthropic.MessageCreateParamsNonStreaming);
    const [block] = message.content;
    const value = JSON.parse(block?.type === "text" ? block.text : "");
    expect(value).toEqual(house === "sandbox" ? { name: expect.any(String), people: 1 } : CITY);
  });

  it("thinking, kept through a tool loop where it was made", async () => {
    const body = { ...HELLO, max_tokens: 4000, thinking: { type: "enabled" as const, budget_tokens: 2000 } };
    const message = await client.messages.create(body as Anthropic.MessageCreateParamsNonStreaming);
    expect(message.content.map(({ type }) => type)).toEqual(house === "native" ? ["thinking", "text"] : ["text"]);
    const messages = [
      ...HELLO.messages,
      { role: "assistant" as const, content: message.content },
      { role: "user" as const, content: "And of Italy?" },
    ];
    expect(
      (await client.messages.create({ ...body, messages } as Anthropic.MessageCreateParamsNonStreaming)).stop_reason,
    ).toBe("end_turn");
    if (house === "native") expect(houses.providers.native.requests.at(-1)?.raw).toContain("signed==");
    if (house === "chat") expect(houses.providers.chat.requests.at(-1)?.raw).not.toContain("signed==");
  });

  it("counts tokens and lists models", async () => {
    const { input_tokens: count } = await client.messages.countTokens({ model: HELLO.model, messages: HELLO.messages });
    expect(count).toBeGreaterThan(3);
    const ids: string[] = [];
    for await (const model of client.models.list({ limit: 1 })) ids.push(model.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await client.models.retrieve(ids[0] as string)).id).toBe(ids[0]);
  });

  it("the beta endpoint", async () => {
    const message = await client.beta.messages.create({ ...HELLO, betas: ["nobody-knows-2031-01-01"] });
    expect(message.content).toMatchObject([{ text: expectsText(CAPITAL) }]);
  });

  it("errors, as its own classes", async () => {
    const stranger = new Client({ baseURL: houses[house].url, apiKey: "sk-service-wrong", maxRetries: 0 });
    const unknown = await stranger.messages.create(HELLO).catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(Client.AuthenticationError);
    expect(unknown).toMatchObject({ status: 401, requestID: expect.stringMatching(/^req_/) });
    const bad = await client.messages.create({ ...HELLO, messages: [] }).catch((error: unknown) => error);
    expect(bad).toBeInstanceOf(Client.UnprocessableEntityError);
    const direct = { ...HELLO, model: "nope", service_profile: "direct" };
    expect(await client.messages.create(direct).catch((error: unknown) => error)).toBeInstanceOf(Client.NotFoundError);
    if (house === "sandbox") return;
    const refused = { ...HELLO, messages: [{ role: "user" as const, content: REFUSED }] };
    const refusal = await client.messages.create(refused).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Client.BadRequestError);
    expect(refusal).toMatchObject({ error: { error: { message: "The prompt is not acceptable." } } });
    const streamed = client.messages.stream(refused).finalMessage();
    await expect(streamed).rejects.toBeInstanceOf(Client.BadRequestError);
  });
});
