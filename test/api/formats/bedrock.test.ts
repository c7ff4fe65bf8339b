// Amazon Bedrock over real HTTP: chat-completions and Messages, by API key or signed, with credentials that end while
// requests come in. The server verifies every signature.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { AwsCredentials } from "../../../src/providers/auth/sigv4.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { signedFor, verifies } from "../../support/providers/clouds/aws.ts";
import { answers, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const WRITTEN = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const LIFE_MS = 2_000;
/** A request takes a while to arrive on a busy machine. */
const GRACE_MS = 500;

let cloud: FakeProvider;
let metadata: Server;
let gateway: TestGateway;
/** Handed out by the metadata service, with their ends. */
const handed: (AwsCredentials & { readonly endMs: number })[] = [];

beforeAll(async () => {
  cloud = await startFakeProvider();
  metadata = createServer((request, response) => {
    if (request.method === "PUT") return void response.end("session");
    if (request.url?.endsWith("/security-credentials/")) return void response.end("role");
    const count = handed.length + 1;
    const endMs = Date.now() + LIFE_MS;
    handed.push({
      accessKeyId: `ASIAHANDED${count}`,
      secretAccessKey: `secret-${count}`,
      sessionToken: `token-${count}`,
      endMs,
    });
    const {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: Token,
    } = handed.at(-1) as AwsCredentials;
    response.end(JSON.stringify({ AccessKeyId, SecretAccessKey, Token, Expiration: new Date(endMs).toISOString() }));
  });
  await new Promise<void>((resolve) => metadata.listen(0, "127.0.0.1", resolve));
  gateway = await startGateway({ yaml: yaml(), creditsUsd: "10" });
});
afterAll(async () => {
  await gateway.stop();
  await cloud.close();
  metadata.close();
});
beforeEach(() => {
  cloud.reset();
  const { port } = metadata.address() as AddressInfo;
  const ambient = [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  ];
  for (const name of [...ambient, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]) vi.stubEnv(name, "");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere/config");
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "false");
  vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", `http://127.0.0.1:${port}`);
});

function yaml(): string {
  const base = new URL(cloud.url).origin;
  const written = `apiKey: "${WRITTEN.accessKeyId}:${WRITTEN.secretAccessKey}"`;
  const price = "price: { input: 1, output: 3 }, capabilities: [tools]";
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  keyed: { kind: bedrock, baseUrl: "${base}/openai/v1", region: eu-central-1, apiKey: bedrock-api-key }`,
    `  signed: { kind: bedrock, baseUrl: "${base}/openai/v1", region: eu-central-1, ${written} }`,
    `  machine: { kind: bedrock, baseUrl: "${base}/openai/v1", region: us-east-1 }`,
    `  claude: { kind: bedrock-anthropic, baseUrl: "${base}/anthropic", region: us-east-1, ${written} }`,
    "models:",
    `  - { id: keyed, provider: keyed, upstream: "openai.gpt-oss-120b-1:0", ${price} }`,
    `  - { id: signed, provider: signed, upstream: "eu.amazon.nova-pro-v1:0", ${price} }`,
    `  - { id: machine, provider: machine, upstream: machine, ${price} }`,
    `  - { id: claude, provider: claude, upstream: anthropic.claude-haiku-5-5, ${price} }`,
    "tiers: { NANO: [signed], SIMPLE: [signed], LIGHT: [signed], STANDARD: [signed], COMPLEX: [signed] }",
  ].join("\n");
}

function ask(model: string, more: object = {}): Promise<Response> {
  return gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct", ...more });
}

test("an API key is sent as bearer, to the address of the OpenAI format", async () => {
  expect((await ask("keyed")).status).toBe(200);
  expect(cloud.requests[0]).toMatchObject({
    path: "/openai/v1/chat/completions",
    headers: { authorization: "Bearer bedrock-api-key" },
    body: { model: "openai.gpt-oss-120b-1:0" },
  });
});

test.each([false, true])("an access key signs what is sent, byte for byte, with stream %s", async (stream) => {
  cloud.on("eu.amazon.nova-pro-v1:0", verifies([WRITTEN], answers("signed for")));
  const answer = await ask("signed", { stream, messages: [{ role: "user", content: "Größe 漢字 🙂" }] });
  expect(await answer.text()).toContain("signed");
  expect(answer.status).toBe(200);
  const [request] = cloud.requests;
  expect(request && signedFor(request, [WRITTEN])).toBe("bedrock in eu-central-1");
  expect(JSON.stringify(request)).not.toContain(WRITTEN.secretAccessKey);
});

test("Messages go to Mantle's address, signed for its own service", async () => {
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn" },
    content: [{ type: "text", text: "bonjour" }],
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  cloud.on("anthropic.claude-haiku-5-5", verifies([WRITTEN], sends(200, message)));
  const sent = { max_tokens: 50, messages: HELLO.messages, model: "claude", service_profile: "direct" };
  const answer = await gateway.post("/v1/messages", sent, { "anthropic-beta": "some-beta" });
  expect(await answer.text()).toContain("bonjour");
  const [request] = cloud.requests;
  expect(request?.path).toBe("/anthropic/v1/messages");
  expect(request?.headers["anthropic-version"]).toBe("2023-06-01");
  expect(request && signedFor(request, [WRITTEN])).toBe("bedrock-mantle in us-east-1");
});

test("betas that Bedrock refuses without naming them are left out once, with a note for each, and remembered", async () => {
  const sent = { max_tokens: 50, messages: HELLO.messages, model: "claude", service_profile: "direct" };
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn" },
    content: [{ type: "text", text: "bonjour" }],
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  cloud.on("anthropic.claude-haiku-5-5", (exchange) => {
    const refused = exchange.request.headers["anthropic-beta"] !== undefined;
    return refused ? sends(400, { message: "invalid beta flag" })(exchange) : sends(200, message)(exchange);
  });
  const betas = { "anthropic-beta": "one-2026-01-01,two-2026-01-01" };
  for (const calls of [2, 3]) {
    const answer = await gateway.post("/v1/messages", sent, betas);
    const { service } = (await answer.json()) as { service: { notes: readonly { message: string }[] } };
    expect([answer.status, service.notes.map(({ message: note }) => /'(.*?)'/.exec(note)?.[1])]).toEqual([
      200,
      ["one-2026-01-01", "two-2026-01-01"],
    ]);
    expect(cloud.requests).toHaveLength(calls);
  }
});

test("a server that finds another signature refuses, and nothing of the secret is told", async () => {
  cloud.on("eu.amazon.nova-pro-v1:0", verifies([{ ...WRITTEN, secretAccessKey: "another" }], answers("never")));
  const answer = await ask("signed");
  expect(answer.status).toBe(503);
  expect(`${await answer.text()}${JSON.stringify(gateway.logged)}`).not.toContain(WRITTEN.secretAccessKey);
});

test("credentials of the machine that end in two seconds are renewed under load, once for all, and no request fails", async () => {
  cloud.on("machine", (exchange) => {
    const valid = handed.filter(({ endMs }) => endMs > Date.now() - GRACE_MS);
    return verifies(valid, answers("let in"))(exchange);
  });
  const first = await Promise.all(Array.from({ length: 10 }, () => ask("machine")));
  expect(first.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(handed).toHaveLength(1);
  const statuses: number[] = [];
  const caller = async (): Promise<void> => {
    while (handed.length < 3) statuses.push((await ask("machine")).status);
  };
  await Promise.all(Array.from({ length: 4 }, caller));
  expect(
    new Set(statuses),
    JSON.stringify(gateway.logged.filter(({ fields }) => fields.status === 503).slice(-2)),
  ).toEqual(new Set([200]));
  expect(statuses.length).toBeGreaterThan(handed.length);
});
