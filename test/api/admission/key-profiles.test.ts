// A key with a profile: its saved constraints bind every request made with it. Behaviour 3.6, 5.2.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { readEntry } from "../../../src/core/requests/effort.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Decision {
  readonly tier: string;
  readonly model: string;
  readonly filteredChain: readonly string[];
  readonly reasoning: string;
}

async function keyOf(profile: object): Promise<{ headers: Record<string, string>; profileId: string }> {
  const created = await gateway.api("POST", "/api/profiles", { name: "p", ...profile });
  expect(created.status).toBe(201);
  const { id } = (await created.json()) as { id: string };
  const made = await gateway.api("POST", "/api/keys", { name: "k", profile: id });
  const { key } = (await made.json()) as { key: string };
  return { headers: { authorization: `Bearer ${key}` }, profileId: id };
}

async function decide(headers: Record<string, string>, extra: object = {}): Promise<Decision> {
  const answer = await gateway.post("/v1/routing/debug", { prompt: "Hi there!", ...extra }, headers);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { decision: Decision }).decision;
}

async function live(headers: Record<string, string>, extra: object = {}): Promise<{ model: string; tier: string }> {
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, ...extra }, headers);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { service: { model: string; tier: string } }).service;
}

const HARD = "Prove that there are infinitely many primes of the form 4k+3, step by step, and discuss each lemma.";

describe("a profile's", () => {
  it("floor raises", async () => {
    const { headers } = await keyOf({ tierFloor: "STANDARD" });
    expect((await decide(headers)).tier).toBe("STANDARD");
    expect((await live(headers)).tier).toBe("STANDARD");
    expect((await decide(headers)).reasoning).toContain("profile floor");
  });

  it("ceiling caps, and wins over a floor of the request", async () => {
    const { headers } = await keyOf({ tierCeiling: "SIMPLE" });
    for (const extra of [
      { prompt: HARD },
      { service_tier_floor: "COMPLEX" },
      { service_code_quality: 2, service_chat_quality: 2 },
    ]) {
      expect(["NANO", "SIMPLE"]).toContain((await decide(headers, extra)).tier);
    }
    expect((await live(headers, { service_tier_floor: "COMPLEX" })).tier).toBe("SIMPLE");
  });

  it("bounds clamp a forced tier", async () => {
    const { headers } = await keyOf({ tierFloor: "SIMPLE", tierCeiling: "STANDARD" });
    const forced = (service_tier: string) => live(headers, { service_profile: "tier", service_tier });
    expect((await forced("COMPLEX")).tier).toBe("STANDARD");
    expect((await forced("NANO")).tier).toBe("SIMPLE");
    expect((await forced("LIGHT")).tier).toBe("LIGHT");
  });

  it("models are those of the tiers it allows, wherever else they are listed", async () => {
    const { headers } = await keyOf({ tierFloor: "LIGHT", tierCeiling: "LIGHT" });
    const { filteredChain } = await decide(headers);
    const list = (await (await gateway.get("/v1/models", headers)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining([...filteredChain]));
    for (const model of filteredChain) {
      expect(await live(headers, { service_profile: "direct", model })).toMatchObject({ model, tier: "LIGHT" });
    }
  });

  it("allowed models are the only ones", async () => {
    const { SIMPLE, COMPLEX } = readBuiltin().tiers.chains;
    const allowedModels = [SIMPLE, COMPLEX].map(([entry]) => readEntry(entry as string, () => false).id);
    const { headers } = await keyOf({ allowedModels });
    for (const prompt of ["Hi!", HARD]) {
      expect(allowedModels).toEqual(expect.arrayContaining([...(await decide(headers, { prompt })).filteredChain]));
    }
    const list = (await (await gateway.get("/v1/models", headers)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id).sort()).toEqual([...allowedModels].sort());
  });

  it("blocked models are never chosen", async () => {
    const free = await decide({ authorization: `Bearer ${gateway.key}` });
    const { headers } = await keyOf({ blockedModels: [free.model] });
    const bound = await decide(headers);
    expect(bound.filteredChain).not.toContain(free.model);
    expect(bound.filteredChain).toEqual(free.filteredChain.filter((id) => id !== free.model));
    await expectError(await gateway.get(`/v1/models/${encodeURIComponent(free.model)}`, headers), { status: 404 });
  });

  it("capabilities are required of every model", async () => {
    const { headers } = await keyOf({ capabilities: ["vision", "tools"] });
    const { filteredChain } = await decide(headers);
    const models = (await (await gateway.api("GET", "/api/models")).json()) as {
      data: { id: string; capabilities: string[] }[];
    };
    const capabilitiesOf = new Map(models.data.map(({ id, capabilities }) => [id, capabilities]));
    for (const id of filteredChain) expect(capabilitiesOf.get(id)).toEqual(expect.arrayContaining(["vision", "tools"]));
    const listed = (await (await gateway.get("/v1/models", headers)).json()) as { data: { id: string }[] };
    for (const { id } of listed.data) expect(capabilitiesOf.get(id)).toContain("vision");
  });

  it("sliders raise", async () => {
    const { headers } = await keyOf({ chatQuality: 2 });
    expect((await decide(headers)).tier).toBe("STANDARD");
  });

  it("limits bind `direct`: outside is 404, inside is served", async () => {
    const { headers } = await keyOf({ tierCeiling: "LIGHT", blockedModels: ["gpt-4o-mini"] });
    const direct = (model: string) =>
      gateway.post("/v1/chat/completions", { ...HELLO, service_profile: "direct", model }, headers);
    await expectError(await direct("gpt-5.4"), { status: 404, code: "model_not_found" });
    await expectError(await direct("gpt-4o-mini"), { status: 404, code: "model_not_found" });
    expect((await direct("gpt-5-mini")).status).toBe(200);
  });

  it("changes hold from the next request on", async () => {
    const { headers, profileId } = await keyOf({ tierFloor: "COMPLEX" });
    expect((await decide(headers)).tier).toBe("COMPLEX");
    const changed = await gateway.api("PUT", `/api/profiles/${profileId}`, { name: "p", tierFloor: "LIGHT" });
    expect(changed.status).toBe(200);
    expect((await decide(headers)).tier).toBe("LIGHT");
  });

  it("needs that no model meets are a 400 that names them", async () => {
    const { headers } = await keyOf({ allowedModels: ["gpt-oss-20b"], capabilities: ["vision"] });
    const error = await expectError(await gateway.post("/v1/chat/completions", HELLO, headers), {
      status: 400,
      code: "no_capable_model",
    });
    expect(error.message).toContain("vision");
    const logged = async () => (await gateway.api("GET", `/api/requests/${error.request_id}`)).json();
    await vi.waitFor(async () => expect(await logged()).toMatchObject({ errorMessage: error.message }), 120_000);
  });
});
