// Clients of embeddings and moderation, unchanged: only base URL and key are set. The official client asks for base64 and
// decodes it by itself.

import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { OpenAIEmbeddings } from "@langchain/openai";
import { cosineSimilarity, embed, embedMany } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { type EndpointLab, openEndpointLab, VECTORS } from "../support/providers/endpoints.ts";
import { sends } from "../support/providers/fake-provider.ts";

const clientOf = ({ url, key }: TestGateway): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

describe("on a provider that sends numbers", () => {
  let lab: EndpointLab;
  beforeAll(async () => {
    lab = await openEndpointLab();
  });
  afterAll(() => lab.close());

  it("the official client", async () => {
    const client = clientOf(lab.gateway);
    const plain = await client.embeddings.create({ model: "small", input: ["a", "b"] });
    expect(lab.provider.requests.at(-1)?.body.encoding_format).toBe("base64");
    expect(plain.data.map(({ embedding }) => [...embedding])).toEqual(VECTORS);
    expect([plain.model, plain.usage.prompt_tokens]).toEqual(["small", 7]);
    const numbers = await client.embeddings.create({ model: "small", input: "a", encoding_format: "float" });
    expect(numbers.data[0]?.embedding).toEqual(VECTORS[0]);
    const missing = client.embeddings.create({ model: "none", input: "a" });
    await expect(missing).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    const listed = await client.models.list();
    expect(listed.data.map(({ id }) => id)).toEqual(["alpha"]);
  });

  it("the official client's moderation, with the model left out", async () => {
    lab.provider.on("vendor-judge", sends(200, { id: "m", model: "vendor-judge", results: [{ flagged: true }] }));
    const { model, results } = await clientOf(lab.gateway).moderations.create({ input: "Hello" });
    expect([model, results[0]?.flagged]).toEqual(["judge", true]);
  });

  it("Google's official client", async () => {
    const { url, key } = lab.gateway;
    for (const apiVersion of ["v1beta", "v1"]) {
      const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, apiVersion } });
      const { embeddings } = await client.models.embedContent({ model: "small", contents: ["a", "b"] });
      expect(embeddings?.map(({ values }) => values)).toEqual(VECTORS);
    }
  });

  it("the AI SDK", async () => {
    const { url, key } = lab.gateway;
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).embedding("small");
    const one = await embed({ model, value: "a", maxRetries: 0 });
    expect([one.embedding, one.usage.tokens]).toEqual([VECTORS[0], 7]);
    const many = await embedMany({ model, values: ["a", "b"], maxRetries: 0 });
    expect(many.embeddings).toEqual(VECTORS);
  });

  it("LangChain", async () => {
    const { url, key } = lab.gateway;
    const model = new OpenAIEmbeddings({
      model: "small",
      apiKey: key,
      maxRetries: 0,
      configuration: { baseURL: `${url}/v1` },
    });
    expect((await model.embedDocuments(["a", "b"])).map((vector) => [...vector])).toEqual(VECTORS);
    expect([...(await model.embedQuery("a"))]).toEqual(VECTORS[0]);
  });
});

describe("on the sandbox", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it("texts that share words are close, and every vector has length 1", async () => {
    const input = ["the capital of France", "France and its capital", "boil two eggs"];
    const { data, usage } = await clientOf(gateway).embeddings.create({ model: "text-embedding-3-small", input });
    const [first, near, far] = data.map(({ embedding }) => [...embedding]) as [number[], number[], number[]];
    expect([first.length, usage.prompt_tokens > 0]).toEqual([1536, true]);
    for (const vector of [first, near, far]) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(cosineSimilarity(first, near)).toBeGreaterThan(0.4);
    expect(cosineSimilarity(first, far)).toBeLessThan(0.3);
  });

  it("a shorter vector, and moderation", async () => {
    const client = clientOf(gateway);
    const { data } = await client.embeddings.create({ model: "mistral-embed", input: [[1, 2]], dimensions: 8 });
    expect(data[0]?.embedding).toHaveLength(8);
    expect((await client.moderations.create({ input: ["a", "b"] })).results).toHaveLength(2);
  });
});
