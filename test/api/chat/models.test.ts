// GET /v1/models and /v1/models/{id}. Behaviour 9.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const yaml = [
    "routing: { markup: 0.05, baseline: gpt-5.4 }",
    "models:",
    "  - { id: lab-small, provider: sandbox, vendor: lab, name: Lab Small, price: { input: 0.10, output: 0.30, cacheRead: 0.02, cacheWrite: 0.125 }, priceAsOf: 2026-08-08, context: 64000, maxOutput: 2000, capabilities: [tools, vision], bfcl: { overall: 61.2, single: 70.1 } }",
    "  - { id: lab-bare, provider: sandbox, price: { input: 0, output: 0 } }",
    "  - { id: lab-unpriced, provider: sandbox }",
    "  - { id: org/lab:v1, provider: sandbox, price: { input: 1, output: 1 } }",
    "tiers: { NANO: [lab-small, lab-bare], LIGHT: [lab-small] }",
  ].join("\n");
  gateway = await startGateway({ yaml });
});
afterAll(() => gateway.stop());

interface List {
  readonly object: string;
  readonly data: readonly { readonly id: string; readonly [field: string]: unknown }[];
}

const list = async (): Promise<List> => (await (await gateway.get("/v1/models")).json()) as List;

describe("the list", () => {
  it("has each model once, priced and reachable, and not `auto`", async () => {
    const { object, data } = await list();
    const ids = data.map(({ id }) => id);
    expect(object).toBe("list");
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(["lab-small", "lab-bare", "gpt-4o-mini", "claude-opus-4-8"]));
    expect(ids).not.toContain("auto");
    expect(ids).not.toContain("lab-unpriced");
  });

  it("shows a model with exact prices per token, markup included", async () => {
    expect((await list()).data.find(({ id }) => id === "lab-small")).toEqual({
      id: "lab-small",
      object: "model",
      created: Date.parse("2026-08-08") / 1000,
      owned_by: "lab",
      name: "Lab Small",
      context_length: 64_000,
      max_output_tokens: 2000,
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      supported_parameters: expect.arrayContaining(["max_tokens", "tools", "tool_choice"]),
      pricing: {
        prompt: "0.000000105",
        completion: "0.000000315",
        input_cache_read: "0.000000021",
        input_cache_write: "0.00000013125",
      },
      service: {
        tiers: ["NANO", "LIGHT"],
        bfcl: { overall: 61.2, single: 70.1 },
        priceAsOf: "2026-08-08",
        hosts: [expect.objectContaining({ host: "sandbox", context_length: 64_000, priceAsOf: "2026-08-08" })],
      },
    });
  });

  it("shows what is free as 0, also for the cache", async () => {
    expect((await list()).data.find(({ id }) => id === "lab-bare")).toMatchObject({
      architecture: { input_modalities: ["text"] },
      pricing: { prompt: "0", completion: "0", input_cache_read: "0", input_cache_write: "0" },
      service: { tiers: ["NANO"], bfcl: null },
    });
  });
});

describe("one model", () => {
  it.each([
    ["lab-small", "lab-small"],
    ["gpt-4o-mini", "gpt-4o-mini"],
    ["org%2Flab%3Av1", "org/lab:v1"],
    ["org/lab:v1", "org/lab:v1"],
    ["lab/lab-small", "lab-small"],
    ["sandbox/lab-small", "lab-small"],
    ["anthropic/claude-opus-4.8", "claude-opus-4-8"],
  ])("%s is the entry of the list", async (path, id) => {
    const answer = await gateway.get(`/v1/models/${path}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual((await list()).data.find((model) => model.id === id));
  });

  it("auto is the router, whether the list has it or not", async () => {
    const answer = await gateway.get("/v1/models/auto");
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ id: "auto", object: "model" }),
    ]);
  });

  it.each([
    "lab/nothing",
    "openai/lab-small",
    "nothing",
    "org/nothing",
    "lab-unpriced",
    "__proto__",
    "x".repeat(200),
    "%00",
  ])("%s is 404", async (id) => {
    await expectError(await gateway.get(`/v1/models/${id}`), { status: 404, code: "model_not_found", param: "id" });
  });
});

describe("a name with the vendor or the provider in front", () => {
  it.each(["lab/lab-small", "sandbox/lab-small"])("%s is that model", async (model) => {
    const body = { model, service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
    const answer = await gateway.post("/v1/chat/completions", body);
    expect(await answer.json()).toMatchObject({
      model: "lab-small",
      service: { model: "lab-small", profile: "direct" },
    });
  });

  it("is no other vendor's", async () => {
    const body = { model: "openai/lab-small", service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
    await expectError(await gateway.post("/v1/chat/completions", body), { status: 404, code: "model_not_found" });
  });
});

describe("without any provider configured", () => {
  it("every model of the list can be asked for", async () => {
    const plain = await startGateway();
    try {
      const { data } = (await (await plain.get("/v1/models")).json()) as List;
      const body = { model: data.at(-1)?.id, service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
      expect(await (await plain.post("/v1/chat/completions", body)).json()).toMatchObject({ model: data.at(-1)?.id });
    } finally {
      await plain.stop();
    }
  });
});

describe("the catalogue in /api/models", () => {
  it("says where each model stands in the chains, as they are configured", async () => {
    const { data } = (await (await gateway.api("GET", "/api/models")).json()) as List;
    const chainsOf = (wanted: string) => data.find(({ id }) => id === wanted)?.chains;
    expect(chainsOf("lab-small")).toEqual([
      { tier: "NANO", place: 1, of: 2, effort: null },
      { tier: "LIGHT", place: 1, of: 1, effort: null },
    ]);
    expect(chainsOf("lab-bare")).toEqual([{ tier: "NANO", place: 2, of: 2, effort: null }]);
    expect(chainsOf("lab-unpriced")).toEqual([]);
    const last = Math.max(...data.flatMap(({ chains }) => (chains as { of: number }[]).map(({ of }) => of)));
    expect(last).toBeGreaterThan(2);
  });
});
