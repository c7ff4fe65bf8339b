// /api/profiles, and the catalogue as an operator sees it. Behaviour 8.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FULL = {
  name: "careful",
  description: "For what customers see: <b>never</b> the smallest models",
  tierFloor: "SIMPLE",
  tierCeiling: "STANDARD",
  capabilities: ["tools", "vision"],
  maxCostUsd: "0.25",
  bfclMin: 60,
  maxLatencyMs: 900,
  codeQuality: 2,
  chatQuality: 1,
  allowedModels: ["gpt-4o-mini", "gpt-5-mini"],
  blockedModels: ["gpt-5.4"],
  honourModel: true,
  hostOrder: "fastest",
  serviceTier: "flex",
  regions: ["eu"],
  zeroRetention: true,
  providers: ["one", "two"],
  excludedProviders: ["three"],
  escalate: "eager",
  cascade: true,
};
const EMPTY = {
  description: null,
  tierFloor: null,
  tierCeiling: null,
  capabilities: [],
  maxCostUsd: null,
  bfclMin: null,
  maxLatencyMs: null,
  codeQuality: null,
  chatQuality: null,
  allowedModels: null,
  blockedModels: [],
  honourModel: false,
  hostOrder: null,
  serviceTier: null,
  regions: null,
  zeroRetention: false,
  providers: null,
  excludedProviders: null,
  escalate: null,
  cascade: null,
};

describe("a profile", () => {
  it("is made, read, replaced and deleted", async () => {
    const made = await gateway.api("POST", "/api/profiles", FULL);
    expect(made.status).toBe(201);
    const profile = (await made.json()) as { id: string; createdAt: string };
    expect(profile).toEqual({
      id: expect.stringMatching(/^profile_/),
      ...FULL,
      shadow: null,
      createdAt: expect.any(String),
      updatedAt: profile.createdAt,
    });
    const path = `/api/profiles/${profile.id}`;
    expect(await (await gateway.api("GET", path)).json()).toEqual(profile);
    const replaced = await (await gateway.api("PUT", path, { name: "loose" })).json();
    expect(replaced).toMatchObject({ id: profile.id, name: "loose", ...EMPTY, createdAt: profile.createdAt });
    expect(await (await gateway.api("GET", path)).json()).toEqual(replaced);
    expect((await gateway.api("DELETE", path)).status).toBe(204);
    await expectError(await gateway.api("GET", path), { status: 404 });
    await expectError(await gateway.api("PUT", path, { name: "x" }), { status: 404 });
    await expectError(await gateway.api("DELETE", path), { status: 404 });
  });

  it("is listed with its active keys and what was sent under it", async () => {
    const { id } = (await (await gateway.api("POST", "/api/profiles", { name: "counted" })).json()) as { id: string };
    const keys: { id: string; key: string }[] = [];
    for (const name of ["a", "b", "c"]) {
      keys.push(
        (await (await gateway.api("POST", "/api/keys", { name, profile: id })).json()) as (typeof keys)[number],
      );
    }
    const [first, second] = keys as [(typeof keys)[number], (typeof keys)[number]];
    const sent = await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${first.key}` });
    expect(sent.status).toBe(200);
    await sent.text();
    await gateway.api("DELETE", `/api/keys/${second.id}`);
    const { data } = (await (await gateway.api("GET", "/api/profiles?limit=500")).json()) as { data: { id: string }[] };
    const month = { requests: 1, chargeUsd: expect.stringMatching(/^0\.0*[1-9]/), savedUsd: expect.any(String) };
    expect(data.find((each) => each.id === id)).toMatchObject({ name: "counted", activeKeys: 2, last30Days: month });
    const path = `/api/profiles/${id}/keys?limit=1`;
    expect(await (await gateway.api("GET", path)).json()).toMatchObject({ total: 3, data: [{ name: "c" }] });
    const active = (await (await gateway.api("GET", `${path}&status=active`)).json()) as { total: number };
    expect(active.total).toBe(2);
    await expectError(await gateway.api("GET", `${path}&status=odd`), { status: 400, param: "status" });
  });

  it("takes null for what it does not limit, and the cost as text or number", async () => {
    const nulls = Object.fromEntries(Object.keys(EMPTY).map((name) => [name, null]));
    const made = await gateway.api("POST", "/api/profiles", { name: "nulls", ...nulls, maxCostUsd: "0.005" });
    expect(made.status).toBe(201);
    expect(await made.json()).toMatchObject({ ...EMPTY, maxCostUsd: "0.005" });
    const tiny = await gateway.api("POST", "/api/profiles", { name: "tiny", maxCostUsd: 0.0000001 });
    expect(await tiny.json()).toMatchObject({ maxCostUsd: "0.0000001" });
  });

  it.each<[object, string]>([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "\t" }, "name"],
    [{ name: "a\u0000" }, "name"],
    [{ name: "x", description: "d".repeat(501) }, "description"],
    [{ name: "x", description: "two\nlines" }, "description"],
    [{ name: "x", description: "\u009b31m" }, "description"],
    [{ name: "x", description: ["a"] }, "description"],
    [{ name: "x", tierFloor: "HUGE" }, "tierFloor"],
    [{ name: "x", tierCeiling: "nano" }, "tierCeiling"],
    [{ name: "x", capabilities: ["magic"] }, "capabilities"],
    [{ name: "x", capabilities: "tools" }, "capabilities"],
    [{ name: "x", maxCostUsd: -1 }, "maxCostUsd"],
    [{ name: "x", maxCostUsd: "free" }, "maxCostUsd"],
    [{ name: "x", bfclMin: 101 }, "bfclMin"],
    [{ name: "x", codeQuality: 3 }, "codeQuality"],
    [{ name: "x", chatQuality: "1" }, "chatQuality"],
    [{ name: "x", allowedModels: ["no-such-model"] }, "allowedModels"],
    [{ name: "x", blockedModels: ["no-such-model"] }, "blockedModels"],
    [{ name: "x", blockedModels: "gpt-5.4" }, "blockedModels"],
    [{ name: "x", honourModel: "yes" }, "honourModel"],
    [{ name: "x", tierflor: "NANO" }, "tierflor"],
  ])("%j is refused", async (body, param) => {
    const error = await expectError(await gateway.api("POST", "/api/profiles", body), { status: 400 });
    expect(error.param).toMatch(new RegExp(`^${param}`));
  });
});

describe("/api/models", () => {
  it("has the whole catalogue with health", async () => {
    const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { data: { id: string }[] };
    expect(data.length).toBeGreaterThan(20);
    expect(data.find(({ id }) => id === "gpt-4o-mini")).toMatchObject({
      provider: expect.any(String),
      tier: "SIMPLE",
      isRoutable: true,
      health: { isResting: false },
    });
  });
});

describe("/api/providers", () => {
  it("has the providers without their secrets", async () => {
    const yaml = [
      "providers: { lab: { kind: openai, baseUrl: 'http://127.0.0.1:9/v1', apiKey: very-secret, headers: { x-extra: also-secret } } }",
      "models: [{ id: lab-1, provider: lab, price: { input: 1, output: 1 } }]",
    ].join("\n");
    const other = await startGateway({ yaml });
    try {
      const text = await (await other.api("GET", "/api/providers")).text();
      expect(text).not.toContain("secret");
      const { data } = JSON.parse(text) as { data: { id: string }[] };
      expect(data.find(({ id }) => id === "lab")).toMatchObject({
        kind: "openai",
        baseUrl: "http://127.0.0.1:9/v1",
        models: [{ id: "lab-1", isResting: false }],
      });
    } finally {
      await other.stop();
    }
  });
});
