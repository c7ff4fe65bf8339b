// `service_max_latency_ms` over real HTTP: a slow and a fast host, streamed and not, in a request and in a profile, and
// two gateways on one database of which only one has seen how slow the host is. Behaviour 5.26.

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, delays, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

/** Far more than an answer takes here, and far less than the slow host takes. */
const MAX_MS = 1_500;
const SLOW_MS = 3_000;
/** A speed is known from so many answers on. */
const OBSERVED = 5;

const database = await createTestDatabase();
let slow: FakeProvider;
let fast: FakeProvider;
const gateways: TestGateway[] = [];

beforeAll(async () => {
  slow = await startFakeProvider(delays(SLOW_MS, answers("hello there")));
  fast = await startFakeProvider(answers("hello there"));
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
});
afterAll(async () => {
  await Promise.all([slow.close(), fast.close()]);
  await database?.drop();
});

/** The slow host is the cheaper one, so it comes first. */
async function start(options: { readonly database?: string } = {}): Promise<TestGateway> {
  const yaml = [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "routing: { baseline: alpha, markup: 0 }",
    "providers:",
    `  slow: { kind: openai, baseUrl: "${slow.url}", apiKey: sk-slow }`,
    `  fast: { kind: openai, baseUrl: "${fast.url}", apiKey: sk-fast }`,
    "models:",
    "  - { id: alpha, price: { input: 1, output: 1 }, hosts: [{ provider: slow }, { provider: fast, price: { input: 2, output: 2 } }] }",
    "  - { id: lone, provider: slow, price: { input: 1, output: 1 } }",
    "tiers: { NANO: [alpha, lone], SIMPLE: [alpha, lone], LIGHT: [alpha, lone], STANDARD: [lone], COMPLEX: [lone] }",
  ].join("\n");
  const gateway = await startGateway({ yaml, creditsUsd: "10", ...options });
  gateways.push(gateway);
  return gateway;
}

interface Answered {
  readonly id: string | null;
  readonly host: string | undefined;
}

async function ask(gateway: TestGateway, extra: object = {}): Promise<Answered> {
  const body = { model: "auto", messages: [{ role: "user", content: "Say ok" }], ...extra };
  const response = await gateway.post("/v1/chat/completions", body);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { id: response.headers.get("x-request-id"), host: /"host":"(\w+)"/.exec(text)?.[1] };
}

/** Until the process knows how slow the slow host is. */
async function observe(gateway: TestGateway, extra: object): Promise<void> {
  const asked = await Promise.all(Array.from({ length: OBSERVED }, () => ask(gateway, extra)));
  expect(asked.map(({ host }) => host)).toEqual(asked.map(() => "slow"));
}

async function debug(gateway: TestGateway, extra: object, { key } = gateway) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await gateway.post("/v1/routing/debug", { prompt: "Say ok", ...extra }, headers);
  const { decision } = (await response.json()) as { decision: { hosts: object; host: string; reasoning: string } };
  return decision;
}

async function recorded(gateway: TestGateway, id: string | null) {
  const { data } = (await (await gateway.api("GET", "/api/requests")).json()) as {
    data: { id: string; requestId: string }[];
  };
  const line = data.find(({ requestId }) => requestId === id);
  return (await (await gateway.api("GET", `/api/requests/${line?.id}`)).json()) as {
    decision: {
      controls: object;
      reasoning: string;
      hosts: object;
      candidates: { model: string; removedBecause: string | null }[];
    };
  };
}

const LIMIT = { service_max_latency_ms: MAX_MS };

describe.each([
  ["streamed", { stream: true }],
  ["whole", {}],
])("of hosts whose answers were %s", (_, form) => {
  it("a slow one is left out, which reasoning, debug endpoint and request log say", async () => {
    const gateway = await start();
    // Nobody knows yet that it is slow, so it is tried and observed.
    expect((await debug(gateway, LIMIT)).host).toBe("slow");
    await observe(gateway, form);
    const { id, host } = await ask(gateway, { ...form, ...LIMIT });
    expect(host).toBe("fast");
    const said = /left out of alpha: first token after \d{4,} ms at slow, above 1500 ms/;
    const { decision } = await recorded(gateway, id);
    expect(decision.reasoning).toMatch(said);
    expect(decision.hosts).toEqual({ alpha: ["fast"] });
    expect(decision.controls).toMatchObject({ maxLatencyMs: MAX_MS });
    expect(decision.candidates).toEqual([
      { model: "alpha", removedBecause: null },
      { model: "lone", removedBecause: null },
    ]);
    expect(await debug(gateway, LIMIT)).toMatchObject({ host: "fast", reasoning: expect.stringMatching(said) });
  });
});

describe("the limit", () => {
  it("leaves out a model at slow hosts only, holds for a model by name and in a profile, and is set aside where none remains", async () => {
    const gateway = await start();
    const named = { model: "lone", service_profile: "direct" };
    const form = { stream: true };
    await Promise.all(Array.from({ length: OBSERVED }, () => ask(gateway, { ...named, ...form })));
    await observe(gateway, form);
    const { id } = await ask(gateway, { ...form, ...LIMIT });
    expect((await recorded(gateway, id)).decision.candidates).toEqual([
      { model: "alpha", removedBecause: null },
      { model: "lone", removedBecause: expect.stringMatching(/^first token after \d{4,} ms at slow, above 1500 ms$/) },
    ]);
    const byName = await debug(gateway, { ...LIMIT, model: "alpha", profile: "direct" });
    expect(byName.host).toBe("fast");
    const alone = await debug(gateway, { ...LIMIT, ...named });
    expect(alone.reasoning).toContain("max latency 1500 ms ignored: no host of lone qualifies");
    const none = await debug(gateway, { ...LIMIT, service_tier_floor: "STANDARD" });
    expect(none.reasoning).toContain("max latency 1500 ms ignored: no model qualifies, so the full chain is used");
    const profile = (await (
      await gateway.api("POST", "/api/profiles", { name: "quick", maxLatencyMs: MAX_MS })
    ).json()) as {
      id: string;
      maxLatencyMs: number;
    };
    expect(profile.maxLatencyMs).toBe(MAX_MS);
    const preview = await gateway.api("POST", "/api/playground/decide", { prompt: "Say ok", profileId: profile.id });
    expect(((await preview.json()) as { decision: { host: string } }).decision.host).toBe("fast");
  });

  it("is a whole number from 1 on", async () => {
    const gateway = await start();
    for (const limit of [0, -1, 1.5, "500", true, 1e300]) {
      const body = { model: "auto", messages: [{ role: "user", content: "Hi" }], service_max_latency_ms: limit };
      const response = await gateway.post("/v1/chat/completions", body);
      expect(response.status, String(limit)).toBe(400);
      const error = { param: "service_max_latency_ms", code: "invalid_value" };
      expect(await response.json()).toMatchObject({ error });
      expect((await gateway.api("POST", "/api/profiles", { name: "p", maxLatencyMs: limit })).status).toBe(400);
    }
  });
});

it.skipIf(database === null)(
  "a gateway leaves out what another one on its PostgreSQL has seen to be slow",
  async () => {
    const options = { database: database?.url ?? "" };
    const first = await start(options);
    const second = await start(options);
    const topUp = { amountUsd: "10" };
    expect((await first.api("POST", "/api/credits/topups", topUp)).status).toBeLessThan(300);
    await observe(first, {});
    expect((await debug(first, LIMIT)).host).toBe("fast");
    await vi.waitFor(async () => expect((await debug(second, LIMIT, first)).host).toBe("fast"), {
      timeout: 60_000,
      interval: 50,
    });
  },
);
