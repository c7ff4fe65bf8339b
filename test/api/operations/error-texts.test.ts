// What clients read of a failure names no provider, address, bill or key, and nothing that only an operator can do: at
// every endpoint, however the provider fails.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { askAs, EVERY_MODEL, type EveryFormat, startEveryFormat, WAYS } from "../../support/gateway/every-client.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type Behaviour,
  type Chunk,
  chunk,
  cuts,
  type FakeProvider,
  sends,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";
import { wavOf } from "../../support/providers/media.ts";
import { openSocket } from "../../support/providers/socket.ts";

const SAID = {
  message: "Acme Models: pay your bill at https://acme.example/billing. The key acme-secret is out of credit.",
  type: "insufficient_quota",
  code: "insufficient_quota",
};
const HIDDEN =
  /[Aa]cme|\blab\b|vendor-|127\.0\.0\.1|\bbill\b|billing|secret|API key|switchyard [a-z]|npm |doctor|dashboard|Providers|models:/;
const refuses = (status: number, said: object = SAID): Behaviour => sends(status, { error: said });

const FAILURES: Readonly<Record<string, Behaviour>> = {
  "an unpaid bill": refuses(429),
  "an unpaid bill as 402": refuses(402),
  "an unpaid bill as 400": refuses(400, { ...SAID, code: "billing_not_active" }),
  "a refused key": refuses(401, { ...SAID, type: "authentication_error", code: "invalid_api_key" }),
  "a key without the right": refuses(403, { ...SAID, type: "permission_error", code: "forbidden" }),
  "a model that it does not have": refuses(404, { ...SAID, code: "model_not_found" }),
  "a fault of its own": refuses(500, { ...SAID, code: "server_error" }),
  "a page in place of an answer": sends(200, `<html>${SAID.message}</html>`, { "content-type": "text/html" }),
  "a connection that is cut": cuts,
};

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: yamlOf(provider.url) });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

function yamlOf(baseUrl: string): string {
  const model = (id: string, price: string): string =>
    `  - { id: ${id}, provider: lab, upstream: vendor-${id}, price: ${price}, context: 32768, capabilities: [${id}] }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000, eventLoopDelayMs: 60000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    `providers: { lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: acme-secret } }`,
    "models:",
    "  - { id: alpha, provider: lab, upstream: vendor-alpha, price: { input: 1, output: 4 }, context: 128000, capabilities: [tools] }",
    model("embeddings", "{ input: 1, output: 0 }"),
    model("rerank", "{ input: 1, output: 0 }"),
    model("moderation", "{ input: 1, output: 0 }"),
    model("images", "{ input: 5, output: 30 }"),
    model("speech", "{ input: 0, output: 0, characters: 15 }"),
    model("transcription", "{ input: 0, output: 0, minute: 0.006 }"),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [alpha]`),
    "routing: { baseline: alpha }",
  ].join("\n");
}

function form(fields: Readonly<Record<string, string>>, name: string, bytes: Uint8Array<ArrayBuffer>): FormData {
  const made = new FormData();
  for (const [field, value] of Object.entries(fields)) made.append(field, value);
  made.append(fields.model === "images" ? "image" : "file", new Blob([bytes]), name);
  return made;
}

const sendForm = async (path: string, body: FormData): Promise<string> => {
  const headers = { authorization: `Bearer ${gateway.key}` };
  return (await fetch(`${gateway.url}${path}`, { method: "POST", headers, body })).text();
};
const post = async (path: string, body: object): Promise<string> => (await gateway.post(path, body)).text();
const read = async (path: string): Promise<string> =>
  (await gateway.get(path, { authorization: `Bearer ${gateway.key}` })).text();
const idOf = (text: string): string => (JSON.parse(text) as { id: string }).id;

const WAV = new Uint8Array(wavOf(1));
const PICTURE = new Uint8Array(Buffer.from("iVBORw0KGgo=", "base64"));

/** Every way to a provider. Each one gives all that its client reads. Lines of a batch go the same ways. */
const ENDPOINTS: Record<string, () => Promise<string>> = {
  embeddings: () => post("/v1/embeddings", { model: "embeddings", input: "a" }),
  "embeddings of Gemini": () => post("/v1beta/models/embeddings:embedContent", { content: { parts: [{ text: "a" }] } }),
  rerank: () => post("/v1/rerank", { model: "rerank", query: "a", documents: ["a", "b"] }),
  moderations: () => post("/v1/moderations", { model: "moderation", input: "a" }),
  images: () => post("/v1/images/generations", { model: "images", prompt: "a" }),
  "images, streamed": () => post("/v1/images/generations", { model: "images", prompt: "a", stream: true }),
  edits: () => sendForm("/v1/images/edits", form({ model: "images", prompt: "a" }, "a.png", PICTURE)),
  speech: () => post("/v1/audio/speech", { model: "speech", input: "a", voice: "alloy" }),
  "transcriptions as text": () =>
    sendForm("/v1/audio/transcriptions", form({ model: "transcription", response_format: "text" }, "a.wav", WAV)),
  transcriptions: () => sendForm("/v1/audio/transcriptions", form({ model: "transcription" }, "a.wav", WAV)),
  translations: () => sendForm("/v1/audio/translations", form({ model: "transcription" }, "a.wav", WAV)),
  compaction: () => post("/v1/responses/compact", { model: "alpha", input: "Hi" }),
  async background() {
    const made = await post("/v1/responses", { model: "auto", input: "Hi", background: true });
    await expect.poll(() => read(`/v1/responses/${idOf(made)}`), { timeout: 20_000, interval: 50 }).toMatch(/"failed"/);
    return read(`/v1/responses/${idOf(made)}`);
  },
  async "a WebSocket"() {
    const client = await openSocket(gateway);
    const { events } = await client.ask({ model: "auto", input: "Hi" });
    await client.close();
    return JSON.stringify(events);
  },
};

for (const [client, isStream] of WAYS)
  ENDPOINTS[`${client}, stream ${isStream}`] = async () => (await askAs(gateway, { client, isStream })).text();

test.each(Object.keys(FAILURES))("%s is told at every endpoint without what is the operator's", async (failure) => {
  provider.on("*", FAILURES[failure] as Behaviour);
  const answers = await Promise.all(Object.entries(ENDPOINTS).map(async ([name, ask]) => [name, await ask()] as const));
  expect(provider.requests.length).toBeGreaterThan(0);
  expect(answers.filter(([, text]) => text === "" || HIDDEN.test(text))).toEqual([]);
});

describe("a stream that ends with an error of the provider", () => {
  let every: EveryFormat;
  beforeAll(async () => {
    every = await startEveryFormat();
    for (const model of EVERY_MODEL) every.providers[model].on("*", streams(BREAKING[model], { ending: "end" }));
  });
  afterAll(() => every.close());

  const asked = EVERY_MODEL.flatMap((model) =>
    (["chat", "messages", "responses", "gemini"] as const).map((client) => [model, client] as const),
  );

  test.each(asked)(
    "from %s to a client of %s has the beginning, and nothing of what the provider said",
    async (model, client) => {
      const direct = { service_profile: "direct" };
      const text = await (await askAs(every.gateway, { client, isStream: true, model }, direct)).text();
      expect(text).toContain("Par");
      expect(text).toMatch(/error/);
      expect(text).not.toMatch(HIDDEN);
    },
  );
});

const named = (fields: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`;
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [],
  model: "claude",
  usage: { input_tokens: 3, output_tokens: 1 },
};
const RESPONSE = { id: "resp_1", object: "response", status: "in_progress", model: "pro", output: [] };
const ITEM = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] };
const AT = { item_id: "msg_1", output_index: 0, content_index: 0 };

const BREAKING: Readonly<Record<(typeof EVERY_MODEL)[number], readonly Chunk[]>> = {
  alpha: [chunk("alpha", { content: "Par" }), { error: SAID }],
  claude: [
    named({ type: "message_start", message: MESSAGE }),
    named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Par" } }),
    named({ type: "error", error: { type: "api_error", message: SAID.message } }),
  ],
  gem: [
    { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Par" }] } }] },
    { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: SAID.message } },
  ],
  pro: [
    named({ type: "response.created", response: RESPONSE, sequence_number: 0 }),
    named({ type: "response.output_item.added", output_index: 0, item: ITEM, sequence_number: 1 }),
    named({
      type: "response.content_part.added",
      ...AT,
      part: { type: "output_text", text: "", annotations: [] },
      sequence_number: 2,
    }),
    named({ type: "response.output_text.delta", ...AT, delta: "Par", sequence_number: 3 }),
    named({
      type: "response.failed",
      response: { ...RESPONSE, status: "failed", error: { code: "server_error", message: SAID.message } },
      sequence_number: 4,
    }),
  ],
};
