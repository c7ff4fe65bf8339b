// The promise that a wire format is one folder and one row: an invented one, registered from here, runs the whole path
// at both edges, over real HTTP, with streams, tools, errors, usage and exact money.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { TELEGRAM_WIRE, TELEGRAPH } from "../../support/formats/telegram/codec.ts";
import { liveTelegram, taps, troubles, wholeTelegram } from "../../support/formats/telegram/office.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { failsNatively, saysBlocks, startFakeAnthropic, toolUse } from "../../support/providers/fake-anthropic.ts";
import {
  answers,
  chunk,
  completion,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";

type Json = Record<string, unknown>;

let chat: FakeProvider;
let claude: FakeProvider;
let office: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  chat = await startFakeProvider();
  claude = await startFakeAnthropic();
  office = await startFakeProvider();
  gateway = await startGateway({ yaml: yaml(), wire: TELEGRAM_WIRE, kinds: [TELEGRAPH] });
});
afterAll(async () => {
  await gateway.stop();
  for (const provider of [chat, claude, office]) await provider.close();
});
beforeEach(() => {
  for (const provider of [chat, claude, office]) provider.reset();
});

function yaml(): string {
  const model = (id: string, provider: string): string =>
    `  - { id: ${id}, provider: ${provider}, price: { input: 1, output: 3, cacheRead: 0.1 }, context: 128000, maxOutput: 16384, capabilities: [tools, json] }`;
  return [
    "catalog: none",
    "providers:",
    `  chat: { kind: openai, baseUrl: "${chat.url}", apiKey: chat-secret }`,
    `  claude: { kind: anthropic, baseUrl: "${claude.url}", apiKey: claude-secret }`,
    `  office: { kind: telegraph, baseUrl: "${office.url}", apiKey: office-secret }`,
    "models:",
    model("chat-m", "chat"),
    model("claude-m", "claude"),
    model("office-m", "office"),
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier, index) =>
      index === 0 ? `tiers:\n  ${tier}: [office-m]` : `  ${tier}: [office-m]`,
    ),
  ].join("\n");
}

const WEATHER = { type: "object", properties: { city: { type: "string" } } };
const NOTES = { city: "Rome" };
const ORDER = { number: "order_1", machine: "weather", notes: NOTES };
const DIRECT = { service_profile: "direct" };
const LINES = [
  { from: "office", words: "Be brief." },
  { from: "sender", words: "Weather in Rome?" },
];
const MACHINES = [{ label: "weather", about: "Tells it.", settings: WEATHER }];
const MESSAGES = [{ role: "user", content: "Weather in Rome?" }];

const TOOL_CALL = { id: "order_1", type: "function", function: { name: "weather", arguments: JSON.stringify(NOTES) } };

/** What each provider does to say it is sunny, or to call the tool; 12 tokens in, 5 out. */
const PROVIDERS = [
  {
    model: "chat-m",
    fake: () => chat,
    speaks: answers("It is sunny."),
    calls: callsInChat(),
    refuses: fails(400, { message: "bad weather", code: "bad" }),
  },
  {
    model: "claude-m",
    fake: () => claude,
    speaks: saysBlocks([{ type: "text", text: "It is sunny." }]),
    calls: saysBlocks([toolUse("order_1", "weather", NOTES)]),
    refuses: failsNatively(400, "bad weather"),
  },
  {
    model: "office-m",
    fake: () => office,
    speaks: taps({ words: "It is sunny.", bill: { sent: 12, received: 5 } }),
    calls: taps({ orders: [ORDER], bill: { sent: 12, received: 5 } }),
    refuses: troubles(400, { text: "bad weather", sort: "bad" }),
  },
];

function callsInChat(): ReturnType<typeof answers> {
  return (exchange) => {
    const { model, stream } = exchange.request.body;
    const message = { role: "assistant", content: null, tool_calls: [TOOL_CALL] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    if (stream !== true) return sends(200, completion("", model, { choices }))(exchange);
    const [half, rest] = [TOOL_CALL.function.arguments.slice(0, 6), TOOL_CALL.function.arguments.slice(6)];
    const first = { index: 0, ...TOOL_CALL, function: { name: "weather", arguments: half } };
    const chunks = [
      chunk(model, { role: "assistant", tool_calls: [first] }),
      chunk(model, { tool_calls: [{ index: 0, function: { arguments: rest } }] }),
      chunk(model, {}, "tool_calls"),
    ];
    return streams(chunks, { usage: USAGE })(exchange);
  };
}

interface Telegraphed {
  readonly response: Response;
  readonly body: Json;
}

async function telegraph(body: Json): Promise<Telegraphed> {
  const response = await gateway.post("/wire/telegrams", { ...DIRECT, lines: LINES, machines: MACHINES, ...body });
  return { response, body: (await response.json()) as Json };
}

async function events(response: Response): Promise<readonly (readonly [string, Json])[]> {
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const texts = (await response.text()).split("\n\n").filter((text) => text !== "");
  return texts.map((text) => {
    const [event, data] = text.split("\n") as [string, string];
    return [event.slice("event: ".length), JSON.parse(data.slice("data: ".length)) as Json] as const;
  });
}

/** What the request was charged, from its line in the log: 12 in and 5 out at 1 and 3 USD a million, and 5 % on top. */
const CHARGED = "0.00002835";
/** The same with 4 of the 12 read from a cache, at 0.1 USD. */
const CHARGED_CACHED = "0.00002457";

async function chargeOf(response: Response): Promise<unknown> {
  const requestId = response.headers.get("x-request-id");
  return vi.waitFor(() => {
    const line = gateway.logged.find(({ message, fields }) => message === "request" && fields.requestId === requestId);
    if (line === undefined) throw new Error("not logged yet");
    return (line.fields as Json).chargedUsd;
  }, 120_000);
}

describe.each(PROVIDERS)("a client of it, served by $model", ({ model, fake, speaks, calls, refuses }) => {
  it("gets whole telegrams, with the bill and exact money", async () => {
    fake().on("*", speaks);
    const { response, body } = await telegraph({ station: model });
    expect(body).toMatchObject({ station: model, words: "It is sunny.", stop: "full", service: { model } });
    expect(body.bill).toMatchObject({ sent: 12, received: 5 });
    expect(await chargeOf(response)).toBe(CHARGED);
  });

  it("gets live telegrams", async () => {
    fake().on("*", speaks);
    const asked = { ...DIRECT, station: model, live: true, lines: LINES };
    const response = await gateway.post("/wire/telegrams", asked);
    const got = await events(response);
    expect(got[0]).toEqual(["tap", expect.objectContaining({ station: model, service: expect.anything() })]);
    const words = got.filter(([event]) => event === "words").map(([, { w }]) => w);
    expect(words.join("")).toBe("It is sunny.");
    expect(got.at(-1)).toEqual(["stop", { stop: "full", bill: expect.objectContaining({ sent: 12, received: 5 }) }]);
    expect(await chargeOf(response)).toBe(CHARGED);
  });

  it("gets orders for its machines, whole and live, and sends the results", async () => {
    fake().on("*", calls);
    const { body } = await telegraph({ station: model });
    expect(body).toMatchObject({ stop: "orders", orders: [ORDER] });
    const live = await gateway.post("/wire/telegrams", {
      ...{ ...DIRECT, station: model, live: true },
      ...{ lines: LINES, machines: MACHINES },
    });
    const got = await events(live);
    expect(got.filter(([event]) => event === "order")).toEqual([["order", { number: "order_1", machine: "weather" }]]);
    const pieces = got.filter(([event]) => event === "notes").map(([, { piece }]) => piece);
    expect(JSON.parse(pieces.join(""))).toEqual(NOTES);
    fake().on("*", speaks);
    const back = [
      { from: "clerk", orders: [ORDER] },
      { from: "machine", answering: "order_1", words: "sun" },
    ];
    expect((await telegraph({ station: model, lines: [...LINES, ...back] })).body.words).toBe("It is sunny.");
    expect(fake().requests.at(-1)?.raw).toContain("sun");
    expect(fake().requests.at(-1)?.raw).toContain("order_1");
  });

  it("is told of a provider's error in its own shape", async () => {
    fake().on("*", refuses);
    const { response, body } = await telegraph({ station: model });
    expect(response.status).toBe(400);
    expect(body).toMatchObject({ trouble: { text: "bad weather" } });
    expect(await chargeOf(response)).toBeNull();
  });
});

describe("what providers of other formats receive", () => {
  const asked = { word_limit: 50, mood: "gay" };

  it("is chat-completions for a chat provider", async () => {
    await telegraph({ station: "chat-m", ...asked });
    const { headers, body } = chat.requests[0]!;
    expect(headers.authorization).toBe("Bearer chat-secret");
    expect(body).toEqual({
      model: "chat-m",
      messages: [{ role: "system", content: "Be brief." }, ...MESSAGES],
      max_tokens: 50,
      tools: [{ type: "function", function: { name: "weather", description: "Tells it.", parameters: WEATHER } }],
    });
  });

  it("is the Messages format for an Anthropic provider", async () => {
    await telegraph({ station: "claude-m", ...asked });
    const { headers, body } = claude.requests[0]!;
    expect(headers["x-api-key"]).toBe("claude-secret");
    expect(body).toMatchObject({
      max_tokens: 50,
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Weather in Rome?" }] }],
      tools: [{ name: "weather", description: "Tells it.", input_schema: WEATHER }],
    });
  });
});

describe("between a client and a provider of it", () => {
  it("bytes travel untouched, both ways", async () => {
    office.on("*", taps({ words: "sun" }));
    const inner = `"lines":[ {"from":"sender","words":"caf\\u00e9"} ],"novel":1.0`;
    const response = await gateway.post(
      "/wire/telegrams",
      `{"station":"office-m","service_profile":"direct",${inner}}`,
    );
    const { raw, headers, path } = office.requests[0]!;
    expect(raw).toBe(`{"station":"office-m",${inner}}`);
    expect([path, headers["x-operator-key"]]).toEqual(["/v1/wire", "office-secret"]);
    const service = JSON.stringify((JSON.parse(await response.clone().text()) as Json).service);
    const sent = wholeTelegram("office-m", { words: "sun" });
    expect(await response.text()).toBe(`${sent.slice(0, -1)},"service":${service}}`);
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("events travel untouched but for the first", async () => {
    office.on("*", taps({ words: "It is sunny." }));
    const response = await gateway.post("/wire/telegrams", {
      ...DIRECT,
      station: "office-m",
      live: true,
      lines: LINES,
    });
    const sent = liveTelegram("office-m", { words: "It is sunny." });
    const got = await response.text();
    expect(got.split("\n\n").slice(1)).toEqual(sent.split("\n\n").slice(1));
    expect(got.split("\n\n")[0]).toContain('"novelty":1,"service":{');
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("a refused field is left out on the retry", async () => {
    office.once("undefined", troubles(400, { text: "what mood?", sort: "odd_field", field: "mood" }));
    office.on("*", taps({ words: "sun" }));
    const { body } = await telegraph({ station: "office-m", mood: "gay" });
    expect(body.words).toBe("sun");
    expect(office.requests.map(({ body: sent }) => sent.mood)).toEqual(["gay", undefined]);
  });

  it("its own headers say how long to wait", async () => {
    const busy = { "telegraph-left": "0", "telegraph-again": "7s" };
    office.on("*", troubles(429, { text: "busy", sort: "busy" }, busy));
    const { response, body } = await telegraph({ station: "office-m" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "7"]);
    expect(body).toMatchObject({ trouble: { sort: "all_providers_failed" } });
  });
});

describe("clients of other formats, served by a provider of it", () => {
  const TOOLS = [{ type: "function", function: { name: "weather", description: "Tells it.", parameters: WEATHER } }];
  const chatBody = { ...DIRECT, model: "office-m", messages: MESSAGES, tools: TOOLS };
  const claudeBody = {
    ...{ ...DIRECT, model: "office-m", max_tokens: 50, messages: MESSAGES },
    tools: [{ name: "weather", description: "Tells it.", input_schema: WEATHER }],
  };

  it("a chat client gets completions, with tools, usage and exact money", async () => {
    office.on("*", taps({ words: "sun", orders: [ORDER] }));
    const response = await gateway.post("/v1/chat/completions", chatBody);
    const body = (await response.json()) as { choices: Json[] } & Json;
    expect(body.choices[0]).toMatchObject({
      message: { content: "sun", tool_calls: [TOOL_CALL] },
      finish_reason: "tool_calls",
    });
    expect(body.usage).toEqual({
      ...{ prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    });
    expect(office.requests[0]?.body).toEqual({
      station: "office-m",
      lines: [{ from: "sender", words: "Weather in Rome?" }],
      machines: MACHINES,
    });
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("a chat client gets streams", async () => {
    office.on("*", taps({ words: "It is sunny." }));
    const options = { stream: true, stream_options: { include_usage: true } };
    const response = await gateway.post("/v1/chat/completions", { ...chatBody, ...options });
    const text = await response.text();
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    const said = chunks.flatMap(({ choices }) =>
      (choices as { delta: Json }[]).map(({ delta }) => delta.content ?? ""),
    );
    expect(said.join("")).toBe("It is sunny.");
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 5 });
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("an Anthropic client gets messages, with tools, usage and exact money", async () => {
    office.on("*", taps({ words: "sun", orders: [ORDER] }));
    const response = await gateway.post("/v1/messages", claudeBody);
    expect(await response.json()).toMatchObject({
      content: [
        { type: "text", text: "sun" },
        { type: "tool_use", id: "order_1", name: "weather", input: NOTES },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 5 },
    });
    expect(office.requests[0]?.body).toMatchObject({ word_limit: 50, machines: MACHINES });
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("an Anthropic client gets events", async () => {
    office.on("*", taps({ words: "It is sunny.", orders: [ORDER] }));
    const response = await gateway.post("/v1/messages", { ...claudeBody, stream: true });
    const got = await events(response);
    const deltas = got.filter(([event]) => event === "content_block_delta").map(([, { delta }]) => delta as Json);
    expect(deltas.map(({ text }) => text ?? "").join("")).toBe("It is sunny.");
    expect(deltas.map(({ partial_json: piece }) => piece ?? "").join("")).toBe(JSON.stringify(NOTES));
    expect(got.at(-2)?.[1]).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } });
    expect(await chargeOf(response)).toBe(CHARGED_CACHED);
  });

  it("are told of its errors in their own shapes", async () => {
    office.on("*", troubles(400, { text: "bad weather", sort: "bad" }));
    const [asChat, asMessage] = await Promise.all([
      gateway.post("/v1/chat/completions", chatBody),
      gateway.post("/v1/messages", claudeBody),
    ]);
    expect(await asChat.json()).toMatchObject({ error: { message: "bad weather", code: "bad" } });
    expect(await asMessage.json()).toMatchObject({ type: "error", error: { message: "bad weather" } });
  });
});

describe("the edge", () => {
  it.each([
    ["a body it cannot read", "/wire/telegrams", { station: "office-m" }, 422, "no_lines"],
    ["a path below it that is not there", "/wire/telegrams/nowhere", {}, 404, "unknown"],
  ])("answers %s in its shape", async (_name, path, body, status, sort) => {
    const response = await gateway.post(path, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ trouble: { sort, telegram: response.headers.get("x-request-id") } });
    expect(response.headers.get("telegram-number")).toBe(response.headers.get("x-request-id"));
  });

  it("takes the key from its header, and refuses a wrong one in its shape", async () => {
    office.on("*", taps({ words: "sun" }));
    const send = (key: string): Promise<Response> =>
      fetch(`${gateway.url}/wire/telegrams`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegraph-key": key },
        body: JSON.stringify({ ...DIRECT, station: "office-m", lines: LINES }),
      });
    expect((await send(gateway.key)).status).toBe(200);
    const refused = await send("sk-service-wrong");
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ trouble: { sort: "invalid_api_key" } });
  });

  it("lists models, counts tokens and explains routing in it", async () => {
    const headers = { "x-telegraph-key": gateway.key };
    expect(await (await gateway.get("/v1/models", headers)).json()).toMatchObject({
      stations: expect.arrayContaining(["office-m"]),
    });
    expect(await (await gateway.get("/wire/stations")).json()).toHaveProperty("stations");
    const counted = await gateway.post("/wire/telegrams/count", { lines: LINES });
    expect(await counted.json()).toEqual({ words: expect.any(Number) });
    const debug = await gateway.post("/v1/routing/debug", { prompt: "Weather in Rome?" }, headers);
    expect(await debug.json()).toMatchObject({ decision: { model: "office-m", conversions: [] } });
  });

  it("names its paths in hints, on the pages for clients and in the contract", async () => {
    const messageOf = async (path: string): Promise<unknown> => {
      const { trouble } = (await (await gateway.post(path, {}, { "x-telegraph-key": gateway.key })).json()) as Json;
      return (trouble as Json).text;
    };
    expect(await messageOf("/wire/flags")).toMatch(/send a telegram to POST \/wire\/telegrams/);
    expect(await messageOf("/wire/telegram")).toMatch(/Did you mean \/wire\/telegrams\?/);
    expect(await (await gateway.get("/v1")).json()).toMatchObject({
      what: expect.stringContaining("an Anthropic, Gemini or Telegraph client's at the address itself"),
      endpoints: expect.arrayContaining(["/wire/telegrams", "/wire/stations"]),
    });
    const guide = await (await gateway.get("/llms.txt")).text();
    const paths = "POST /wire/telegrams, POST /wire/telegrams/count, GET /wire/stations";
    expect(guide).toContain(`- Telegraph clients: ${gateway.url} (${paths})`);
    expect(guide).toContain("x-telegraph-key from Telegraph clients");
    const contract = (await (await gateway.get("/openapi.json")).json()) as { paths: Json };
    expect(contract.paths).toMatchObject({
      "/wire/telegrams": { post: { operationId: "sendTelegram", tags: ["Client API"] } },
      "/wire/telegrams/count": { post: { operationId: "countWords" } },
      "/wire/stations": { get: { security: [{ apiKey: [] }] } },
    });
  });

  it("records its requests like any other", async () => {
    office.on("*", taps({ words: "sun" }));
    const { response } = await telegraph({ station: "office-m" });
    const requestId = response.headers.get("x-request-id");
    await vi.waitFor(async () => {
      const list = (await (await gateway.api("GET", "/api/requests")).json()) as { requests: Json[] };
      expect(JSON.stringify(list)).toContain(requestId);
    }, 120_000);
  });
});
