// Realtime sessions over the official client: what passes, what is charged, and how a session ends.

import { randomBytes } from "node:crypto";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { createSealer } from "../../../src/store/secret/seal.ts";
import { SHARED_SECRET, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  begins,
  ends,
  type FakeRealtime,
  SOUND,
  speaks,
  startFakeRealtime,
} from "../../support/providers/fake-realtime.ts";
import type { Json } from "../../support/providers/streams.ts";
import { decimal, expectRest, postedOf } from "../../support/stores/money.ts";
import { openSession, type RealtimeClient } from "./client.ts";

let provider: FakeRealtime;
let gateway: TestGateway;
let isStopped = false;
beforeAll(async () => {
  provider = await startFakeRealtime();
  gateway = await startGateway({ yaml: yaml(provider.url), env: { SWITCHYARD_SECRET: SHARED_SECRET } });
});
afterAll(async () => {
  if (!isStopped) await gateway.stop();
  await provider.close();
});

/** Rates that no two parts share, in USD per million tokens. */
const RATES = {
  input: 4,
  audioInput: 32,
  imageInput: 5,
  cacheRead: 0.4,
  audioCacheRead: 0.3,
  output: 16,
  audioOutput: 64,
};

function yaml(baseUrl: string): string {
  const price = Object.entries(RATES).map(([unit, rate]) => `${unit}: ${rate}`);
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret }`,
    "models:",
    `  - { id: voice, provider: lab, upstream: voice-1, price: { ${price.join(", ")} }, context: 32000, maxOutput: 4096, capabilities: [realtime] }`,
    "  - { id: ear, provider: lab, price: { input: 2.5, audioInput: 6, output: 10 }, context: 16000, maxOutput: 2000, capabilities: [transcription] }",
    "  - { id: text, provider: lab, price: { input: 1, output: 2 }, context: 16000, maxOutput: 2000 }",
    "tiers: { NANO: [text], SIMPLE: [text], LIGHT: [text], STANDARD: [text], COMPLEX: [text] }",
    "routing: { baseline: text, markup: 0.05 }",
  ].join("\n");
}

const USAGE = {
  total_tokens: 1_500,
  input_tokens: 1_000,
  output_tokens: 500,
  input_token_details: {
    text_tokens: 300,
    audio_tokens: 600,
    image_tokens: 100,
    cached_tokens: 150,
    cached_tokens_details: { text_tokens: 50, audio_tokens: 100 },
  },
  output_token_details: { text_tokens: 100, audio_tokens: 400 },
};

/** Worked out by hand, in millionths of a USD: text in, sound in, pictures in, cached text, cached sound, text out, sound out. */
const OWED = marked(250 * 4 + 500 * 32 + 100 * 5 + 50 * 0.4 + 100 * 0.3 + 100 * 16 + 400 * 64);

/** Nano-USD with the markup, rounded up. */
function marked(microUsd: number): bigint {
  return BigInt(Math.ceil((Math.round(microUsd * 1e6) / 1e3) * 1.05));
}

const open = (key = gateway.key): Promise<RealtimeClient> => openSession({ url: gateway.url, key, model: "voice" });

async function say({ official, next }: RealtimeClient): Promise<Json> {
  official.send({ type: "response.create" });
  return next("response.done");
}

async function made(path: string, body: object): Promise<Record<string, string>> {
  return (await (await gateway.api("POST", path, body)).json()) as Record<string, string>;
}

/** The key of an account of its own with this credit. */
async function poor(
  amountUsd: string,
): Promise<{ readonly key: string; readonly account: string; readonly id: string }> {
  const { id: account = "" } = await made("/api/accounts", { name: `poor ${amountUsd}` });
  const { key = "", id = "" } = await made(`/api/keys?account=${account}`, { name: "poor" });
  await made(`/api/credits/topups?account=${account}`, { amountUsd });
  return { key, account, id };
}

async function creditOf(account: string): Promise<Record<string, string>> {
  return (await (await gateway.api("GET", `/api/credits?account=${account}`)).json()) as Record<string, string>;
}

describe("a session", () => {
  it("passes every byte, and charges each response as the price says", async () => {
    const before = await postedOf(gateway);
    const client = await open();
    expect(client.headers["x-service-model"]).toBe("voice");
    expect((await client.next("session.created")).session).toMatchObject({ model: "voice-1" });
    client.official.send({ type: "session.update", session: { type: "realtime", instructions: "Ünïcode ☂" } });
    await client.next("session.updated");
    const { received, headers, url } = provider.last();
    expect(received).toEqual([{ type: "session.update", session: { type: "realtime", instructions: "Ünïcode ☂" } }]);
    expect([headers.authorization, url]).toEqual(["Bearer lab-secret", "/v1/realtime?model=voice-1"]);
    provider.once(speaks(USAGE), speaks(USAGE));
    for (const _ of ["one", "two"]) expect((await say(client)).response).toMatchObject({ usage: USAGE });
    const deltas = client.events.filter(({ type }) => type === "response.output_audio.delta").map(({ delta }) => delta);
    expect(deltas).toEqual([...SOUND, ...SOUND]);
    client.official.close();
    await provider.last().closed;
    await expectRest(gateway);
    expect(before - (await postedOf(gateway))).toBe(2n * OWED);
    const { data } = (await (await gateway.api("GET", "/api/requests?limit=2")).json()) as { data: readonly Json[] };
    const row = { status: 200, model: "voice", route: "/v1/realtime", ending: "complete" };
    expect(data).toEqual([expect.objectContaining(row), expect.objectContaining(row)]);
    expect(decimal(String(data[0]?.chargeUsd), 9)).toBe(OWED);
  });

  it("charges what was heard at the price of its model, and refuses one without a price", async () => {
    const client = await open();
    const listens = (model: string): void =>
      client.official.send({
        type: "session.update",
        session: { type: "realtime", audio: { input: { transcription: { model } } } },
      });
    listens("ear");
    await client.next("session.updated");
    await expectHeld();
    const before = await postedOf(gateway);
    provider.last().send({
      type: "conversation.item.input_audio_transcription.completed",
      transcript: "hello",
      usage: { type: "tokens", input_tokens: 100, output_tokens: 10, input_token_details: { audio_tokens: 90 } },
    });
    await client.next("conversation.item.input_audio_transcription.completed");
    expect(before - (await postedOf(gateway))).toBe(marked(10 * 2.5 + 90 * 6 + 10 * 10));
    listens("somebody-elses-ear");
    expect((await client.next("error")).error).toMatchObject({ code: "model_not_found" });
    expect(await client.closed).toMatchObject({ code: 1008 });
    await expectRest(gateway);
  });

  it("of two responses at once has a hold for each, and asks for none that is not covered", async () => {
    const { key } = await poor("1.5");
    const client = await open(key);
    let id = "";
    provider.once((session) => {
      id = begins(session);
    });
    client.official.send({ type: "response.create" });
    await client.next("response.created");
    client.official.send({ type: "response.create", event_id: "second" });
    const { error } = await client.next("error");
    expect(error).toMatchObject({ code: "credits_on_hold", event_id: "second" });
    ends(provider.last(), id, USAGE);
    await client.next("response.done");
    expect(provider.last().received).toHaveLength(1);
    client.official.close();
    await client.closed;
  });

  it("ends when its credit does, with a reason", async () => {
    const { key, account } = await poor("1.36");
    const client = await open(key);
    provider.once(speaks(USAGE));
    await say(client);
    expect((await client.next("error")).error).toMatchObject({ code: "insufficient_credits" });
    expect(await client.closed).toEqual({ code: 1008, reason: "insufficient_credits" });
    await provider.last().closed;
    await vi.waitFor(async () => expect((await creditOf(account)).heldUsd).toBe("0"));
    expect(decimal((await creditOf(account)).postedUsd as string, 9)).toBe(1_360_000_000n - OWED);
  });

  it("ends when its key is revoked", async () => {
    const { key, id, account } = await poor("5");
    const client = await open(key);
    expect((await gateway.api("DELETE", `/api/keys/${id}?account=${account}`)).status).toBe(204);
    expect((await client.next("error")).error).toMatchObject({ code: "invalid_api_key" });
    expect(await client.closed).toMatchObject({ code: 1008, reason: "invalid_api_key" });
  });

  it("ends with its provider, and costs what that had reported", async () => {
    const before = await postedOf(gateway);
    const client = await open();
    provider.once(speaks(USAGE), (session) => {
      begins(session);
      session.socket.terminate();
    });
    await say(client);
    client.official.send({ type: "response.create" });
    expect((await client.next("error")).error).toMatchObject({ code: "provider_disconnected" });
    expect(await client.closed).toEqual({ code: 1011, reason: "provider_disconnected" });
    await expectRest(gateway);
    expect(before - (await postedOf(gateway))).toBe(OWED);
  });

  it("whose client hangs up is stopped, and costs what was used by then", async () => {
    const before = await postedOf(gateway);
    const client = await open();
    provider.once((session) => {
      const id = begins(session);
      session.socket.on("message", (data) => {
        const event = JSON.parse(String(data)) as Json;
        if (event.type === "response.cancel" && event.response_id === id) ends(session, id, USAGE, "cancelled");
      });
    });
    client.official.send({ type: "response.create" });
    await client.next("response.created");
    client.official.socket.terminate();
    expect(await provider.last().closed).toBe(1000);
    await expectRest(gateway);
    expect(before - (await postedOf(gateway))).toBe(OWED);
  });
});

describe("a handshake", () => {
  it.each([
    ["a wrong key", { key: "sk-service-wrong", model: "voice" }, 401, "invalid_api_key"],
    ["an unknown model", { model: "nobody" }, 404, "model_not_found"],
    ["a model of another endpoint", { model: "text" }, 400, "wrong_endpoint"],
  ])("with %s is refused", async (_name, asked, status, code) => {
    const opening = openSession({ url: gateway.url, key: gateway.key, ...asked });
    await expect(opening).rejects.toMatchObject({ status, body: { error: { code } } });
  });

  it("of an account without credits is refused, and a plain request is told what is needed", async () => {
    const { key } = await poor("0.1");
    await expect(open(key)).rejects.toMatchObject({ status: 402, body: { error: { code: "insufficient_credits" } } });
    const plain = await gateway.get("/v1/realtime?model=voice");
    expect(plain.status).toBe(400);
    expect(((await plain.json()) as { error: Json }).error.code).toBe("websocket_required");
  });
});

describe("a client secret", () => {
  const secrets = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1` }).realtime.clientSecrets;

  it("opens a session from a browser, set up as it says, for its model alone", async () => {
    const { value, expires_at, session } = await secrets().create({
      expires_after: { anchor: "created_at", seconds: 60 },
      session: { type: "realtime", model: "voice", instructions: "Be brief." },
    });
    expect(value).toMatch(/^ek_[\w.-]+$/);
    expect(expires_at).toBeGreaterThan(Date.now() / 1000 + 50);
    expect(session).toMatchObject({ type: "realtime", model: "voice", instructions: "Be brief." });
    const browser = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime`, [
      "realtime",
      `openai-insecure-api-key.${value}`,
    ]);
    const told: Json[] = [];
    browser.on("error", () => undefined);
    browser.on("message", (data) => void told.push(JSON.parse(String(data)) as Json));
    await vi.waitFor(() => expect(told.map(({ type }) => type)).toEqual(["session.created", "session.updated"]));
    expect(browser.protocol).toBe("realtime");
    expect(told[1]?.session).toMatchObject({ instructions: "Be brief." });
    browser.close();
    const other = openSession({ url: gateway.url, key: value, model: "text" });
    await expect(other).rejects.toMatchObject({ status: 403, body: { error: { code: "wrong_model" } } });
    expect((await gateway.post("/v1/chat/completions", {}, { authorization: `Bearer ${value}` })).status).toBe(401);
  });

  it("opens nothing once it has expired, or when it was changed", async () => {
    const { value } = await secrets().create({ session: { type: "realtime", model: "voice" } });
    await expect(open(`${value.slice(0, -2)}AA`)).rejects.toMatchObject({ status: 401 });
    const sealer = createSealer(Buffer.from(SHARED_SECRET), "client secrets");
    const { expiresAtMs, ...secret } = JSON.parse(await sealer.open(value.slice(3), "realtime"));
    const lasting = async (ms: number): Promise<string> =>
      `ek_${await sealer.seal(JSON.stringify({ ...secret, expiresAtMs: Date.now() + ms }), "realtime")}`;
    expect(expiresAtMs).toBeGreaterThan(Date.now() + 590_000);
    const over = await lasting(-1);
    await expect(open(over)).rejects.toMatchObject({ body: { error: { code: "invalid_client_secret" } } });
    (await open(await lasting(60_000))).official.close();
  });

  it.each([
    ["another type of session", { session: { type: "transcription", model: "voice" } }],
    ["no model", { session: { type: "realtime" } }],
    ["a model of another endpoint", { session: { type: "realtime", model: "text" } }],
    ["too short a life", { session: { type: "realtime", model: "voice" }, expires_after: { seconds: 1 } }],
    [
      "instructions that no header holds",
      { session: { model: "voice", instructions: randomBytes(6_000).toString("base64") } },
    ],
  ])("is refused for %s", async (_name, body) => {
    expect((await gateway.post("/v1/realtime/client_secrets", body)).status).toBe(400);
  });
});

it("leaves nothing of 200 sessions", async () => {
  await expectRest(gateway);
  for (let round = 0; round < 10; round += 1) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => open()));
    for (const { official } of clients) official.socket.terminate();
    await Promise.all(clients.map(({ closed }) => closed));
  }
  await vi.waitFor(() => expect(provider.openCount()).toBe(0), { timeout: 10_000 });
  await expectRest(gateway);
});

it("waits for the response that runs when the gateway stops", async () => {
  const [busy, idle] = [await open(), await open()];
  let id = "";
  const session = provider.sessions.at(-2);
  provider.once((asked) => {
    id = begins(asked);
  });
  busy.official.send({ type: "response.create" });
  await busy.next("response.created");
  isStopped = true;
  const stopped = gateway.stop();
  expect(await idle.closed).toEqual({ code: 1001, reason: "shutting_down" });
  if (session !== undefined) ends(session, id, USAGE);
  expect((await busy.next("response.done")).response).toMatchObject({ usage: USAGE });
  expect(await busy.closed).toEqual({ code: 1001, reason: "shutting_down" });
  await stopped;
});

/** Waits for the hold of a session that is open. */
async function expectHeld(): Promise<void> {
  await vi.waitFor(async () => {
    const { heldUsd } = (await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string };
    expect(heldUsd).not.toBe("0");
  });
}
