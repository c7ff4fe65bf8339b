// Models of a provider that speaks Gemini, asked by chat-completions and Messages clients over real HTTP: what Google
// receives, and what the clients get of its text, thoughts, calls, signatures, images and stops.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  functionCall,
  generated,
  says,
  saysParts,
  streamsChunks,
  text,
  thought,
} from "../../support/providers/fake-gemini.ts";
import { sends } from "../../support/providers/fake-provider.ts";
import { type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";
import { readEvents, textIn } from "../../support/providers/messages.ts";
import { type Json, readStream } from "../../support/providers/streams.ts";

let world: GeminiGateway;
beforeAll(async () => {
  world = await startGeminiGateway();
});
beforeEach(() => world.reset());
afterAll(() => world.close());

const ON = { model: "gem", service_profile: "direct" };
const QUESTION = { role: "user", content: "Weather in Rome and Oslo?" };
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const CHAT_TOOLS = [{ type: "function", function: { name: "weather", description: "Tells it.", parameters: SCHEMA } }];
const chat = (body: object): Promise<Response> =>
  world.gateway.post("/v1/chat/completions", { ...ON, messages: [QUESTION], ...body });
const messages = (body: object): Promise<Response> =>
  world.gateway.post("/v1/messages", { ...ON, max_tokens: 2000, messages: [QUESTION], ...body });
const received = (): Json => world.gemini.requests.at(-1)?.body as unknown as Json;

describe("the call", () => {
  it("goes to the model's path with the key in its header", async () => {
    expect((await chat({})).status).toBe(200);
    expect((await chat({ stream: true })).status).toBe(200);
    expect(world.gemini.requests.map(({ path }) => path)).toEqual([
      "/v1beta/models/gem-1:generateContent",
      "/v1beta/models/gem-1:streamGenerateContent?alt=sse",
    ]);
    for (const { headers, raw } of world.gemini.requests) {
      expect(headers).toMatchObject({ "x-goog-api-key": "google-secret" });
      expect(headers).not.toHaveProperty("authorization");
      expect(raw).not.toContain("service_");
    }
  });

  it("carries images, a schema and thinking from both clients", async () => {
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
    await chat({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url } },
          ],
        },
      ],
      response_format: { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
      reasoning_effort: "high",
    });
    expect(received()).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "What is it?" }, { inlineData }] }],
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: SCHEMA,
        thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true },
      },
    });
    const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
    await messages({
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source },
            { type: "text", text: "What is it?" },
          ],
        },
      ],
      system: "Be brief.",
      thinking: { type: "enabled", budget_tokens: 1500 },
    });
    expect(received()).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ inlineData }, { text: "What is it?" }] }],
      generationConfig: { maxOutputTokens: 2000, thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } },
    });
  });

  it("asks older models to think by a budget", async () => {
    await chat({ model: "gem-old", reasoning_effort: "low" });
    expect(received()).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } },
    });
  });
});

describe("an answer", () => {
  const PARTS = [thought("Hm, Rome."), text("It is sunny.", "SIG-T")];

  it("reaches a chat-completions client, whole and streamed", async () => {
    world.gemini.on("*", saysParts(PARTS));
    const details = [{ type: "reasoning.encrypted", format: "gemini", data: "SIG-T" }];
    expect(await (await chat({})).json()).toMatchObject({
      model: "gem",
      choices: [
        {
          message: { content: "It is sunny.", reasoning_content: "Hm, Rome.", reasoning_details: details },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    });
    const { chunks, isDone } = await readStream(await chat({ stream: true, stream_options: { include_usage: true } }));
    expect(isDone).toBe(true);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("It is sunny.");
    expect(deltas.map(({ reasoning_content: reasoning }) => reasoning ?? "").join("")).toBe("Hm, Rome.");
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 5 });
  });

  it("reaches a Messages client, whole and streamed", async () => {
    world.gemini.on("*", saysParts(PARTS));
    expect(await (await messages({})).json()).toMatchObject({
      model: "gem",
      content: [
        { type: "thinking", thinking: "Hm, Rome." },
        { type: "text", text: "It is sunny." },
      ],
      stop_reason: "end_turn",
      usage: { input_tokens: 12, output_tokens: 5 },
    });
    const events = await readEvents(await messages({ stream: true }));
    expect(textIn(events)).toBe("It is sunny.");
    expect(JSON.stringify(events)).toContain("Hm,");
  });

  it("may hold an image", async () => {
    world.gemini.on("*", saysParts([text("Here."), { inlineData: { mimeType: "image/png", data: "AAAA" } }]));
    expect(await (await chat({})).json()).toMatchObject({
      choices: [{ message: { content: "Here.", images: [{ image_url: { url: "data:image/png;base64,AAAA" } }] } }],
    });
  });

  it("may come in several candidates", async () => {
    const candidates = ["a", "b"].map((word, index) => ({
      content: { parts: [{ text: word }] },
      finishReason: "STOP",
      index,
    }));
    world.gemini.on("*", sends(200, { ...generated([]), candidates }));
    const answer = (await (await chat({ n: 2 })).json()) as { choices: { message: Json }[] };
    expect(answer.choices.map(({ message }) => message.content)).toEqual(["a", "b"]);
    expect(received()).toMatchObject({ generationConfig: { candidateCount: 2 } });
  });

  it.each([
    ["a stopped answer", generated([], { finishReason: "SAFETY", usage: { promptTokenCount: 12 } })],
    ["a blocked prompt", { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 12 } }],
  ])("may be a refusal: %s", async (_what, body) => {
    world.gemini.on("*", ({ request, response, ...rest }) =>
      (request.path.includes("stream") ? streamsChunks([body]) : sends(200, body))({ request, response, ...rest }),
    );
    expect(await (await chat({})).json()).toMatchObject({
      choices: [{ finish_reason: "content_filter", message: { refusal: "The provider blocked this: SAFETY." } }],
    });
    expect(await (await messages({})).json()).toMatchObject({ stop_reason: "refusal" });
    const { chunks, isDone } = await readStream(await chat({ stream: true }));
    expect([isDone, chunks.at(-1)?.choices[0]?.finish_reason]).toEqual([true, "content_filter"]);
  });
});

describe("a tool loop of three turns", () => {
  const first = saysParts(
    [
      thought("Two cities."),
      functionCall("weather", { city: "Rome" }, { signature: "SIG-1" }),
      functionCall("weather", { city: "Oslo" }),
    ],
    { responseId: "resp-1" },
  );
  const second = saysParts([functionCall("weather", { city: "Bergen" }, { id: "own-id", signature: "SIG-2" })], {
    responseId: "resp-2",
  });
  const third = says("Sunny, rainy, rainy.", { responseId: "resp-3" });
  beforeEach(() => world.gemini.once("gem-1", first, second, third));

  /** What Google must see in the third turn: every call signed as it was, every result under its call's id. */
  function expectHistory(): void {
    const { contents } = received() as { contents: { role: string; parts: Json[] }[] };
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user", "model", "user"]);
    const [, calls, results, call, result] = contents as [unknown, ...{ parts: Json[] }[]];
    const made = (calls as { parts: Json[] }).parts.filter((part) => part.functionCall !== undefined);
    expect(made.map((part) => part.thoughtSignature)).toEqual(["SIG-1", undefined]);
    expect(made.map((part) => (part.functionCall as Json).args)).toEqual([{ city: "Rome" }, { city: "Oslo" }]);
    const ids = made.map((part) => (part.functionCall as Json).id);
    expect(new Set(ids).size).toBe(2);
    expect(results?.parts.map((part) => part.functionResponse)).toEqual([
      { id: ids[0], name: "weather", response: { output: "sunny" } },
      { id: ids[1], name: "weather", response: { output: "rainy" } },
    ]);
    const again = call?.parts.find((part) => part.functionCall !== undefined);
    expect(again).toEqual({
      functionCall: { id: "own-id", name: "weather", args: { city: "Bergen" } },
      thoughtSignature: "SIG-2",
    });
    expect(result?.parts).toEqual([
      { functionResponse: { id: "own-id", name: "weather", response: { output: "rainy" } } },
    ]);
  }
  const WEATHER: Readonly<Record<string, string>> = { Rome: "sunny", Oslo: "rainy", Bergen: "rainy" };
  const weatherIn = (city: unknown): string => WEATHER[String(city)] as string;

  it.each([false, true])("keeps signatures for a chat-completions client, stream %j", async (stream) => {
    const history: Json[] = [QUESTION];
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await chat({ messages: history, tools: CHAT_TOOLS, stream });
      const message = stream ? await chatMessage(answer) : wholeMessage(await answer.json());
      history.push(message);
      for (const { id, function: called } of message.tool_calls as { id: string; function: Json }[]) {
        const { city } = JSON.parse(String(called.arguments)) as Json;
        history.push({ role: "tool", tool_call_id: id, content: weatherIn(city) });
      }
    }
    const last = await chat({ messages: history, tools: CHAT_TOOLS });
    expect(wholeMessage(await last.json()).content).toBe("Sunny, rainy, rainy.");
    expectHistory();
  });

  it.each([false, true])("keeps signatures for a Messages client, stream %j", async (stream) => {
    const tools = [{ name: "weather", description: "Tells it.", input_schema: SCHEMA }];
    const history: Json[] = [QUESTION];
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await messages({ messages: history, tools, stream });
      const content = stream ? await messageBlocks(answer) : ((await answer.json()) as { content: Json[] }).content;
      const calls = content.filter(({ type }) => type === "tool_use");
      const results = calls.map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: weatherIn((input as Json).city),
      }));
      history.push({ role: "assistant", content }, { role: "user", content: results });
    }
    const last = (await (await messages({ messages: history, tools })).json()) as { content: Json[] };
    expect(last.content.at(-1)).toMatchObject({ type: "text", text: "Sunny, rainy, rainy." });
    expectHistory();
  });
});

it("calls that another vendor made are sent with the placeholder, and never a foreign signature", async () => {
  const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
  const details = [{ type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "CLAUDE-SIG" }];
  await chat({
    messages: [
      QUESTION,
      { role: "assistant", content: null, tool_calls: [call], reasoning_details: details },
      { role: "tool", tool_call_id: "c1", content: "sunny" },
    ],
    tools: CHAT_TOOLS,
  });
  expect(received()).toMatchObject({
    contents: [{}, { parts: [{ thoughtSignature: "skip_thought_signature_validator" }] }, {}],
  });
  expect(world.gemini.requests.at(-1)?.raw).not.toContain("CLAUDE-SIG");
});

function wholeMessage(answer: unknown): Json {
  return (answer as { choices: { message: Json }[] }).choices[0]?.message as Json;
}

/** The message a client puts together from the deltas, unknown fields included. */
async function chatMessage(answer: Response): Promise<Json> {
  const message: Record<string, unknown> = { role: "assistant", content: null };
  const { chunks } = await readStream(answer);
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    for (const [name, value] of Object.entries(delta)) {
      if (Array.isArray(value)) message[name] = [...((message[name] as unknown[]) ?? []), ...value];
      else if (name !== "role" && value !== null)
        message[name] = `${(message[name] as string | null) ?? ""}${String(value)}`;
    }
  }
  return message;
}

/** The blocks a client puts together from the events. */
async function messageBlocks(answer: Response): Promise<Json[]> {
  const blocks: Record<string, unknown>[] = [];
  for (const event of await readEvents(answer)) {
    const delta = (event.delta ?? {}) as Json;
    const block = blocks.at(-1);
    if (event.type === "content_block_start") blocks.push({ ...(event.content_block as Json) });
    else if (event.type === "content_block_stop" && typeof block?.json === "string") {
      block.input = JSON.parse(block.json);
      delete block.json;
    } else if (block === undefined) continue;
    else if (delta.type === "input_json_delta")
      block.json = `${(block.json as string) ?? ""}${String(delta.partial_json)}`;
    else if (delta.type === "signature_delta") block.signature = delta.signature;
    else if (delta.type === "thinking_delta") block.thinking = `${String(block.thinking)}${String(delta.thinking)}`;
    else if (delta.type === "text_delta") block.text = `${String(block.text)}${String(delta.text)}`;
  }
  return blocks;
}
