// The service tier that profile and configuration ask hosts for, where the request names none: what is sent, held,
// charged and told.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answers,
  type Behaviour,
  type FakeProvider,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let lab: FakeProvider;
let gateway: TestGateway;
let bank: Bank;
let priorityKey: string;

const FACTORS = "{ input: 1, output: 4, factors: { flex: 0.5, priority: 2 } }";

beforeAll(async () => {
  lab = await startFakeProvider();
  const model = (id: string, price: string, more = "context: 200000, maxOutput: 1000") =>
    `  - { id: ${id}, provider: lab, price: ${price}, ${more} }`;
  const yaml = [
    "catalog: none",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k }`,
    "models:",
    model("tiered", FACTORS),
    model("plain", "{ input: 1, output: 4 }"),
    model("vectors", FACTORS, "capabilities: [embeddings]"),
    "tiers: { NANO: [tiered], SIMPLE: [plain], LIGHT: [plain], STANDARD: [plain], COMPLEX: [plain] }",
    "routing: { baseline: plain, markup: 0 }",
  ].join("\n");
  gateway = await startGateway({ yaml, env: { SWITCHYARD_SERVICE_TIER: "flex" } });
  bank = bankOf(lab, gateway);
  const profile = (await (
    await gateway.api("POST", "/api/profiles", { name: "fast", serviceTier: "priority" })
  ).json()) as Json;
  expect(profile.serviceTier).toBe("priority");
  const key = await (await gateway.api("POST", "/api/keys", { name: "fast", profile: profile.id })).json();
  priorityKey = (key as { key: string }).key;
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

const withKey = (key?: string): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` });

/** 1,000 tokens in and out at 1 and 4 USD per million. */
const USUAL = 5_000_000n;

/** Answers at the tier that was asked for. */
const obliging: Behaviour = async (exchange) => {
  const { service_tier: tier } = exchange.request.body;
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  await answers("ok", { usage, ...(tier === undefined ? {} : { service_tier: tier }) })(exchange);
};

async function ask(body: object, key?: string) {
  lab.on("*", obliging);
  let service: Json = {};
  const spent = await bank.spentBy(async () => {
    const whole = { messages: [{ role: "user", content: "Hi" }], service_profile: "direct", ...body };
    const answer = await gateway.post("/v1/chat/completions", whole, withKey(key));
    ({ service } = (await answer.json()) as { service: Json });
  });
  const sent = (lab.requests.at(-1) as { body: unknown }).body as Json;
  return { sent: sent.service_tier, spent, service };
}

describe("a request that names no tier", () => {
  it.each([{}, { service_tier: "auto" }, { service_tier: null }])(
    "gets that of the configuration: %j",
    async (body) => {
      const { sent, spent, service } = await ask({ model: "tiered", ...body });
      expect([sent, spent, service.serviceTier]).toEqual(["flex", USUAL / 2n, "flex"]);
      expect(service).not.toHaveProperty("notes");
    },
  );

  it("gets that of its key's profile before, at the price of that tier", async () => {
    const { sent, spent, service } = await ask({ model: "tiered" }, priorityKey);
    expect([sent, spent, service.serviceTier]).toEqual(["priority", 2n * USUAL, "priority"]);
  });

  it("gets it where `service_tier` is a tier of ours", async () => {
    const { sent, service } = await ask({ model: "auto", service_profile: "tier", service_tier: "NANO" });
    expect([sent, service.tier]).toEqual(["flex", "NANO"]);
  });

  it("is served by a host without that tier as ever, without a note", async () => {
    const { sent, spent, service } = await ask({ model: "plain" });
    expect([sent, spent]).toEqual([undefined, USUAL]);
    expect(service).not.toHaveProperty("notes");
  });
});

it.each([undefined, "fast"])(
  "a request's own tier counts before those of configuration and profile (%s)",
  async (of) => {
    const key = of === undefined ? undefined : priorityKey;
    const usual = await ask({ model: "tiered", service_tier: "default" }, key);
    expect([usual.sent, usual.spent]).toEqual(["default", USUAL]);
    const other = of === undefined ? "priority" : "flex";
    expect((await ask({ model: "tiered", service_tier: other }, key)).sent).toBe(other);
  },
);

it("is held at its factor", async () => {
  let held = 0n;
  lab.on("tiered", async (exchange) => {
    held = (await bank.balance()).held;
    await obliging(exchange);
  });
  const messages = [{ role: "user", content: "word ".repeat(2_000) }];
  const body = { model: "tiered", service_profile: "direct", max_tokens: 1_000, messages };
  expect((await gateway.post("/v1/chat/completions", body, withKey(priorityKey))).status).toBe(200);
  expect(held).toBeGreaterThan(20_000_000n);
});

it("is estimated at its factor", async () => {
  const estimate = async (body: object, key?: string): Promise<Json> => {
    const asked = { prompt: "Hi", profile: "direct", model: "tiered", ...body };
    const answer = await gateway.post("/v1/routing/debug", asked, withKey(key));
    return ((await answer.json()) as { decision: Json }).decision;
  };
  const [usual, flex, priority] = [
    await estimate({ service_tier: "default" }),
    await estimate({}),
    await estimate({}, priorityKey),
  ];
  expect([usual.serviceTier, flex.serviceTier, priority.serviceTier]).toEqual([undefined, "flex", "priority"]);
  expect(flex.costEstimate).toBeCloseTo((usual.costEstimate as number) / 2, 8);
  expect(priority.costEstimate).toBeCloseTo((usual.costEstimate as number) * 2, 8);
});

it("is asked of chat alone: other endpoints have no tiers", async () => {
  const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
  lab.on("vectors", ({ response }) => {
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ object: "list", data, model: "vectors", usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  const answer = await gateway.post("/v1/embeddings", { model: "vectors", input: "Hi" });
  expect(answer.status).toBe(200);
  expect(lab.requests.at(-1)?.body).not.toHaveProperty("service_tier");
});

it("is no tier that does not exist", async () => {
  const answer = await gateway.api("POST", "/api/profiles", { name: "wrong", serviceTier: "batch" });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("serviceTier");
});
