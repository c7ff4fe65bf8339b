// Chains that ask for an effort, over HTTP: what the provider gets, what the client is told, and what is logged and held.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
  gateway = await startGateway({ yaml: yaml(lab.url) });
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

function yaml(url: string): string {
  const model = (id: string, extra = "") =>
    `  - { id: ${id}, provider: lab, price: { input: 1, output: 3 }, capabilities: [tools, json, reasoning]${extra} }`;
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${url}", apiKey: k } }`,
    "models:",
    model("alpha"),
    model("beta", ", dialect: { efforts: [none, high] }"),
    "tiers: { NANO: [alpha], SIMPLE: [alpha@low, beta@off], LIGHT: [beta@high] }",
    "routing: { baseline: beta }",
  ].join("\n");
}

const inTier = (tier: string, extra: object = {}) => ({
  ...HELLO,
  service_profile: "tier",
  service_tier: tier,
  ...extra,
});

async function asked(body: object) {
  const answer = await gateway.post("/v1/chat/completions", body);
  expect(answer.status).toBe(200);
  const { service } = (await answer.json()) as { service: { effort?: string; notes?: unknown } };
  return { service, sent: lab.requests.at(-1)?.body as Record<string, unknown> };
}

async function newestLogged(): Promise<Record<string, unknown>> {
  const { data } = (await (await gateway.api("GET", "/api/requests?limit=1")).json()) as { data: [{ id: string }] };
  return (await gateway.api("GET", `/api/requests/${data[0].id}`)).json() as Promise<Record<string, unknown>>;
}

describe("an effort of the chain", () => {
  it("reaches the provider, is named in the answer and logged", async () => {
    const { service, sent } = await asked(inTier("SIMPLE"));
    expect(sent.reasoning_effort).toBe("low");
    expect(service).toMatchObject({ effort: "low" });
    expect(service).not.toHaveProperty("notes");
    expect(await newestLogged()).toMatchObject({
      effort: "low",
      decision: { efforts: { alpha: "low", beta: "none" } },
    });
  });

  it("is that of the model that answered, after a fallback", async () => {
    lab.on("alpha", fails(500));
    const { sent } = await asked(inTier("SIMPLE"));
    expect(sent).toMatchObject({ model: "beta", reasoning_effort: "none" });
    expect(await newestLogged()).toMatchObject({ model: "beta", effort: "none" });
  });

  it("yields to the caller's own, and is absent where the chain asks for none", async () => {
    const own = await asked(inTier("SIMPLE", { reasoning_effort: "medium" }));
    expect([own.sent.reasoning_effort, own.service.effort]).toEqual(["medium", "medium"]);
    const none = await asked(inTier("NANO"));
    expect(none.sent).not.toHaveProperty("reasoning_effort");
    expect(none.service).not.toHaveProperty("effort");
    expect(await newestLogged()).toMatchObject({ effort: null });
  });

  it("is left out where the provider refuses the field", async () => {
    const error = {
      message: "Unsupported parameter: 'reasoning_effort'",
      param: "reasoning_effort",
      code: "unsupported_parameter",
    };
    lab.once("alpha", fails(400, error));
    const { sent } = await asked(inTier("SIMPLE"));
    expect(sent).toMatchObject({ model: "alpha" });
    expect(sent).not.toHaveProperty("reasoning_effort");
  });

  it("is part of the decision, and of the hold", async () => {
    const debug = async (tier: string) =>
      (await (await gateway.post("/v1/routing/debug", { prompt: "Hi", ...inTier(tier) })).json()) as {
        decision: { costEstimate: number; effort?: string; efforts?: object };
      };
    const { decision } = await debug("LIGHT");
    expect(decision).toMatchObject({ effort: "high", efforts: { beta: "high" } });
    await asked(inTier("LIGHT"));
    const { money } = (await newestLogged()) as { money: { holdUsd: string } };
    // 400 tokens of answer and 3,000 of thinking at $3.15 a million.
    expect(Number(money.holdUsd)).toBeGreaterThan(3400 * 3.15e-6);
  });
});

describe("a chain set at run time", () => {
  it("takes efforts, and is refused with one that the model does not take", async () => {
    const set = (chain: readonly string[]) => gateway.api("PUT", "/api/chains", { chains: { COMPLEX: chain } });
    expect((await set(["beta@high"])).status).toBe(200);
    expect((await asked(inTier("COMPLEX"))).sent.reasoning_effort).toBe("high");
    const refused = await set(["beta@low"]);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('beta does not take the effort \\"low\\"; it takes none, high');
    const models = (await (await gateway.api("GET", "/api/models")).json()) as { data: { id: string }[] };
    expect(models.data.find(({ id }) => id === "beta")).toMatchObject({
      efforts: ["none", "high"],
      chains: expect.arrayContaining([{ tier: "COMPLEX", place: 1, of: 1, effort: "high" }]),
    });
  });

  it("can be replayed", async () => {
    const replay = (chains: object) => gateway.api("POST", "/api/profiles/replay", { profile: {}, policy: { chains } });
    expect((await replay({ SIMPLE: ["beta@high"] })).status).toBe(200);
    expect((await replay({ SIMPLE: ["beta@max"] })).status).toBe(400);
  });
});
