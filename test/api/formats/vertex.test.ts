// Claude and embeddings at Google Vertex AI, and Claude in Azure Foundry, over real HTTP: every client format, streamed
// and not, against hosts that check token, path and body. Behaviour 3.13.

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AskedServer, startAskedServer } from "../../support/providers/clouds/asked.ts";
import { asClaude, CLAUDE, PUBLISHERS, refuses, writeFederation } from "../../support/providers/clouds/fake-vertex.ts";
import { says } from "../../support/providers/fake-anthropic.ts";
import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

let cloud: FakeProvider;
let tokens: AskedServer;
let gateway: TestGateway;
let federation: ReturnType<typeof writeFederation>;

beforeAll(async () => {
  cloud = await startFakeProvider();
  tokens = await startAskedServer();
  const base = new URL(cloud.url).origin;
  federation = writeFederation(`${tokens.url}/google`);
  const signIn = `signIn: { credentialsFile: "${federation.file}" }`;
  const price = "price: { input: 1, output: 3 }";
  const yaml = [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  vertex: { kind: vertex, baseUrl: "${base}${PUBLISHERS}/google", ${signIn} }`,
    `  claudes: { kind: vertex-anthropic, baseUrl: "${base}${PUBLISHERS}/anthropic", ${signIn} }`,
    `  foundry: { kind: azure-anthropic, baseUrl: "${base}/anthropic", apiKey: foundry-key }`,
    `  entra: { kind: azure-anthropic, baseUrl: "${base}/anthropic", apiKey: s3cret, signIn: { tenantId: t-1, clientId: c-1 } }`,
    "models:",
    `  - { id: claude, provider: claudes, upstream: "${CLAUDE}", ${price}, capabilities: [tools] }`,
    `  - { id: keyed, provider: foundry, upstream: my-claude, ${price} }`,
    `  - { id: entra, provider: entra, upstream: my-claude, ${price} }`,
    `  - { id: vectors, provider: vertex, upstream: gemini-embedding-001, ${price}, capabilities: [embeddings] }`,
    "tiers: { NANO: [claude], SIMPLE: [claude], LIGHT: [claude], STANDARD: [claude], COMPLEX: [claude] }",
  ].join("\n");
  gateway = await startGateway({ yaml, creditsUsd: "10" });
});
afterAll(async () => {
  await gateway.stop();
  await cloud.close();
  tokens.close();
  federation.remove();
});
beforeEach(() => {
  vi.stubEnv("AZURE_AUTHORITY_HOST", tokens.url);
  cloud.reset();
  tokens.asked = [];
  tokens.answer = ({ path, body }) => {
    const scope = new URLSearchParams(body).get("scope");
    return { body: { access_token: `${path.split("/")[1]}-token-for-${scope}`, expires_in: 3600 } };
  };
});

const DIRECT = { service_profile: "direct" };
const MESSAGES = [{ role: "user", content: "Say ciao" }];
const asMessages = { ...DIRECT, model: "claude", max_tokens: 50, messages: MESSAGES };
const FORMATS = [
  ["/v1/chat/completions", { ...DIRECT, model: "claude", messages: MESSAGES }],
  ["/v1/responses", { ...DIRECT, model: "claude", input: "Say ciao" }],
  ["/v1/messages", asMessages],
  ["/v1beta/models/claude:generateContent", { ...DIRECT, contents: [{ role: "user", parts: [{ text: "Say ciao" }] }] }],
] as const;

test.each(FORMATS.flatMap(([path, body]) => [false, true].map((stream) => [path, stream, body] as const)))(
  "Claude at Vertex answers %s with stream %s",
  async (path, stream, body) => {
    cloud.on("*", asClaude(says("ciao")));
    const isGemini = path.startsWith("/v1beta");
    const place = isGemini && stream ? `${path.replace(":g", ":streamG")}?alt=sse` : path;
    const answer = await gateway.post(place, isGemini ? body : { ...body, stream });
    expect(await answer.text()).toContain("ciao");
    expect(answer.status).toBe(200);
    expect(cloud.requests).toHaveLength(1);
  },
);

const notesOf = async (answer: Response): Promise<string> => {
  const { service } = (await answer.json()) as { service: { notes?: readonly { message: string }[] } };
  return (service.notes ?? []).map(({ message }) => message).join("\n");
};
const ask = (betas: string, more: object = {}) =>
  gateway.post("/v1/messages", { ...asMessages, ...more }, { "anthropic-beta": betas });
const sentBetas = () => cloud.requests.map(({ headers }) => headers["anthropic-beta"]);

test("a beta that the host is known to refuse is left out with a note, and others go on", async () => {
  cloud.on("*", asClaude(says("ciao")));
  const notes = await notesOf(await ask("prompt-caching-scope-2026-01-05,interleaved-thinking-2025-05-14"));
  expect(sentBetas()).toEqual(["interleaved-thinking-2025-05-14"]);
  expect(notes).toContain("prompt-caching-scope-2026-01-05");
});

test("betas that a 400 names are left out once, remembered, and nothing else is lost", async () => {
  const message = "Unexpected value(s) `one-2026-01-01`, `two-2026-01-01` for the `anthropic-beta` header.";
  const strict: Behaviour = (exchange) => {
    const betas = String(exchange.request.headers["anthropic-beta"] ?? "");
    return (/one|two/.test(betas) ? refuses(message) : says("ciao"))(exchange);
  };
  cloud.on("*", asClaude(strict));
  const betas = "one-2026-01-01, kept-2026-01-01, two-2026-01-01";
  const notes = await notesOf(await ask(betas));
  expect(sentBetas()).toEqual(["one-2026-01-01,kept-2026-01-01,two-2026-01-01", "kept-2026-01-01"]);
  expect(notes).toContain("one-2026-01-01");
  expect(notes).toContain("two-2026-01-01");
  expect(notes).not.toContain("kept-2026-01-01");
  cloud.requests.length = 0;
  expect(await notesOf(await ask(betas))).toContain("one-2026-01-01");
  expect(sentBetas()).toEqual(["kept-2026-01-01"]);
});

test("fields that the host does not know are left out, and come back with the beta they need", async () => {
  const tool = { name: "look", input_schema: { type: "object", properties: { scope: { type: "string" } } } };
  const strict: Behaviour = (exchange) => {
    const { raw, headers } = exchange.request;
    if (headers["anthropic-beta"] === "tool-search-2026-01-01") return says("all")(exchange);
    if (raw.includes("defer_loading"))
      return refuses("tools.0.custom.defer_loading: Extra inputs are not permitted")(exchange);
    if (raw.includes('"global"'))
      return refuses("system.0.cache_control.ephemeral.scope: Extra inputs are not permitted")(exchange);
    return says("ciao")(exchange);
  };
  cloud.on("*", asClaude(strict));
  const system = [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", scope: "global" } }];
  const withTool = { tools: [{ ...tool, defer_loading: true }] };
  expect(await notesOf(await ask("", withTool))).toContain("Dropped 'defer_loading'");
  expect(await notesOf(await ask("", { system }))).toContain("Dropped 'scope'");
  cloud.requests.length = 0;
  expect((await ask("", { ...withTool, system })).status).toBe(200);
  const [{ body } = { body: {} }, ...others] = cloud.requests;
  expect(others).toEqual([]);
  expect(body).toMatchObject({ tools: [tool], system: [{ cache_control: { type: "ephemeral" } }] });
  expect(JSON.stringify(body)).not.toMatch(/defer_loading|global/);
  expect(await (await ask("tool-search-2026-01-01", { ...withTool, system })).text()).toContain("all");
  expect(cloud.requests).toHaveLength(2);
});

test("a host that refuses whatever is left out gives its error to the client", async () => {
  cloud.on("*", asClaude(refuses("tools.0.custom.odd_field: Extra inputs are not permitted")));
  const answer = await ask("", { tools: [{ name: "look", input_schema: { type: "object" }, odd_field: 1 }] });
  expect(answer.status).toBe(400);
  expect(cloud.requests).toHaveLength(2);
});

test("Foundry takes the key of the resource, or a token for its own service", async () => {
  cloud.on("my-claude", says("ciao"));
  for (const model of ["keyed", "entra"]) {
    const answer = await gateway.post("/v1/messages", { ...asMessages, model });
    expect(await answer.text()).toContain("ciao");
  }
  const [keyed, entra] = cloud.requests;
  expect(keyed).toMatchObject({ path: "/anthropic/v1/messages", headers: { "x-api-key": "foundry-key" } });
  expect(keyed?.headers.authorization).toBeUndefined();
  expect(entra?.headers).toMatchObject({ authorization: "Bearer t-1-token-for-https://ai.azure.com/.default" });
  expect(entra?.headers["x-api-key"]).toBeUndefined();
});

test.each([
  [
    "float",
    [
      [0.5, -1],
      [2, 0],
    ],
  ],
  ["base64", ["AAAAPwAAgL8=", "AAAAQAAAAAA="]],
])("embeddings at Vertex come back as %s, charged by Google's count", async (encoding, embeddings) => {
  const predictions = [
    [0.5, -1],
    [2, 0],
  ].map((values) => ({ embeddings: { values, statistics: { token_count: 3 } } }));
  cloud.on("gemini-embedding-001", sends(200, { predictions }));
  const asked = { model: "vectors", input: ["one", "two"], dimensions: 2, encoding_format: encoding };
  const answer = await gateway.post("/v1/embeddings", asked);
  expect(await answer.json()).toEqual({
    object: "list",
    model: "vectors",
    data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: 6, total_tokens: 6 },
  });
  expect(cloud.requests[0]?.path).toBe(`${PUBLISHERS}/google/models/gemini-embedding-001:predict`);
  expect(cloud.requests[0]?.body).toEqual({
    instances: [{ content: "one" }, { content: "two" }],
    parameters: { autoTruncate: false, outputDimensionality: 2 },
  });
});

test("token ids and answers without predictions are errors", async () => {
  expect((await gateway.post("/v1/embeddings", { model: "vectors", input: [1, 2] })).status).toBeGreaterThanOrEqual(
    400,
  );
  expect(cloud.requests).toEqual([]);
  cloud.on("gemini-embedding-001", sends(200, {}));
  expect((await gateway.post("/v1/embeddings", { model: "vectors", input: "one" })).status).toBe(503);
});
