// Converse over real HTTP, signed and verified by another implementation: every client format, whole and streamed, with
// tools, usage to the nano-USD, exceptions within streams, and streams that are cut.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { type Asking, askAs, objectsOf, WAYS } from "../../support/gateway/every-client.ts";
import {
  type BedrockGateway,
  NOVA,
  NOVA_PRICE,
  SECRET,
  startBedrockGateway,
} from "../../support/providers/clouds/bedrock-gateway.ts";
import { event, exception, problem } from "../../support/providers/clouds/event-stream.ts";
import { eventsOf, metadata, says, streams } from "../../support/providers/clouds/fake-bedrock.ts";
import { sends } from "../../support/providers/fake-provider.ts";
import { readStream } from "../../support/providers/streams.ts";
import { type Bank, bankOf, owed } from "../../support/stores/money.ts";

let world: BedrockGateway;
let bank: Bank;
beforeAll(async () => {
  world = await startBedrockGateway();
  bank = bankOf(world.cloud, world.gateway);
});
afterAll(() => world.close());
beforeEach(() => world.cloud.reset());

const DIRECT = { service_profile: "direct" };
const CALL = { toolUse: { toolUseId: "tooluse_A1", name: "weather", input: { city: "Paris", days: 2 } } };
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const FUNCTION = { name: "weather", description: "Weather of a city", parameters: PARAMETERS };
/** The same tool as each kind of client writes it. */
const TOOLS = {
  chat: { tools: [{ type: "function", function: FUNCTION }] },
  messages: { tools: [{ name: "weather", description: "Weather of a city", input_schema: PARAMETERS }] },
  responses: { tools: [{ type: "function", ...FUNCTION }] },
  gemini: { tools: [{ functionDeclarations: [FUNCTION] }] },
};

function ask(body: object, path = "/v1/chat/completions"): Promise<Response> {
  const messages = [{ role: "user", content: "Weather in Paris?" }];
  return world.gateway.post(path, { ...DIRECT, model: "nova", messages, ...body });
}

test.each(WAYS)("%s, streamed: %s", async (client, isStream) => {
  world.cloud.on(NOVA, says([{ text: "Paris is the capital." }]));
  const asking: Asking = { client, isStream, model: "nova" };
  const answer = await askAs(world.gateway, asking, DIRECT);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(wordsIn(text)).toContain("Paris is the capital.");
  const [request] = world.cloud.requests;
  expect(request?.path).toBe(`/model/eu.amazon.nova-pro-v1%3A0/converse${isStream ? "-stream" : ""}`);
  expect(request?.headers.accept).toBe(isStream ? "application/vnd.amazon.eventstream" : "application/json");
  expect(request?.body).toMatchObject({ messages: [{ role: "user", content: [{ text: /France/ }] }].map(asMatcher) });
  expect(JSON.stringify(request)).not.toContain(SECRET.secretAccessKey);
});

function asMatcher(turn: object): object {
  return { ...turn, content: [{ text: expect.stringContaining("France") }] };
}

/** All texts of an answer, joined, whatever its format calls them. */
function wordsIn(text: string): string {
  const strings: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") strings.push(value);
    else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) if (!["service", "id"].includes(name)) walk(inner);
    }
  };
  const isStream = !text.startsWith("{");
  for (const each of objectsOf(text)) walk(isStream ? deltaOf(each as Record<string, unknown>) : each);
  return strings.join("");
}

function deltaOf({ choices, candidates, delta, type }: Record<string, unknown>): unknown {
  if (Array.isArray(choices)) return choices.map((choice) => choice.delta?.content ?? choice.text);
  if (Array.isArray(candidates)) return candidates.map((candidate) => candidate.content?.parts);
  if (typeof delta === "string") return type === "response.output_text.delta" ? delta : null;
  return (delta as Record<string, unknown> | undefined)?.text;
}

const TOOL_WAYS = (["chat", "messages", "responses", "gemini"] as const).flatMap((client) =>
  [false, true].map((isStream) => [client, isStream] as const),
);

test.each(TOOL_WAYS)("a tool is called for %s, streamed: %s", async (client, isStream) => {
  world.cloud.on(NOVA, says([{ text: "Let me look." }, CALL]));
  const answer = await askAs(world.gateway, { client, isStream, model: "nova" }, { ...DIRECT, ...TOOLS[client] });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(text).toContain("weather");
  const joined = isStream ? argumentsIn(text) : text;
  expect(joined.replaceAll("\\", "")).toMatch(/"city": ?"Paris"/);
  expect(text).toMatch(/tool_calls|tool_use|function_call|functionCall/);
  expect(world.cloud.requests[0]?.body.toolConfig).toEqual({
    tools: [
      {
        toolSpec: {
          name: "weather",
          description: "Weather of a city",
          inputSchema: { json: expect.objectContaining(PARAMETERS) },
        },
      },
    ],
  });
});

/** The arguments of calls as they arrive in pieces, or at once. */
function argumentsIn(text: string): string {
  return objectsOf(text)
    .flatMap((each) => {
      const { choices, candidates, delta, type } = each as Record<string, unknown>;
      if (Array.isArray(choices))
        return choices.map((choice) => choice.delta?.tool_calls?.[0]?.function?.arguments ?? "");
      if (Array.isArray(candidates)) return JSON.stringify(candidates);
      if (type === "response.function_call_arguments.delta") return String(delta);
      return String((delta as Record<string, unknown> | undefined)?.partial_json ?? "");
    })
    .join("");
}

test("results, images, documents and instructions reach the model in their places", async () => {
  const call = { id: "call 1/odd", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } };
  const pixel = "iVBORw0KGgo=";
  const answer = await ask({
    max_tokens: 300,
    temperature: 0.3,
    stop: ["END"],
    tool_choice: "required",
    ...TOOLS.chat,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather in Paris?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call 1/odd", content: "sunny" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
          { type: "file", file: { filename: "my_report v2.pdf", file_data: `data:application/pdf;base64,${pixel}` } },
        ],
      },
    ],
  });
  expect(answer.status).toBe(200);
  const body = world.cloud.requests[0]?.body as
    | { messages: { content: { toolUse?: { toolUseId: string } }[] }[] }
    | undefined;
  const id = body?.messages[1]?.content[0]?.toolUse?.toolUseId;
  expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(body).toEqual({
    system: [{ text: "Be brief." }],
    messages: [
      { role: "user", content: [{ text: "Weather in Paris?" }] },
      { role: "assistant", content: [{ toolUse: { toolUseId: id, name: "weather", input: { city: "Paris" } } }] },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: id, content: [{ text: "sunny" }] } },
          { image: { format: "png", source: { bytes: pixel } } },
          { document: { format: "pdf", name: "my report v2", source: { bytes: pixel } } },
          { text: "(The user sent a document.)" },
          // Marked by the gateway, as for every model that keeps only what is marked.
          { cachePoint: { type: "default" } },
        ],
      },
    ],
    inferenceConfig: { maxTokens: 300, temperature: 0.3, stopSequences: ["END"] },
    toolConfig: { tools: expect.any(Array), toolChoice: { any: {} } },
  });
});

test("a signed thought goes back to the model that had it", async () => {
  const thought = { reasoningContent: { reasoningText: { text: "Hm, Paris.", signature: "sig-1" } } };
  const redacted = { reasoningContent: { redactedContent: "c2VjcmV0" } };
  world.cloud.on(NOVA, says([thought, redacted, { text: "Sunny." }]));
  const whole = (await (await ask({})).json()) as { choices: { message: object }[] };
  expect(whole.choices[0]?.message).toMatchObject({ reasoning_content: "Hm, Paris.", content: "Sunny." });
  const { chunks } = await readStream(await ask({ stream: true }));
  const details = chunks.flatMap(({ choices }) => (choices[0]?.delta.reasoning_details as object[] | undefined) ?? []);
  expect(details).toMatchObject([{ text: "Hm, Paris.", signature: "sig-1" }, { data: "c2VjcmV0" }]);
  world.cloud.requests.length = 0;
  await ask({
    messages: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "Sunny.", reasoning_details: details },
      { role: "user", content: "And tomorrow?" },
    ],
  });
  expect(world.cloud.requests[0]?.body.messages).toMatchObject([
    {},
    { role: "assistant", content: [thought, redacted, { text: "Sunny." }] },
    {},
  ]);
});

describe("money", () => {
  const LONG = { max_tokens: 2000, messages: [{ role: "user", content: "word ".repeat(2000) }] };
  const spend = (body: object, path?: string): Promise<bigint> =>
    bank.spentBy(async () => {
      await (await ask({ ...LONG, ...body }, path)).text();
    });

  it.each([
    ["plain", { inputTokens: 12, outputTokens: 5 }, { input: 12, output: 5 }],
    [
      "cached",
      { inputTokens: 100, outputTokens: 5, cacheReadInputTokens: 900, cacheWriteInputTokens: 40, totalTokens: 1045 },
      { input: 100, cacheRead: 900, cacheWrite: 40, output: 5 },
    ],
  ])("of %s usage is exact", async (_name, usage, tokens) => {
    world.cloud.on(NOVA, says([{ text: "All fine." }], { usage }));
    const expected = owed(tokens, NOVA_PRICE);
    expect(await spend({})).toBe(expected);
    expect(await spend({ stream: true })).toBe(expected);
    expect(await spend({}, "/v1/messages")).toBe(expected);
  });

  it("of a stream without counts is estimated, and of one that is cut nothing, as in every format", async () => {
    const all = eventsOf([{ text: "All fine, said the model." }]);
    world.cloud.on(NOVA, streams(all));
    expect(await spend({ stream: true })).toBeGreaterThan(0n);
    world.cloud.on(NOVA, streams(all.slice(0, -2), "is cut"));
    expect(await spend({ stream: true })).toBe(0n);
  });

  it("of an answer that never came is nothing", async () => {
    world.cloud.on(NOVA, streams([exception("throttlingException", { message: "Too fast." })]));
    expect(await spend({ stream: true })).toBe(0n);
    world.cloud.on(NOVA, sends(429, { message: "Too many requests" }));
    expect(await spend({})).toBe(0n);
  });
});

describe("a stream that fails", () => {
  const begun = eventsOf([{ text: "Half of it" }]).slice(0, 3);
  const broken = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x" } });
  broken[broken.length - 6] = 0;
  const FAILURES: readonly (readonly [string, Buffer])[] = [
    ["an exception", exception("modelStreamErrorException", { message: "The model broke." })],
    ["a problem of the connection", problem("InternalError", "Gone.")],
    ["a wrong checksum", broken],
    ["a malformed call", event("messageStop", { stopReason: "malformed_tool_use" })],
  ];

  it.each(FAILURES)("by %s before the answer is answered by the next model", async (_name, failure) => {
    world.cloud.on(NOVA, streams([event("messageStart", { role: "assistant" }), failure]));
    world.cloud.on("mistral.other", says([{ text: "from the other" }]));
    const sent = { service_profile: "tier", service_tier: "SIMPLE", stream: true, model: "auto" };
    const { chunks, isDone } = await readStream(await ask(sent));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("from the other");
    expect(isDone).toBe(true);
  });

  it.each(FAILURES)("by %s within the answer says so", async (_name, failure) => {
    world.cloud.on(NOVA, streams([...begun, failure]));
    const { chunks, error } = await readStream(await ask({ stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toContain("Half");
    expect(error).not.toBeNull();
  });
});

describe("refusals", () => {
  it("of a field by name are repeated without it, and the choice of tools is left to the model", async () => {
    const message =
      "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.";
    world.cloud.once(NOVA, sends(400, { message }));
    const answer = await ask({ ...TOOLS.chat, tool_choice: "required" });
    expect(answer.status).toBe(200);
    expect(world.cloud.requests.map(({ body }) => (body.toolConfig as { toolChoice?: object }).toolChoice)).toEqual([
      { any: {} },
      undefined,
    ]);
  });

  it("of instructions put them into the first turn", async () => {
    world.cloud.once(
      NOVA,
      sends(400, { message: "This model doesn't support the system field. Remove system and try again." }),
    );
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    expect((await ask({ messages })).status).toBe(200);
    expect(world.cloud.requests[1]?.body).toMatchObject({
      messages: [{ role: "user", content: [{ text: "Be brief." }, { text: "Hi" }] }],
    });
  });

  it("of a name that the region does not have are the operator's", async () => {
    world.cloud.on(NOVA, sends(400, { message: "The provided model identifier is invalid." }));
    world.cloud.on("mistral.other", says([{ text: "from the other" }]));
    const answer = await ask({ service_profile: "tier", service_tier: "SIMPLE", model: "auto" });
    expect(await answer.text()).toContain("from the other");
  });

  it("of what cannot be said name the reason", async () => {
    const content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
    const answer = await ask({ messages: [{ role: "user", content }] });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("send the image as a data URL");
    expect(world.cloud.requests).toHaveLength(0);
  });
});

test("an effort is asked for as the maker knows it, and marks become cache points", async () => {
  const content = [{ type: "text", text: "A long beginning.", cache_control: { type: "ephemeral" } }];
  await ask({ reasoning_effort: "low", messages: [{ role: "user", content }] });
  expect(world.cloud.requests[0]?.body).toMatchObject({
    additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } },
    messages: [{ content: [{ text: "A long beginning." }, { cachePoint: { type: "default" } }] }],
  });
});

test("the counts of a stream come after its end, and are passed on", async () => {
  world.cloud.on(
    NOVA,
    streams([...eventsOf([{ text: "Hi" }], "max_tokens"), ...metadata({ inputTokens: 3, outputTokens: 2 })]),
  );
  const { chunks } = await readStream(await ask({ stream: true, stream_options: { include_usage: true } }));
  expect(chunks.some(({ choices }) => choices[0]?.finish_reason === "length")).toBe(true);
  expect(chunks.findLast(({ usage }) => usage)?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
});
