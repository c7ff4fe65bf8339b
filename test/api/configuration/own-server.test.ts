// A server of one's own as the first provider: its models are listed by a test, chosen with a price, and answer at once.

import { beforeEach, describe, expect, test } from "vitest";
import { type ErrorBody, expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answers,
  fails,
  type ReceivedRequest,
  sends,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { startFakeOllama } from "../../support/providers/local-servers.ts";

const KEY = "own-secret-0123456789";
const FREE = { input: 0, output: 0 };

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway();
  return () => gateway.stop();
});

/** Lists its models to those who bring the key, and answers chats. */
async function startOwn(...ids: readonly string[]) {
  const isKnown = ({ headers }: ReceivedRequest): boolean => headers.authorization === `Bearer ${KEY}`;
  const list = sends(200, { data: ids.map((id) => ({ id, max_model_len: 32_768 })) });
  return startFakeProvider((exchange) => {
    const { path } = exchange.request;
    if (!isKnown(exchange.request)) return fails(401, { message: "Unauthorized" })(exchange);
    return (path.endsWith("/models") ? list : answers("from my own server"))(exchange);
  });
}

async function call(method: string, path: string, body?: unknown) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
}

describe("the first provider", () => {
  test("lists its models before anything is saved, and answers with those that get a price", async () => {
    const own = await startOwn("qwen3-8b", "gpt-4o", "not-chosen");
    const server = { kind: "openai", baseUrl: own.url, apiKey: KEY };
    const { body: tested } = await call("POST", "/api/providers/own/test", { draft: server });
    const told = { context: 32_768, capabilities: [], note: null };
    expect(tested).toMatchObject({ ok: true, model: null, problem: null });
    expect(tested.models).toEqual(["qwen3-8b", "gpt-4o", "not-chosen"].map((upstream) => ({ upstream, ...told })));
    expect((await call("GET", "/api/configuration")).body.version).toBe(0);

    const models = [
      { upstream: "qwen3-8b", price: FREE, context: 32_768, capabilities: ["tools", "json"] },
      { upstream: "gpt-4o", price: { input: 0.5, output: 1 } },
    ];
    const made = await call("POST", "/api/providers", { id: "own", ...server, models });
    expect(made.status).toBe(201);
    // The catalogue has a gpt-4o of OpenAI, which is another model.
    expect(made.body.changes.map(({ words }: { words: string }) => words)).toEqual([
      "added provider own",
      "added model qwen3-8b",
      "added model own/gpt-4o",
    ]);
    const { document } = (await call("GET", "/api/configuration")).body;
    expect(Object.keys(document.providers.own).sort()).toEqual(["apiKey", "baseUrl", "kind"]);
    expect(document.models[0]).toMatchObject({
      id: "qwen3-8b",
      provider: "own",
      priceSource: "run-time configuration",
    });

    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
    const answer = await gateway.post("/v1/chat/completions", { ...HELLO, model: "auto", tools });
    expect(await answer.json()).toMatchObject({
      model: "qwen3-8b",
      choices: [{ message: { content: "from my own server" } }],
    });
    expect(own.requests.at(-1)).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3-8b" } });
    const { data } = (await call("GET", "/api/ledger?kind=charge")).body;
    expect(data.map(({ amountUsd }: { amountUsd: string }) => Number(amountUsd))).toEqual([0]);
    await own.close();
  });

  test("without a key is described by what its kind of server tells of each model", async () => {
    const ollama = await startFakeOllama({
      "qwen3:8b": { capabilities: ["completion", "tools"], parameters: "num_ctx 8192" },
      "nomic:v1": { capabilities: ["embedding"], context: 2048 },
    });
    for (const [kind, baseUrl] of [
      ["ollama", ollama.address],
      ["openai", `${ollama.address}/v1`],
    ]) {
      const { body } = await call("POST", "/api/providers/own/test", { draft: { kind, baseUrl } });
      expect(body.models).toMatchObject([
        { upstream: "qwen3:8b", context: 8192, capabilities: ["tools", "json"] },
        { upstream: "nomic:v1", context: 2048, capabilities: ["embeddings"] },
      ]);
    }
    await ollama.close();
  });

  test("is refused with a model that is there, with a broken price, and without any model", async () => {
    const server = { id: "own", kind: "openai", baseUrl: "http://127.0.0.1:9/v1" };
    const add = (...models: readonly object[]) => gateway.api("POST", "/api/providers", { ...server, models });
    const taken = { upstream: "a", id: "gpt-4o", price: FREE };
    await expectError(await add(taken), { status: 409, param: "models[0].id" });
    const twice = { upstream: "a", id: "a", price: FREE };
    await expectError(await add(twice, twice), { status: 409, param: "models[1].id" });
    await expectError(await add({ price: FREE }), { status: 400, param: "upstream" });
    const broken = { upstream: "a", price: { input: -1, output: 0 } };
    const refused = async (answer: Promise<Response>) => ((await (await answer).json()) as ErrorBody).error;
    expect(await refused(add(broken))).toMatchObject({ code: "invalid_configuration", param: "models.a.price.input" });
    expect(await refused(add())).toMatchObject({ code: "invalid_configuration", param: "tiers" });
    expect(await refused(add({ upstream: "a" }))).toMatchObject({ code: "invalid_configuration", param: "tiers" });
    expect((await call("GET", "/api/configuration")).body.version).toBe(0);
  });
});

test("a provider is removed with its models and their places in chains, and the sandbox is back", async () => {
  const own = { id: "own", kind: "openai", baseUrl: "http://127.0.0.1:9/v1" };
  await call("POST", "/api/providers", { ...own, models: [{ upstream: "a", price: FREE }] });
  await call("POST", "/api/providers", { id: "groq", apiKey: "gsk_0123456789" });
  const shared = { id: "b", price: FREE, hosts: [{ provider: "groq" }, { provider: "own" }] };
  await call("POST", "/api/models", shared);
  // Null says nothing, as in a file.
  await call("POST", "/api/models", { id: "c", price: FREE, provider: "own", upstream: "x", hosts: null });
  await call("POST", "/api/models", {
    id: "d",
    price: FREE,
    provider: null,
    hosts: [{ provider: "own", upstream: "x" }],
  });
  await call("PUT", "/api/chains", { chains: { NANO: ["a"], SIMPLE: ["a", "b"] } });
  expect((await call("DELETE", "/api/providers/own")).status).toBe(422);
  await expectError(await gateway.api("DELETE", "/api/providers/own?models=all"), { status: 400, param: "models" });
  // A model that another provider serves as well must be changed by hand.
  const refused = await call("DELETE", "/api/providers/own?models=remove");
  expect(refused.body.error.param).toBe("models.b.hosts[1].provider");
  await call("PATCH", "/api/models/b", { hosts: [{ provider: "groq" }] });
  expect((await call("DELETE", "/api/providers/own?models=remove")).status).toBe(200);
  const { document } = (await call("GET", "/api/configuration")).body;
  expect(document.tiers).toEqual({ SIMPLE: ["b"] });
  expect(document.models.map(({ id }: { id: string }) => id)).toEqual(["b"]);
  await call("DELETE", "/api/providers/groq?models=remove");
  expect((await call("GET", "/api/configuration")).body.document).toEqual({});
  expect((await call("GET", "/api/providers")).body.data.map(({ id }: { id: string }) => id)).toEqual(["sandbox"]);
});
