// A model at two hosts, one of them with two keys: who is asked, in which order, at which price, and what is told of it.
// Behaviour 5.17 to 5.20.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";

const KEYS = { first: "sk-first-secret", second: "sk-second-secret" };
let cheap: FakeProvider;
let dear: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  cheap = await startFakeProvider();
  dear = await startFakeProvider();
});
afterAll(() => Promise.all([cheap.close(), dear.close()]));

/** A fresh gateway for each test: what is known of a key stays for as long as the process runs. */
beforeEach(async () => {
  cheap.reset();
  dear.reset();
  gateway = await startGateway({ yaml: yaml() });
  return () => gateway.stop();
});

function yaml(): string {
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "routing: { baseline: alpha, markup: 0 }",
    "providers:",
    `  cheap: { kind: openai, baseUrl: "${cheap.url}", apiKeys: [${KEYS.first}, { key: ${KEYS.second}, weight: 1 }] }`,
    `  dear: { kind: openai, baseUrl: "${dear.url}", apiKey: sk-dear-secret }`,
    "models:",
    "  - { id: alpha, price: { input: 3, output: 9 }, hosts: [{ provider: dear }, { provider: cheap, upstream: alpha-cheap, price: { input: 1, output: 3 } }] }",
    "  - { id: beta, provider: dear, price: { input: 5, output: 5 } }",
    "tiers: { NANO: [alpha, beta], SIMPLE: [alpha, beta], LIGHT: [alpha, beta], STANDARD: [alpha, beta], COMPLEX: [alpha, beta] }",
  ].join("\n");
}

async function ask(extra: object = {}, headers: Record<string, string> = {}) {
  const body = { model: "auto", messages: [{ role: "user", content: "Say ok" }], ...extra };
  const response = await gateway.post("/v1/chat/completions", body, headers);
  const id = response.headers.get("x-request-id");
  return {
    status: response.status,
    id,
    body: (await response.json()) as { model: string; service: { host?: string } },
  };
}

const keyOf = ({ requests }: FakeProvider, at = -1): string =>
  String(requests.at(at)?.headers.authorization).replace("Bearer ", "");

interface Recorded {
  readonly decision: { readonly hosts: object; readonly reasoning: string };
  readonly attempts: readonly { provider: string; keyId?: string; status: number | null }[];
  readonly money: { readonly chargeUsd: string; readonly holdUsd: string; readonly price: object };
}

async function recorded(id: string | null): Promise<Recorded> {
  const listed = (await (await gateway.api("GET", "/api/requests")).json()) as {
    data: { id: string; requestId: string }[];
  };
  const line = listed.data.find(({ requestId }) => requestId === id);
  return (await (await gateway.api("GET", `/api/requests/${line?.id}`)).json()) as Recorded;
}

describe("a model at several hosts", () => {
  it("is asked at the cheapest, under its name there and at its price, and says where", async () => {
    const { body, id } = await ask();
    expect([cheap.callsTo("alpha-cheap"), dear.requests.length]).toEqual([1, 0]);
    expect([body.model, body.service.host]).toEqual(["alpha", "cheap"]);
    const { money, attempts, decision } = await recorded(id);
    // 12 tokens in, 5 out, at 1 and 3 USD per million.
    expect(money.chargeUsd).toBe("0.000027");
    expect(money.price).toMatchObject({ input: 1, output: 3 });
    expect(attempts[0]).toMatchObject({ provider: "cheap", keyId: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(decision.hosts).toEqual({ alpha: ["cheap", "dear"] });
    expect(decision.reasoning).toContain("host: cheap (cheapest), fallback dear");
  });

  it("reserves for the dearest host that may be tried, and charges the one that answered", async () => {
    cheap.on("*", fails(500));
    const failed = await ask();
    expect([failed.body.model, failed.body.service.host]).toEqual(["alpha", "dear"]);
    const first = await recorded(failed.id);
    expect(first.money.chargeUsd).toBe("0.000081");
    cheap.reset();
    const { id } = await ask();
    const second = await recorded(id);
    expect(second.money.holdUsd).toBe(first.money.holdUsd);
  });

  it("falls back from key to key, then to the next host, then to the next model", async () => {
    cheap.on("*", fails(429, {}, { "retry-after": "60" }));
    dear.on("alpha", fails(503, {}, { "retry-after": "60" }));
    dear.on("beta", answers("from beta"));
    const { body, id, status } = await ask();
    expect([status, body.model]).toEqual([200, "beta"]);
    const { attempts } = await recorded(id);
    expect(attempts.map(({ provider, status: each }) => [provider, each])).toEqual([
      ["cheap", 429],
      ["cheap", 429],
      ["dear", 503],
      ["dear", 200],
    ]);
    expect(new Set(attempts.map(({ keyId }) => keyId)).size).toBe(3);
    expect(new Set(cheap.requests.map((_, at) => keyOf(cheap, at)))).toEqual(new Set(Object.values(KEYS)));
  });

  it("does not try another key for a failure that is not the key's", async () => {
    cheap.on("*", fails(400, { message: "no such thing" }));
    expect((await ask()).status).toBe(400);
    expect([cheap.requests.length, dear.requests.length]).toEqual([1, 0]);
  });

  it("is ordered as request and profile ask, and the debug endpoint decides the same", async () => {
    const profile = (await (
      await gateway.api("POST", "/api/profiles", { name: "p", hostOrder: "fastest" })
    ).json()) as {
      hostOrder: string;
    };
    expect(profile.hostOrder).toBe("fastest");
    for (const service_host_order of ["cheapest", "fastest", "balanced"]) {
      const fields = { service_host_order, service_session: "one" };
      const debug = await gateway.post("/v1/routing/debug", { prompt: "Say ok", ...fields });
      const { decision } = (await debug.json()) as { decision: { host: string; hosts: { alpha: string[] } } };
      const { body } = await ask(fields);
      expect(decision.hosts.alpha[0]).toBe(decision.host);
      expect(body.service.host).toBe(decision.host);
    }
    const wrong = await gateway.post("/v1/chat/completions", { messages: [], service_host_order: "best" });
    expect(wrong.status).toBe(400);
  });

  it("is listed with its hosts", async () => {
    const models = (await (await gateway.get("/v1/models")).json()) as {
      data: { id: string; service: { hosts: object[] } }[];
    };
    expect(models.data.find(({ id }) => id === "alpha")?.service.hosts).toMatchObject([
      { host: "dear", pricing: { prompt: "0.000003" } },
      { host: "cheap", pricing: { prompt: "0.000001" } },
    ]);
    await ask();
    const all = (await (await gateway.api("GET", "/api/models")).json()) as { data: { id: string; hosts: object[] }[] };
    expect(all.data.find(({ id }) => id === "alpha")?.hosts).toMatchObject([
      { host: "dear", upstream: "alpha", isRoutable: true, health: { state: "closed" } },
      { host: "cheap", upstream: "alpha-cheap", isRoutable: true, health: { state: "closed" } },
    ]);
  });
});

describe("several keys", () => {
  it("keep the requests of a conversation together, and spread conversations", async () => {
    const keys = new Set<string>();
    for (let session = 0; session < 12; session += 1) {
      await ask({ service_session: `s${session}` });
      const first = keyOf(cheap);
      keys.add(first);
      for (let turn = 0; turn < 3; turn += 1) {
        await ask({}, { "x-session-id": `s${session}` });
        expect(keyOf(cheap)).toBe(first);
      }
    }
    expect(keys).toEqual(new Set(Object.values(KEYS)));
  });

  it("send a limited key's conversations to the other one until it may be used again", async () => {
    const session = { service_session: "mine" };
    await ask(session);
    const own = keyOf(cheap);
    cheap.once("alpha-cheap", fails(429, {}, { "retry-after": "120" }));
    await ask(session);
    const other = keyOf(cheap);
    expect(other).not.toBe(own);
    await ask(session);
    expect([keyOf(cheap), cheap.requests.length]).toEqual([other, 4]);
    expect(dear.requests.length).toBe(0);
  });

  it("take a refused key out, and health says which without showing it", async () => {
    cheap.on("*", ({ request, response, socket }) => {
      const isRefused = request.headers.authorization === `Bearer ${KEYS.first}`;
      const behave = isRefused ? fails(401, { message: `bad key ${KEYS.first}` }) : answers("ok");
      return behave({ request, response, socket });
    });
    for (let session = 0; session < 12; session += 1) await ask({ service_session: `s${session}` });
    const refusals = cheap.requests.filter(({ headers }) => headers.authorization === `Bearer ${KEYS.first}`);
    expect(refusals.length).toBe(1);
    const text = await (await gateway.api("GET", "/api/providers")).text();
    const { data } = JSON.parse(text) as {
      data: { id: string; keys: { state: string; lastError: string | null }[] }[];
    };
    const keys = data.find(({ id }) => id === "cheap")?.keys ?? [];
    expect(keys.map(({ state, lastError }) => [state, lastError])).toEqual([
      ["open", "API key refused, status 401"],
      ["closed", null],
    ]);
    for (const secret of Object.values(KEYS)) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify(gateway.logged)).not.toContain(secret);
    }
    expect(
      gateway.logged.some(({ fields }) => fields.event === "provider.rejected_credentials" && "providerKey" in fields),
    ).toBe(true);
  });
});

it("charges an answer by its tokens and the price of its host, whatever else could have answered", async () => {
  const usage = { ...USAGE, prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  cheap.on("*", answers("ok", { usage }));
  const charges = new Set<string>();
  for (const extra of [{}, { service_session: "x" }, { service_profile: "direct", model: "alpha" }]) {
    charges.add((await recorded((await ask(extra)).id)).money.chargeUsd);
  }
  expect([...charges]).toEqual(["0.0013"]);
});
