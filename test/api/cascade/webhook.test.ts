// Webhooks that check the answers of a profile's cascades: what they are sent, that it is signed, and that an answer which
// nobody has checked does not pass.

import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type CascadeAnswer, cascadeYaml, says } from "../../support/cascade.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

const SECRET = "a-secret-of-thirty-two-characters";

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const folder = mkdtempSync(join(tmpdir(), "switchyard-webhook-"));
const asked: Asked[] = [];
/** The status and the body of its next answers; null never answers. */
let reply: (model: string) => readonly [status: number, body: unknown] | null;
let webhook: Server;
let provider: FakeProvider;
let gateway: TestGateway;
let headers: Record<string, string>;
let withoutProfile: Record<string, string>;

beforeAll(async () => {
  provider = await startFakeProvider();
  webhook = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    asked.push({ headers: request.headers, body });
    const answer = reply((JSON.parse(body) as { model: string }).model);
    if (answer !== null) response.writeHead(answer[0]).end(JSON.stringify(answer[1]));
  });
  await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
  const database = `sqlite:${join(folder, "switchyard.db")}`;
  // A webhook is named by the id of its profile, which is known once that is made.
  const before = await startGateway({ yaml: cascadeYaml(provider.url), database });
  const made = await before.api("POST", "/api/profiles", { name: "tested", cascade: true });
  const { id } = (await made.json()) as { id: string };
  const issued = await before.api("POST", "/api/keys", { name: "k", profile: id });
  headers = { authorization: `Bearer ${((await issued.json()) as { key: string }).key}` };
  withoutProfile = { authorization: `Bearer ${before.key}` };
  await before.stop();
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/check`;
  const section = `cascade: { webhooks: ["${id}=${url}"], webhookSecret: ${SECRET}, webhookTimeoutMs: 500, webhookPrivateNetwork: true }`;
  gateway = await startGateway({ yaml: cascadeYaml(provider.url, section), database });
});
beforeEach(() => {
  asked.length = 0;
  provider.reset();
  provider.on("*", says("Paris"));
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
  webhook.closeAllConnections();
  webhook.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(body: object = {}, sent = headers): Promise<CascadeAnswer["service"]> {
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, ...body }, sent);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as CascadeAnswer).service;
}

it("passes an answer, and is sent it with a signature", async () => {
  reply = () => [200, { pass: true }];
  expect(await ask()).toMatchObject({ tier: "NANO", cascade: [{ model: "small", passed: true }] });
  const [{ body, headers: sent }] = asked as [Asked];
  expect(JSON.parse(body)).toMatchObject({
    tier: "NANO",
    model: "small",
    answers: [{ text: "Paris", toolCalls: [] }],
  });
  const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(sent["x-switchyard-signature"])) ?? [];
  expect(signature).toBe(createHmac("sha256", SECRET).update(`${seconds}.${body}`).digest("hex"));
});

it("sends an answer that it refuses to the next tier, with its reason", async () => {
  reply = (model) => [200, model === "small" ? { pass: false, reason: "2 tests failed" } : { pass: true }];
  expect(await ask()).toMatchObject({
    tier: "SIMPLE",
    cascade: [
      { passed: false, failedCheck: "webhook", reason: "2 tests failed" },
      { model: "middle", passed: true },
    ],
  });
});

it.each([
  ["is down with an error", () => [500, {}] as const, "the webhook answered with status 500"],
  ["says something else", () => [200, { ok: true }] as const, "the webhook did not say whether the answer passes"],
  ["takes too long", () => null, "the webhook did not answer"],
])("passes nothing where it %s", async (_how, answer, reason) => {
  reply = answer;
  const { cascade, notes } = await ask();
  expect(cascade).toMatchObject([
    { passed: false, reason },
    { passed: false, reason },
  ]);
  expect(notes.map(({ code }) => code)).toEqual(["cascade_used", "cascade_unmet"]);
});

it("is not asked about an answer that fails another check", async () => {
  reply = () => [200, { pass: true }];
  await ask({ service_cascade: { pattern: "^Rome$" } });
  expect(asked).toEqual([]);
});

it("is asked for keys of its profile only", async () => {
  const service = await ask({ service_cascade: true }, withoutProfile);
  expect(service.notes).toMatchObject([{ code: "cascade_unused" }]);
  expect(asked).toEqual([]);
});
