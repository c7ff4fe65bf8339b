// POST /v1/rerank and /v1/moderations: passed to the model that is named, where the operator has one.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type EndpointLab, openEndpointLab } from "../../support/providers/endpoints.ts";
import { sends } from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";

const DOCUMENTS = ["boil two eggs", "the capital of France is Paris", "capital letters"];

describe("a rerank request", () => {
  let lab: EndpointLab;
  beforeAll(async () => {
    lab = await openEndpointLab();
  });
  afterAll(() => lab.close());
  const ask = (extra: object = {}): Promise<Response> =>
    lab.gateway.post("/v1/rerank", { model: "ranker", query: "q", documents: DOCUMENTS, ...extra });

  it.each([
    ["results, as Cohere and Jina write them", { id: "r", results: [{ index: 1, relevance_score: 0.9 }] }],
    ["data, as others do", { object: "list", data: [{ index: 1, relevance_score: 0.9 }], model: "vendor-ranker" }],
  ])("is answered with %s", async (_name, given) => {
    lab.provider.on("*", sends(200, { ...given, meta: { tokens: { input_tokens: 40 } } }));
    const answer = (await (await ask({ top_n: 1, return_documents: false })).json()) as Json;
    expect(answer).toEqual({ ...given, meta: expect.anything(), ...("model" in given ? { model: "ranker" } : {}) });
    const { path, body } = lab.provider.requests.at(-1) ?? { path: "", body: {} };
    expect(path).toBe("/v1/rerank");
    expect(body).toMatchObject({ model: "vendor-ranker", top_n: 1, return_documents: false });
  });

  it.each<[string, object, number]>([
    ["no query", { query: "" }, 422],
    ["no documents", { documents: [] }, 422],
    ["a number as a document", { documents: [1] }, 422],
    ["no results wanted", { top_n: 0 }, 400],
    ["no model", { model: null }, 400],
    ["a model for something else", { model: "small" }, 400],
  ])("with %s is refused", async (_name, extra, status) => {
    expect((await ask(extra)).status).toBe(status);
  });
});

describe("without a model for it", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it("rerank says that there is none, and the log what to configure", async () => {
    const body = { model: "rerank-v3.5", query: "q", documents: ["a"] };
    const { message } = await expectError(await gateway.post("/v1/rerank", body), { status: 404 });
    expect(message).toBe('There is no model "rerank-v3.5" for rerank. No model for rerank is connected.');
    const line = gateway.logged.find(({ fields }) => fields.event === "request.completed" && fields.status === 404);
    expect(line?.fields.operatorMessage).toMatch(/'capabilities: \[rerank\]' and a price/);
  });
});

describe("the sandbox", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const row = (id: string, capability: string): string =>
      `  - { id: ${id}, provider: sandbox, price: { input: 0.05, output: 0 }, capabilities: [${capability}] }`;
    const yaml = [
      "models:",
      row("ranks", "rerank"),
      row("judges", "moderation"),
      "tiers: { NANO: [ranks, gpt-5-nano] }",
    ];
    gateway = await startGateway({ yaml: yaml.join("\n") });
  });
  afterAll(() => gateway.stop());

  it("ranks by shared words, and never routes chat to such a model", async () => {
    const body = { model: "ranks", query: "capital of France", documents: DOCUMENTS, top_n: 2 };
    const { results } = (await (await gateway.post("/v1/rerank", body)).json()) as { results: readonly Json[] };
    expect(results.map(({ index }) => index)).toEqual([1, 2]);
    const chat = {
      model: "auto",
      messages: [{ role: "user", content: "hi" }],
      service_profile: "tier",
      service_tier: "NANO",
    };
    const { model } = (await (await gateway.post("/v1/chat/completions", chat)).json()) as Json;
    expect(model).toBe("gpt-5-nano");
  });

  it("flags nothing, and charges moderation that has a price by an estimate", async () => {
    const headers = { "x-request-id": "judged" };
    const answer = await gateway.post("/v1/moderations", { model: "judges", input: "Hello there" }, headers);
    expect(await answer.json()).toMatchObject({ model: "judges", results: [{ flagged: false }] });
    const record = (await (await gateway.api("GET", "/api/requests/judged")).json()) as { money: Json };
    expect(Number(record.money.chargeUsd)).toBeGreaterThan(0);
  });
});
