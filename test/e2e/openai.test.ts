// The official OpenAI client, unchanged: only its base URL and its key are set. Behaviour 2.1.

import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { labYaml, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import {
  answers,
  chunk,
  type FakeProvider,
  fails,
  hangs,
  startFakeProvider,
  streams,
} from "../support/providers/fake-provider.ts";
import { promisedMs } from "../support/random.ts";

type Create = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

const HELLO = {
  model: "auto",
  messages: [{ role: "user" as const, content: "What is the capital of France?" }],
} satisfies Create;
const WEATHER = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
} satisfies OpenAI.Chat.ChatCompletionTool;
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function clientOf(gateway: TestGateway, apiKey = gateway.key): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

describe("against the sandbox", () => {
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startGateway();
    client = clientOf(gateway);
  });
  afterAll(() => gateway.stop());

  it("a plain completion", async () => {
    const completion = await client.chat.completions.create(HELLO);
    expect(completion.choices[0]?.message).toMatchObject({
      role: "assistant",
      content: expect.stringContaining("simulated"),
    });
    expect(completion.model).not.toBe("auto");
    expect(completion.id).not.toBe("");
    expect(completion.usage?.total_tokens).toBe(
      (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
    );
    expect(completion._request_id).toMatch(/^req_/);
    expect(completion).toHaveProperty("service.tier");
  });

  it("a stream, read piece by piece", async () => {
    const stream = await client.chat.completions.create({
      ...HELLO,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let finish: string | null = null;
    let usage: OpenAI.CompletionUsage | null | undefined = null;
    for await (const part of stream) {
      text += part.choices[0]?.delta.content ?? "";
      finish = part.choices[0]?.finish_reason ?? finish;
      usage = part.usage ?? usage;
    }
    expect(text).toContain("simulated");
    expect(finish).toBe("stop");
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    const whole = await client.chat.completions.create(HELLO);
    expect(text).toBe(whole.choices[0]?.message.content);
  });

  it("a stream, with the helper", async () => {
    const contents: string[] = [];
    const runner = client.chat.completions.stream(HELLO).on("content", (delta) => void contents.push(delta));
    const final = await runner.finalChatCompletion();
    expect(contents.length).toBeGreaterThan(3);
    expect(final.choices[0]?.message.content).toBe(contents.join(""));
    expect(final.choices[0]?.finish_reason).toBe("stop");
  });

  it.each(["whole", "streamed"])("a tool call with its result, %s", async (manner) => {
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
      { role: "user", content: "What is the weather in Rome?" },
    ];
    const ask = async (): Promise<OpenAI.Chat.ChatCompletion> =>
      manner === "whole"
        ? client.chat.completions.create({ model: "auto", messages, tools: [WEATHER] })
        : client.chat.completions.stream({ model: "auto", messages, tools: [WEATHER] }).finalChatCompletion();
    const first = (await ask()).choices[0];
    expect(first?.finish_reason).toBe("tool_calls");
    const call = first?.message.tool_calls?.[0];
    if (call?.type !== "function") throw new Error("no function was called");
    expect(call.function.name).toBe("get_weather");
    expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) });
    messages.push(first?.message as OpenAI.Chat.ChatCompletionMessageParam);
    messages.push({ role: "tool", tool_call_id: call.id, content: "22 degrees" });
    const second = (await ask()).choices[0];
    expect(second?.finish_reason).toBe("stop");
    expect(second?.message.content).toContain("22 degrees");
  });

  it("the helper that runs tools by itself", async () => {
    const cities: string[] = [];
    const runner = client.chat.completions.runTools({
      model: "auto",
      messages: [{ role: "user", content: "What is the weather in Rome?" }],
      tools: [
        {
          type: "function",
          function: {
            ...WEATHER.function,
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => {
              cities.push(city);
              return "22 degrees";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("22 degrees");
    expect(cities).toHaveLength(1);
  });

  it("an answer by a JSON schema", async () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string" },
        people: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["city", "people", "tags"],
      additionalProperties: false,
    };
    const completion = await client.chat.completions.parse({
      ...HELLO,
      response_format: { type: "json_schema", json_schema: { name: "capital", strict: true, schema } },
    });
    const message = completion.choices[0]?.message;
    expect(JSON.parse(message?.content as string)).toEqual({
      city: expect.any(String),
      people: expect.any(Number),
      tags: expect.any(Array),
    });
  });

  it("an image", async () => {
    const completion = await client.chat.completions.create({
      model: "auto",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is in this picture?" },
            { type: "image_url", image_url: { url: PIXEL } },
          ],
        },
      ],
    });
    const { capabilities } = await modelOf(completion.model);
    expect(capabilities).toContain("vision");
  });

  async function modelOf(wanted: string): Promise<{ capabilities: string[] }> {
    const { data } = (await (await gateway.api("GET", "/api/models")).json()) as {
      data: { id: string; capabilities: string[] }[];
    };
    return data.find(({ id }) => id === wanted) as { capabilities: string[] };
  }

  it("several choices and a small cap", async () => {
    const completion = await client.chat.completions.create({ ...HELLO, n: 2, max_completion_tokens: 5 });
    expect(completion.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "length"],
      [1, "length"],
    ]);
  });

  it("routing controls as extra fields", async () => {
    const controls = { service_profile: "tier", service_tier: "COMPLEX" };
    const completion = await client.chat.completions.create({ ...HELLO, ...controls } as Create);
    expect(completion).toMatchObject({ service: { tier: "COMPLEX", profile: "tier" } });
  });

  it("the models", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain("gpt-4o-mini");
    expect(await client.models.retrieve("gpt-4o-mini")).toMatchObject({ id: "gpt-4o-mini", object: "model" });
  });

  it("a base URL with a slash too many", async () => {
    const other = new OpenAI({ baseURL: `${gateway.url}/v1/`, apiKey: gateway.key, maxRetries: 0 });
    expect((await other.chat.completions.create(HELLO)).choices).toHaveLength(1);
  });
});

describe("errors are the client's own classes", () => {
  let provider: FakeProvider;
  let gateway: TestGateway;
  beforeAll(async () => {
    provider = await startFakeProvider();
    gateway = await startGateway({ yaml: labYaml(provider.url) });
  });
  afterEach(() => provider.reset());
  afterAll(async () => {
    await gateway.stop();
    await provider.close();
  });

  const failure = async (call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    return error as InstanceType<typeof OpenAI.APIError>;
  };

  it.each([
    [
      "401",
      OpenAI.AuthenticationError,
      HELLO,
      "sk-service-wrong",
      { code: "invalid_api_key", type: "authentication_error" },
    ],
    [
      "404",
      OpenAI.NotFoundError,
      { ...HELLO, model: "no", service_profile: "direct" } as Create,
      null,
      { code: "model_not_found", param: "model" },
    ],
    ["422", OpenAI.UnprocessableEntityError, { model: "auto", messages: [] }, null, { param: "messages" }],
    ["400", OpenAI.BadRequestError, { ...HELLO, max_tokens: -1 }, null, { param: "max_tokens" }],
  ])("%s", async (status, type, body, key, fields) => {
    const error = await failure(clientOf(gateway, key ?? gateway.key).chat.completions.create(body));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status: Number(status), ...fields, requestID: expect.stringMatching(/^req_/) });
  });

  it("429", async () => {
    const made = await gateway.api("POST", "/api/keys", { name: "one", requestsPerMinute: 1 });
    const client = clientOf(gateway, ((await made.json()) as { key: string }).key);
    await client.chat.completions.create(HELLO);
    const error = await failure(client.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.headers?.get("retry-after")).toMatch(/^\d+$/);
  });

  it("503", async () => {
    provider.on("*", fails(404));
    const error = await failure(clientOf(gateway).chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 503, type: "provider_error" });
  });

  it("a stream that breaks", async () => {
    provider.on("*", streams([chunk("alpha", { content: "half" })], { ending: "cut" }));
    const stream = await clientOf(gateway).chat.completions.create({ ...HELLO, stream: true });
    const seen: string[] = [];
    const error = await failure(
      (async () => {
        for await (const part of stream) seen.push(part.choices[0]?.delta.content ?? "");
      })(),
    );
    expect(seen).toEqual(["half"]);
    expect(error).toMatchObject({ code: "stream_interrupted", type: "provider_error" });
  });
});

describe("against a provider", () => {
  let provider: FakeProvider;
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    provider = await startFakeProvider();
    gateway = await startGateway({ yaml: labYaml(provider.url) });
    client = clientOf(gateway);
  });
  afterEach(() => provider.reset());
  afterAll(async () => {
    await gateway.stop();
    await provider.close();
  });

  it("plain and streamed answers are the provider's", async () => {
    provider.on("*", answers("Paris, of course."));
    const whole = await client.chat.completions.create(HELLO);
    const streamed = await client.chat.completions.stream(HELLO).finalChatCompletion();
    expect(whole.choices[0]?.message.content).toBe("Paris, of course.");
    expect(streamed.choices[0]?.message.content).toBe("Paris, of course.");
    expect([whole.model, streamed.model]).toEqual(["alpha", "alpha"]);
  });

  it("parallel tool calls in pieces are put together", async () => {
    const call = (index: number, fields: object) => chunk("alpha", { tool_calls: [{ index, ...fields }] });
    provider.on(
      "*",
      streams([
        call(0, { id: "a", type: "function", function: { name: "get_weather", arguments: "" } }),
        call(0, { function: { arguments: '{"city":' } }),
        call(0, { function: { arguments: '"Rome"}' } }),
        call(1, { id: "b", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }),
        chunk("alpha", {}, "tool_calls"),
      ]),
    );
    const final = await client.chat.completions.stream({ ...HELLO, tools: [WEATHER] }).finalChatCompletion();
    const calls = final.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((one) => one.type === "function" && [one.id, one.function.arguments])).toEqual([
      ["a", '{"city":"Rome"}'],
      ["b", '{"city":"Oslo"}'],
    ]);
  });

  it("leaving cancels the call at the provider at once", async () => {
    provider.on("*", hangs);
    const arrived = provider.nextRequest();
    const controller = new AbortController();
    const call = client.chat.completions.create(HELLO, { signal: controller.signal });
    const request = await arrived;
    const leftAt = performance.now();
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(await request.closed).toEqual({ wasCut: true });
    expect(performance.now() - leftAt).toBeLessThan(promisedMs(1_000));
  });

  it("leaving in the middle of a stream does too", async () => {
    provider.on(
      "*",
      streams([chunk("alpha", { content: "one" }), chunk("alpha", { content: "two" })], { ending: "hang" }),
    );
    const arrived = provider.nextRequest();
    const stream = await client.chat.completions.create({ ...HELLO, stream: true });
    const request = await arrived;
    for await (const part of stream) {
      expect(part.choices[0]?.delta.content).toBe("one");
      break;
    }
    expect(await request.closed).toEqual({ wasCut: true });
  });
});
