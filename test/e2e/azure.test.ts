// The official OpenAI client, unchanged, on deployments of an Azure resource at both of its addresses: chat, streams,
// tools, Responses, embeddings, and what the content filter does to each.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import {
  AZURE_KEY,
  AZURE_VERSION,
  type FakeAzure,
  filtersAnswer,
  filtersPrompt,
  says,
  startFakeAzure,
  streamsNoted,
} from "../support/providers/fake-azure.ts";
import { fails } from "../support/providers/fake-provider.ts";
import { functionCall, respondsItems } from "../support/providers/fake-responses.ts";

const WRONG_KEY = "wrong-key-0123456789";
const CHAT = "gpt prod/1";
const SPARE = "spare";
const VECTORS = "vectors";
/** Named like models of the catalogue. */
const SHIPPED = ["gpt-4.1", "gpt-5-mini"];
const DIRECT = { service_profile: "direct" } as const;
const MESSAGES = [{ role: "user" as const, content: "What is the capital of France?" }];
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const TOOL = { type: "function" as const, function: { name: "get_weather", parameters: PARAMETERS } };

let azure: FakeAzure;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  azure = await startFakeAzure([CHAT, SPARE, VECTORS, ...SHIPPED]);
  gateway = await startGateway({ yaml: yaml() });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await azure.close();
});
beforeEach(() => azure.reset());

function yaml(): string {
  const model = (id: string, provider: string, upstream: string, capabilities = "[tools, json]"): string =>
    `  - { id: ${id}, provider: ${provider}, upstream: "${upstream}", price: { input: 2, output: 8 }, context: 128000, maxOutput: 16384, capabilities: ${capabilities} }`;
  return [
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  newer: { kind: azure, baseUrl: "${azure.resource}", apiKey: ${AZURE_KEY}, formats: [openai-chat, openai-responses] }`,
    `  classic: { kind: azure, baseUrl: "${azure.resource}/openai/", apiVersion: ${AZURE_VERSION}, apiKey: ${AZURE_KEY}, formats: [openai-chat, openai-responses] }`,
    `  locked: { kind: azure, baseUrl: "${azure.resource}/openai/v1", apiKey: ${WRONG_KEY} }`,
    `  azure-openai: { kind: azure, baseUrl: "${azure.resource}", apiKey: ${AZURE_KEY} }`,
    `  azure-eu: { kind: azure, baseUrl: "${azure.resource}", apiVersion: ${AZURE_VERSION}, apiKey: ${AZURE_KEY}, deployments: { gpt-4.1-mini: "${CHAT}" } }`,
    "models:",
    ...["newer", "classic"].flatMap((provider) => [
      model(provider, provider, CHAT),
      model(`${provider}-vectors`, provider, VECTORS, "[embeddings]"),
    ]),
    model("spare", "classic", SPARE),
    model("gone", "classic", "no-such-deployment"),
    model("locked", "locked", CHAT),
    "tiers:",
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `  ${tier}: [gone, spare]`),
  ].join("\n");
}

const last = () => azure.requests.at(-1);

describe.each([
  { model: "newer", chat: "/openai/v1/chat/completions", root: "/openai/v1", query: "" },
  {
    model: "classic",
    chat: `/openai/deployments/gpt%20prod%2F1/chat/completions?api-version=${AZURE_VERSION}`,
    root: "/openai",
    query: `?api-version=${AZURE_VERSION}`,
  },
])("$model", ({ model, chat, root, query }) => {
  const ask = { model, messages: MESSAGES, ...DIRECT };

  it("answers whole, with the key in its own header and the deployment for a model", async () => {
    azure.on(CHAT, says("Paris it is."));
    const completion = await client.chat.completions.create(ask);
    expect(completion).toMatchObject({ model, choices: [{ message: { content: "Paris it is." } }] });
    expect(last()).toMatchObject({ path: chat, headers: { "api-key": AZURE_KEY }, body: { model: CHAT } });
    expect(last()?.headers).not.toHaveProperty("authorization");
    expect(Object.keys(last()?.body ?? {}).filter((name) => name.startsWith("service_"))).toEqual([]);
  });

  it("streams, past the empty event that Azure begins with", async () => {
    azure.on(CHAT, says("Paris it is."));
    const runner = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    const completion = await runner.finalChatCompletion();
    expect(completion).toMatchObject({ id: "chatcmpl-fake", model });
    expect(completion.choices[0]?.message.content).toBe("Paris it is.");
    expect((await runner.totalUsage()).total_tokens).toBe(17);
  });

  it("calls tools in a stream", async () => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "get_weather", arguments: "" } };
    const rest = { index: 0, function: { arguments: '{"city":"Rome"}' } };
    azure.on(CHAT, streamsNoted([{ role: "assistant", tool_calls: [call] }, { tool_calls: [rest] }], "tool_calls"));
    const [choice] = (await client.chat.completions.stream({ ...ask, tools: [TOOL] }).finalChatCompletion()).choices;
    expect(choice).toMatchObject({ finish_reason: "tool_calls" });
    const [made] = choice?.message.tool_calls ?? [];
    expect(made).toMatchObject({ function: { name: "get_weather", arguments: '{"city":"Rome"}' } });
    azure.on(CHAT, says("20 degrees."));
    const answered = [
      ...MESSAGES,
      choice?.message as OpenAI.Chat.ChatCompletionMessageParam,
      { role: "tool" as const, tool_call_id: made?.id ?? "", content: "20" },
    ];
    const second = await client.chat.completions.create({ ...ask, messages: answered, tools: [TOOL] });
    expect(second.choices[0]?.message.content).toBe("20 degrees.");
  });

  it("passes Responses to the resource, whole, streamed and with a tool", async () => {
    const input = "What is the capital of France?";
    const whole = await client.responses.create({ model, input, ...DIRECT });
    expect(whole).toMatchObject({ model, output_text: "ok" });
    expect(last()).toMatchObject({ path: `${root}/responses${query}`, body: { model: CHAT, store: false } });
    const stream = await client.responses.stream({ model, input, ...DIRECT }).finalResponse();
    expect(stream).toMatchObject({ model, output_text: "ok" });
    azure.on(CHAT, respondsItems([functionCall("call_1", "get_weather", { city: "Rome" })]));
    const tools = [{ type: "function" as const, name: "get_weather", parameters: PARAMETERS, strict: false }];
    const called = await client.responses.stream({ model, input, tools, ...DIRECT }).finalResponse();
    expect(called.output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
  });

  it("passes embeddings", async () => {
    const { data, model: named } = await client.embeddings.create({
      model: `${model}-vectors`,
      input: "Rome",
      encoding_format: "float",
    });
    expect({ named, vector: data[0]?.embedding }).toEqual({ named: `${model}-vectors`, vector: [0.5, -0.25] });
    const deployment = model === "classic" ? `/deployments/${VECTORS}` : "";
    expect(last()?.path).toBe(`${root}${deployment}/embeddings${query}`);
  });

  it("tells the client that its prompt was filtered, and charges nothing", async () => {
    azure.on(CHAT, filtersPrompt);
    const before = await balance();
    const refused = await client.chat.completions.create(ask).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused).toMatchObject({ status: 400, code: "content_filter", param: "prompt" });
    expect(await balance()).toBe(before);
  });

  it.each(["whole", "streamed"])("passes on an answer that was filtered, %s", async (manner) => {
    azure.on(CHAT, filtersAnswer);
    const { choices } =
      manner === "whole"
        ? await client.chat.completions.create(ask)
        : await client.chat.completions.stream(ask).finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe("content_filter");
    expect(azure.requests).toHaveLength(1);
  });
});

async function balance(): Promise<unknown> {
  return (await (await gateway.api("GET", "/api/credits")).json()).availableUsd;
}

it("falls back from a deployment that does not exist, and from one that is full", async () => {
  const full = fails(429, { code: "429", message: "Please retry after 7 seconds." }, { "retry-after": "7" });
  const first = await client.chat.completions.create({ model: "auto", messages: MESSAGES });
  expect(first).toMatchObject({ model: "spare", service: { model: "gone", fallback: true } });
  azure.on(CHAT, full);
  const second = await gateway.post("/v1/chat/completions", { model: "classic", messages: MESSAGES, ...DIRECT });
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "7"]);
});

it("keeps a refused key out of what it says, and lets the operator test each address", async () => {
  const refused = await gateway.post("/v1/chat/completions", { model: "locked", messages: MESSAGES, ...DIRECT });
  expect(refused.status).toBe(503);
  const tested = (id: string): Promise<unknown> =>
    gateway.api("POST", `/api/providers/${id}/test`).then((answer) => answer.json());
  expect(await tested("newer")).toMatchObject({ ok: true, model: "newer" });
  expect(await tested("classic")).toMatchObject({ ok: true, model: "classic" });
  const locked = await tested("locked");
  expect(locked).toMatchObject({ ok: false, status: 401 });
  expect(JSON.stringify([locked, await refused.json(), gateway.logged])).not.toContain(WRONG_KEY);
});

describe("models of the catalogue", () => {
  const asked = async (model: string, extra: object = {}) => {
    const answer = await gateway.post("/v1/chat/completions", { model, messages: MESSAGES, ...DIRECT, ...extra });
    const { service } = (await answer.json()) as { service: { host?: string } };
    const path = `/api/requests/${answer.headers.get("x-request-id")}`;
    const { money, attempts } = (await (await gateway.api("GET", path)).json()) as {
      money: { chargeUsd: string; price: object };
      attempts: readonly { provider: string; status: number }[];
    };
    return { status: answer.status, service, money, tried: attempts.map(({ provider, status }) => [provider, status]) };
  };

  it("are had from deployments of the same name, at the price for Azure", async () => {
    const { status, money, tried } = await asked("gpt-4.1");
    expect([status, tried]).toEqual([200, [["azure-openai", 200]]]);
    expect(last()).toMatchObject({ path: "/openai/v1/chat/completions", body: { model: "gpt-4.1" } });
    // 12 tokens in and 5 out at 2 and 8 USD per million, and 5% on top.
    expect(money).toMatchObject({ chargeUsd: "0.0000672", price: { input: 2, output: 8 } });
  });

  it("have the dialect of the model there", async () => {
    await asked("gpt-5-mini", { max_tokens: 50, temperature: 0.2 });
    expect(last()?.body).toMatchObject({ model: "gpt-5-mini", max_completion_tokens: 50 });
    expect(last()?.body).not.toHaveProperty("max_tokens");
  });

  it("are had from the other resource where one has no such deployment", async () => {
    const { status, service, money, tried } = await asked("gpt-4.1-mini");
    expect([status, service.host]).toEqual([200, "azure-eu"]);
    expect(tried).toEqual([
      ["azure-openai", 404],
      ["azure-eu", 200],
    ]);
    expect(last()?.path).toContain("/openai/deployments/gpt%20prod%2F1/chat/completions");
    expect(money.price).toMatchObject({ input: 0.4, output: 1.6 });
  });

  it("that are in no list of deployments are not called there", async () => {
    const { hosts } = (await (await gateway.api("GET", "/api/models")).json()).data.find(
      ({ id }: { id: string }) => id === "gpt-4.1",
    );
    const routable = hosts.filter(({ isRoutable }: { isRoutable: boolean }) => isRoutable);
    expect(routable.map(({ provider }: { provider: string }) => provider)).toEqual(["azure-openai"]);
  });
});
