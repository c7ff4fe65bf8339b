// Embeddings at Bedrock: the form of each maker, counts from headers or bodies, and the charge to the nano-USD.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BedrockGateway, EMBEDDERS, startBedrockGateway } from "../../support/providers/clouds/bedrock-gateway.ts";
import { sends } from "../../support/providers/fake-provider.ts";
import { type Bank, bankOf, owed } from "../../support/stores/money.ts";

let world: BedrockGateway;
let bank: Bank;
beforeAll(async () => {
  world = await startBedrockGateway();
  bank = bankOf(world.cloud, world.gateway);
});
afterAll(() => world.close());
beforeEach(() => world.cloud.reset());

const PRICE = { input: "0.1", output: "0" };
const COUNTED = { "x-amzn-bedrock-input-token-count": "7" };
const embed = (body: object): Promise<Response> =>
  world.gateway.post("/v1/embeddings", { input: "A short text.", ...body });
const vector = [0.5, -0.25];

const CASES: readonly (readonly [keyof typeof EMBEDDERS, object, object, object])[] = [
  ["titan", { dimensions: 256 }, { inputText: "A short text.", dimensions: 256 }, { embedding: vector }],
  ["titan-1", {}, { inputText: "A short text." }, { embedding: vector }],
  [
    "titan-image",
    { dimensions: 384 },
    { inputText: "A short text.", embeddingConfig: { outputEmbeddingLength: 384 } },
    { embedding: vector },
  ],
  [
    "nova-embed",
    { dimensions: 1024, input_type: "TEXT_RETRIEVAL" },
    {
      taskType: "SINGLE_EMBEDDING",
      singleEmbeddingParams: {
        embeddingPurpose: "TEXT_RETRIEVAL",
        embeddingDimension: 1024,
        text: { truncationMode: "NONE", value: "A short text." },
      },
    },
    { embeddings: [{ embeddingType: "TEXT", embedding: vector }] },
  ],
  [
    "cohere",
    { dimensions: 512 },
    { texts: ["A short text."], input_type: "search_document", embedding_types: ["float"], output_dimension: 512 },
    { embeddings: { float: [vector] }, response_type: "embeddings_by_type" },
  ],
];

test.each(CASES)("of %s are asked for and read in their own form", async (model, asked, sent, answer) => {
  world.cloud.on(EMBEDDERS[model], sends(200, answer, COUNTED));
  let text = "";
  const spent = await bank.spentBy(async () => {
    text = await (await embed({ model, ...asked })).text();
  });
  expect(JSON.parse(text)).toEqual({
    object: "list",
    model,
    data: [{ object: "embedding", index: 0, embedding: vector }],
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
  const [request] = world.cloud.requests;
  expect(request?.path).toBe(`/model/${encodeURIComponent(EMBEDDERS[model])}/invoke`);
  expect(request?.body).toEqual(sent);
  expect(spent).toBe(owed({ input: 7, output: 0 }, PRICE));
});

test("counts of a body, several texts, and numbers as base64", async () => {
  world.cloud.on(EMBEDDERS.titan, sends(200, { embedding: vector, inputTextTokenCount: 5 }));
  expect(await (await embed({ model: "titan" })).json()).toMatchObject({ usage: { prompt_tokens: 5 } });
  world.cloud.on(EMBEDDERS.cohere, sends(200, { embeddings: [vector, vector] }, COUNTED));
  const answer = (await (await embed({ model: "cohere", input: ["a", "b"], encoding_format: "base64" })).json()) as {
    data: { embedding: string }[];
  };
  const bytes = answer.data.map(({ embedding }) => Buffer.from(embedding, "base64"));
  expect(bytes.map((each) => [each.readFloatLE(0), each.readFloatLE(4)])).toEqual([vector, vector]);
});

test.each([
  ["several texts where one is taken", { model: "titan", input: ["a", "b"] }, "takes one text"],
  ["too many texts", { model: "cohere", input: Array(97).fill("a") }, "takes 96 texts"],
  ["token ids", { model: "titan", input: [1, 2, 3] }, "takes texts, not token ids"],
  ["a model of an unknown form", { model: "unknown" }, "is not known"],
])("%s cannot be asked for", async (_name, body, words) => {
  const spent = await bank.spentBy(async () => {
    const answer = await embed(body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(words);
  });
  expect(spent).toBe(0n);
  expect(world.cloud.requests).toHaveLength(0);
});

test("an answer without vectors, or without counts", async () => {
  world.cloud.on(EMBEDDERS.titan, sends(200, { message: "nothing" }));
  expect((await embed({ model: "titan" })).status).toBe(503);
  world.cloud.on(EMBEDDERS.titan, sends(200, { embedding: vector }));
  const spent = await bank.spentBy(async () => {
    expect((await embed({ model: "titan" })).status).toBe(200);
  });
  expect(spent).toBeGreaterThan(0n);
});
