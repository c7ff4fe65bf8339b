// Google's :embedContent and :batchEmbedContents: the model that the path names gets a request for embeddings as OpenAI
// has it, and its answer comes back in Google's form, metered like /v1/embeddings.

import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { type EndpointLab, embeds, openEndpointLab, VECTORS } from "../../support/providers/endpoints.ts";
import { fails } from "../../support/providers/fake-provider.ts";

let lab: EndpointLab;
beforeAll(async () => {
  lab = await openEndpointLab();
});
afterEach(() => lab.provider.reset());
afterAll(() => lab.close());

const said = (...texts: readonly string[]) => ({ content: { parts: texts.map((text) => ({ text })) } });
/** As Google's own client sends it: the key in a header of its own. */
const ask = (path: string, body: object, key = lab.gateway.key): Promise<Response> =>
  fetch(`${lab.gateway.url}${path}`, {
    method: "POST",
    headers: { "x-goog-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe.each(["/v1beta", "/v1"])("below %s", (base) => {
  it("one text gets one vector", async () => {
    const answer = await ask(`${base}/models/small:embedContent`, {
      ...said("one", "text"),
      taskType: "RETRIEVAL_QUERY",
    });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { embedding: { values: VECTORS[0] }, usageMetadata: { promptTokenCount: 7 } },
    ]);
    expect(lab.provider.requests[0]).toMatchObject({
      path: "/v1/embeddings",
      body: { model: "vendor-small", input: "one\ntext" },
    });
  });

  it("several texts get a vector each, in their order", async () => {
    const requests = ["a", "b"].map((text) => ({ model: "models/small", ...said(text), output_dimensionality: 3 }));
    const answer = await ask(`${base}/models/small:batchEmbedContents`, { requests });
    expect(await answer.json()).toMatchObject({ embeddings: VECTORS.map((values) => ({ values })) });
    expect(lab.provider.requests[0]?.body).toEqual({ model: "vendor-small", input: ["a", "b"], dimensions: 3 });
  });
});

test("it costs what /v1/embeddings costs, and is recorded", async () => {
  const usual = await lab.bank.spentBy(async () => {
    await (await lab.gateway.post("/v1/embeddings", { model: "small", input: "a" })).text();
  });
  const spent = await lab.bank.spentBy(async () => {
    await (await ask("/v1beta/models/small:embedContent", said("a"))).text();
  });
  expect(usual).toBeGreaterThan(0n);
  expect(spent).toBe(usual);
  const { data } = (await (await lab.gateway.api("GET", "/api/requests?limit=1")).json()) as { data: object[] };
  expect(data[0]).toMatchObject({ route: "/v1beta/models/{model}:embedContent", model: "small", status: 200 });
});

test("vectors that come in another order are put into theirs", async () => {
  lab.provider.on("*", (exchange) => {
    const rows = VECTORS.map((embedding, index) => ({ object: "embedding", index, embedding })).toReversed();
    exchange.response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: rows }));
  });
  const requests = [said("a"), said("b")];
  const answer = await ask("/v1beta/models/small:batchEmbedContents", { requests });
  expect(await answer.json()).toMatchObject({ embeddings: VECTORS.map((values) => ({ values })) });
});

describe("refused, in Google's form", () => {
  const image = { content: { parts: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] } };
  it.each<readonly [string, string, object, number, string]>([
    ["no content", "small:embedContent", {}, 400, "content"],
    ["a picture", "small:embedContent", image, 400, "texts only"],
    ["no requests", "small:batchEmbedContents", { requests: [] }, 400, "requests"],
    [
      "a request of another model",
      "small:batchEmbedContents",
      { requests: [{ ...said("a"), model: "models/other" }] },
      400,
      "path",
    ],
    ["a model for chat", "alpha:embedContent", said("a"), 400, "alpha is a model for chat"],
    ["an unknown model", "none:embedContent", said("a"), 404, "none"],
  ])("%s", async (_name, call, body, status, words) => {
    const answer = await ask(`/v1beta/models/${call}`, body);
    const { error } = (await answer.json()) as { error: { code: number; message: string; status: string } };
    expect([answer.status, error.code, error.message]).toEqual([status, status, expect.stringContaining(words)]);
    expect(lab.provider.requests).toEqual([]);
  });

  it("different dimensions in one batch", async () => {
    const requests = [{ ...said("a"), outputDimensionality: 2 }, said("b")];
    expect((await ask("/v1/models/small:batchEmbedContents", { requests })).status).toBe(400);
  });

  it("a wrong key, and a provider that fails", async () => {
    expect((await ask("/v1/models/small:embedContent", said("a"), "no-key")).status).toBe(401);
    lab.provider.on("*", fails(500));
    expect((await ask("/v1/models/small:embedContent", said("a"))).status).toBe(503);
    lab.provider.on("*", embeds(7));
  });
});
