// Gemini at Google Vertex and Azure with Microsoft Entra over real HTTP: tokens are fetched once, sent as bearer, and
// kept out of errors.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AskedServer, startAskedServer } from "../../support/providers/clouds/asked.ts";
import { answers, type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const LIFE_MS = 2_000;
/** A request takes a while to arrive on a busy machine. */
const GRACE_MS = 500;

let cloud: FakeProvider;
let tokens: AskedServer;
let gateway: TestGateway;
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-clouds-"));
  cloud = await startFakeProvider();
  tokens = await startAskedServer();
  const base = new URL(cloud.url).origin;
  const pool = {
    type: "external_account",
    token_url: `${tokens.url}/google`,
    credential_source: { file: join(folder, "subject") },
  };
  writeFileSync(join(folder, "subject"), "eyJ.subject");
  writeFileSync(join(folder, "pool.json"), JSON.stringify(pool));
  const price = "price: { input: 1, output: 3 }, capabilities: [tools]";
  const publisher = `${base}/v1/projects/p-1/locations/global/publishers/google`;
  const yaml = [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  vertex: { kind: vertex, baseUrl: "${publisher}", signIn: { credentialsFile: "${join(folder, "pool.json")}" } }`,
    `  entra: { kind: azure, baseUrl: "${base}", signIn: { tenantId: t-1, clientId: c-1 }, apiKey: client-secret }`,
    `  brief: { kind: azure, baseUrl: "${base}", signIn: { tenantId: t-2, clientId: c-2 }, apiKey: client-secret }`,
    `  keyed: { kind: azure, baseUrl: "${base}", apiKey: resource-key }`,
    "models:",
    `  - { id: gemini, provider: vertex, upstream: gemini-3.8-flash, ${price} }`,
    `  - { id: entra, provider: entra, upstream: prod-1, ${price} }`,
    `  - { id: brief, provider: brief, upstream: prod-2, ${price} }`,
    `  - { id: keyed, provider: keyed, upstream: prod-1, ${price} }`,
    "tiers: { NANO: [entra], SIMPLE: [entra], LIGHT: [entra], STANDARD: [entra], COMPLEX: [entra] }",
  ].join("\n");
  gateway = await startGateway({ yaml, creditsUsd: "10" });
});
afterAll(async () => {
  await gateway.stop();
  await cloud.close();
  tokens.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  vi.stubEnv("AZURE_AUTHORITY_HOST", tokens.url);
  cloud.reset();
  tokens.asked = [];
  tokens.answer = ({ path }) => ({ body: { access_token: `token${path.replaceAll("/", "-")}`, expires_in: 3600 } });
});

function ask(model: string): Promise<Response> {
  return gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct" });
}

test("Vertex is called at the publisher's address with one token for all", async () => {
  const part = { content: { role: "model", parts: [{ text: "ciao" }] }, finishReason: "STOP" };
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
  cloud.on("*", sends(200, { candidates: [part], usageMetadata }));
  const all = await Promise.all(Array.from({ length: 5 }, () => ask("gemini")));
  for (const answer of all) expect(await answer.text()).toContain("ciao");
  expect(tokens.asked).toHaveLength(1);
  expect(cloud.requests[0]).toMatchObject({
    path: "/v1/projects/p-1/locations/global/publishers/google/models/gemini-3.8-flash:generateContent",
    headers: { authorization: "Bearer token-google" },
  });
});

test("Azure takes a token of Entra with signIn, and its key without", async () => {
  cloud.on("prod-1", answers("let in"));
  expect((await ask("entra")).status).toBe(200);
  expect((await ask("keyed")).status).toBe(200);
  const [entra, keyed] = cloud.requests.map(({ headers }) => headers);
  expect([entra?.authorization, entra?.["api-key"]]).toEqual(["Bearer token-t-1-oauth2-v2.0-token", undefined]);
  expect([keyed?.authorization, keyed?.["api-key"]]).toEqual([undefined, "resource-key"]);
});

test("a token that is refused is fetched once more, and appears in no error", async () => {
  cloud.on("prod-1", (exchange) => {
    const [, token] = String(exchange.request.headers.authorization).split(" ");
    return fails(token === "newer" ? 400 : 401, { message: `odd token ${token}` })(exchange);
  });
  tokens.answer = () => ({ body: { access_token: "newer", expires_in: 3600 } });
  const text = await (await ask("entra")).text();
  expect(tokens.asked).toHaveLength(1);
  expect(cloud.requests).toHaveLength(2);
  expect(`${text}${JSON.stringify(gateway.logged)}`).not.toMatch(/newer|client-secret/);
});

test("tokens that end in two seconds are renewed under load, one fetch at a time, and no request fails", async () => {
  const ends = new Map<string, number>();
  let running = 0;
  let most = 0;
  tokens.answer = async () => {
    running += 1;
    most = Math.max(most, running);
    // Every caller of this moment waits for the same one.
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    const text = `short-${ends.size}`;
    ends.set(text, Date.now() + LIFE_MS);
    return { body: { access_token: text, expires_in: LIFE_MS / 1_000 } };
  };
  cloud.on("prod-2", (exchange) => {
    const endMs = ends.get(String(exchange.request.headers.authorization).slice(7)) ?? 0;
    return (endMs > Date.now() - GRACE_MS ? answers("let in") : fails(401))(exchange);
  });
  const beganMs = performance.now();
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => ask("brief")))).map(({ status }) => status);
  const caller = async (): Promise<void> => {
    while (ends.size < 3) statuses.push((await ask("brief")).status);
  };
  await Promise.all(Array.from({ length: 4 }, caller));
  expect([new Set(statuses), most]).toEqual([new Set([200]), 1]);
  // Each serves for four fifths of its life at least.
  expect(ends.size).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - beganMs) / (0.8 * LIFE_MS)));
});
