// The per-minute limit of a key over all /v1 calls. Behaviour 3.7.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_REQUESTS_PER_MINUTE: "7" } });
});
afterAll(() => gateway.stop());

async function keyWith(requestsPerMinute: number | null): Promise<Record<string, string>> {
  const answer = await gateway.api("POST", "/api/keys", { name: "limited", requestsPerMinute });
  const { key } = (await answer.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

function limits(answer: Response): readonly (string | null)[] {
  return ["limit", "remaining", "reset"].map((name) => answer.headers.get(`x-ratelimit-${name}-requests`));
}

describe("the limit", () => {
  it("counts every /v1 call of a key together, and says so on each response", async () => {
    const headers = await keyWith(4);
    const first = await gateway.post("/v1/chat/completions", HELLO, headers);
    expect(limits(first)).toEqual(["4", "3", expect.stringMatching(/^\d+s$/)]);
    const stream = await gateway.post("/v1/chat/completions", { ...HELLO, stream: true }, headers);
    await stream.text();
    expect(limits(stream).slice(0, 2)).toEqual(["4", "2"]);
    const bad = await gateway.post("/v1/routing/debug", "{", headers);
    expect([bad.status, ...limits(bad).slice(0, 2)]).toEqual([400, "4", "1"]);
    const models = await gateway.get("/v1/models", headers);
    await models.text();
    expect(limits(models).slice(0, 2)).toEqual(["4", "0"]);

    const refused = await gateway.post("/v1/chat/completions", HELLO, headers);
    expect(limits(refused).slice(0, 2)).toEqual(["4", "0"]);
    const retryAfter = Number(refused.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
    const error = await expectError(refused, { status: 429, code: "rate_limit_exceeded", param: null });
    expect(error.message).toContain("4 requests per minute");
  });

  it("counts unknown paths and methods when a key comes with them", async () => {
    const headers = await keyWith(3);
    const missing = await gateway.post("/v1/nothing", {}, headers);
    expect([missing.status, ...limits(missing).slice(0, 2)]).toEqual([404, "3", "2"]);
    const method = await gateway.get("/v1/messages", headers);
    expect([method.status, ...limits(method).slice(0, 2)]).toEqual([405, "3", "1"]);
    const other = await gateway.get("/v1/messages/nothing", headers);
    expect([other.status, ...limits(other).slice(0, 2)]).toEqual([404, "3", "0"]);
    await expectError(await gateway.get("/v1/nothing", headers), { status: 429, code: "rate_limit_exceeded" });
    const stranger = await gateway.get("/v1/nothing", { authorization: "Bearer sk-service-none" });
    expect([stranger.status, ...limits(stranger)]).toEqual([404, null, null, null]);
  });

  it("is exact under a burst", async () => {
    const headers = await keyWith(5);
    const burst = await Promise.all(Array.from({ length: 25 }, () => gateway.get("/v1/models/none", headers)));
    const statuses = burst.map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });

  it("is one key's own: others go on", async () => {
    const [one, other] = [await keyWith(1), await keyWith(1)];
    expect((await gateway.get("/v1/models/none", one)).status).toBe(404);
    expect((await gateway.get("/v1/models/none", one)).status).toBe(429);
    expect((await gateway.get("/v1/models/none", other)).status).toBe(404);
  });

  it("is the configured one for a key without its own", async () => {
    const answer = await gateway.get("/v1/models/none", await keyWith(null));
    expect(limits(answer).slice(0, 2)).toEqual(["7", "6"]);
  });

  it("does not touch what needs no key", async () => {
    for (let call = 0; call < 10; call++) expect((await gateway.get("/healthz")).status).toBe(200);
    expect(limits(await gateway.get("/healthz"))).toEqual([null, null, null]);
  });
});
