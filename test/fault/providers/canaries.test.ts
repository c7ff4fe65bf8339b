// Marked secrets in a real process: after traffic that tempts it to repeat them, they are in no log line, no file of the
// database, no answer that has no business with them, and no metric. Prompts only where they were asked to be kept.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { labYaml } from "../../support/gateway/gateway.ts";
import { CHEAP_PASSWORDS, type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { tokenIn, visit } from "../../support/gateway/signed-in.ts";
import {
  type Behaviour,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { VERSION } from "../../support/providers/messages.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const SECRETS = {
  provider: "canary-provider-key-7f3a",
  header: "canary-provider-header-55c1",
  admin: "canary-admin-token-91bd",
  password: "canary password 4e2f violet teapot",
  newPassword: "canary password 8d1c amber kettle",
  wrongKey: `sk-service-canaryWrongKey${"0".repeat(28)}`,
  wrongPassword: "canary wrong password 6b",
};
const PROMPT = "canary-prompt-aa07";

/** A provider that repeats every header it got, as some do when they refuse a key. */
const echoes =
  (status: number): Behaviour =>
  (exchange) => {
    const { authorization, "x-lab": lab } = exchange.request.headers;
    const message = `Incorrect API key provided: ${authorization} (${lab}). See https://x.example/?key=${SECRETS.provider}`;
    return fails(status, { message, code: "invalid_api_key" })(exchange);
  };

/** The same in a stream that has begun. */
const echoesInStream: Behaviour = ({ request, response }) => {
  const delta = { choices: [{ index: 0, delta: { content: "Hel" } }] };
  const error = { error: { message: `upstream said ${request.headers.authorization}`, code: "server_error" } };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(delta)}\n\ndata: ${JSON.stringify(error)}\n\n`);
};

interface Harvest {
  readonly logs: string;
  readonly files: string;
  /** Bodies and headers of every answer, but for those that are there to show a secret once. */
  readonly answers: string;
  readonly shownOnce: readonly string[];
}

async function harvest(env: Record<string, string>): Promise<Harvest> {
  const provider = await startFakeProvider();
  const folder = mkdtempSync(join(tmpdir(), "switchyard-canaries-"));
  const yaml = labYaml(provider.url, ["alpha", "beta"]).replace(
    "apiKey: lab-secret",
    `apiKey: "\${LAB_KEY}", headers: { x-lab: "${SECRETS.header}" }`,
  );
  writeFileSync(join(folder, "switchyard.yaml"), yaml);
  const gateway = await startGatewayProcess({
    folder,
    env: {
      ...CHEAP_PASSWORDS,
      LOG_LEVEL: "debug",
      SWITCHYARD_ADMIN_TOKEN: SECRETS.admin,
      LAB_KEY: SECRETS.provider,
      ...env,
    },
  });
  try {
    const { answers, shownOnce } = await traffic(gateway, provider);
    expect(await gateway.stop()).toBe(0);
    return { logs: gateway.output(), files: contents(join(folder, "data")), answers, shownOnce };
  } finally {
    await gateway.kill();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function contents(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => (statSync(path).isDirectory() ? contents(path) : readFileSync(path, "latin1")))
    .join("\n");
}

async function traffic(gateway: GatewayProcess, provider: FakeProvider): Promise<Omit<Harvest, "logs" | "files">> {
  const key = gateway.firstKey ?? "";
  let answers = "";
  const keep = async (answer: Response): Promise<Response> => {
    answers += `${JSON.stringify([...answer.headers])}\n${await answer.clone().text()}\n`;
    return answer;
  };
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    keep(
      await fetch(`${gateway.url}${path}`, {
        method,
        headers: { "content-type": "application/json", authorization: `Bearer ${SECRETS.admin}`, ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
  await call("POST", "/api/credits/topups", { amountUsd: "100" });
  const made = (await (
    await fetch(`${gateway.url}/api/keys`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${SECRETS.admin}` },
      body: JSON.stringify({ name: "second" }),
    })
  ).json()) as { key: string };
  await converse(call, provider, { key, secondKey: made.key });
  const sessions = await signIns(gateway, keep);
  for (const path of [
    ...["/api/settings", "/api/providers", "/api/keys", "/api/requests", "/api/users", "/api/usage", "/api/models"],
    ...["/api/ledger", "/metrics", "/openapi.json", "/api/credits"],
  ]) {
    const answer = await call("GET", path);
    expect([path, answer.status]).toEqual([path, 200]);
  }
  const { data } = (await (await call("GET", "/api/requests?limit=100")).json()) as { data: { id: string }[] };
  expect(data.length).toBeGreaterThan(5);
  for (const { id } of data) await call("GET", `/api/requests/${id}`);
  return { answers: answers.replaceAll(PROMPT, ""), shownOnce: [key, made.key, ...sessions] };
}

type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;

async function converse(call: Call, provider: FakeProvider, keys: { key: string; secondKey: string }): Promise<void> {
  const authorization = `Bearer ${keys.key}`;
  const body = { messages: [{ role: "user", content: `Tell me about ${PROMPT}.` }], max_tokens: 30 };
  const chat = "/v1/chat/completions";
  const behaviours: readonly Behaviour[] = [
    ...[400, 401, 403, 404, 422, 429, 500, 503].map(echoes),
    sends(401, `<html>${SECRETS.provider}</html>`, { "content-type": "text/html" }),
    sends(200, `not JSON but ${SECRETS.provider}`),
    sends(200, { error: { message: `key ${SECRETS.provider} refused` } }),
  ];
  for (const behaviour of behaviours) {
    for (const stream of [false, true]) {
      provider.on("*", behaviour);
      await call("POST", chat, { ...body, stream }, { authorization });
    }
    await call("POST", "/v1/messages", body, { authorization, ...VERSION });
  }
  provider.on("*", echoesInStream);
  await call("POST", chat, { ...body, stream: true }, { authorization: `Bearer ${keys.secondKey}` });
  await call("POST", "/v1/messages", { ...body, stream: true }, { authorization, ...VERSION });
  provider.reset();
  for (const stream of [false, true]) await call("POST", chat, { ...body, stream }, { authorization });
  await call("POST", "/v1/messages", { ...body, stream: true }, { "x-api-key": keys.key, authorization, ...VERSION });
  await call("POST", "/v1/routing/debug", { prompt: PROMPT }, { authorization });
  await call("POST", chat, body, { authorization: `Bearer ${SECRETS.wrongKey}` });
  await call("GET", "/api/keys", undefined, { authorization: `Bearer ${SECRETS.wrongKey}` });
  await call("POST", chat, `{"messages": "${PROMPT}", `, { authorization });
  await call("GET", `/v1/models?key=${keys.key}`, undefined, { authorization });
}

/** Sets up, signs in rightly and wrongly, changes the password; the tokens that were used. */
async function signIns(gateway: GatewayProcess, keep: (answer: Response) => Promise<Response>): Promise<string[]> {
  const email = "operator@example.com";
  const token = tokenIn(gateway.setupLink ?? "");
  const person = visit(gateway);
  expect((await person.call("POST", "/api/setup", { token, email, password: SECRETS.password })).status).toBe(201);
  const first = person.cookie ?? "";
  const wrong = { email, password: SECRETS.wrongPassword };
  await keep(await visit(gateway).call("POST", "/api/session", wrong));
  const change = { current: SECRETS.password, next: SECRETS.newPassword };
  expect((await keep(await person.call("POST", "/api/session/password", change))).status).toBe(204);
  await keep(await person.call("GET", "/api/session"));
  return [token, first].filter((text) => text !== "");
}

function hits(text: string, needles: readonly string[]): readonly string[] {
  return needles.filter((needle) => text.includes(needle));
}

describe.concurrent("marked secrets", () => {
  it("are nowhere, and prompts neither", async () => {
    const { logs, files, answers, shownOnce } = await harvest({});
    expect(logs).toContain('"requestId"');
    expect(files).toContain("operator@example.com");
    expect(shownOnce.length).toBe(4);
    const needles = [...Object.values(SECRETS), ...shownOnce];
    expect({ logs: hits(logs, needles), files: hits(files, needles), answers: hits(answers, needles) }).toEqual({
      logs: [],
      files: [],
      answers: [],
    });
    expect(hits(logs + files, [PROMPT])).toEqual([]);
  });

  it("are nowhere also where prompts are kept, which then are in the database alone", {
    timeout: 300_000,
  }, async () => {
    const { logs, files, answers, shownOnce } = await harvest({ SWITCHYARD_LOG_CONTENT: "1" });
    const needles = [...Object.values(SECRETS), ...shownOnce];
    expect(hits(logs + files + answers, needles)).toEqual([]);
    expect(files).toContain(PROMPT);
    expect(logs).not.toContain(PROMPT);
  });
});
