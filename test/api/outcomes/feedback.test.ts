// POST /v1/feedback over HTTP: what an application may say, of which requests, and where it is seen.

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseFeedback } from "../../../eval/feedback.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

interface Answer {
  readonly [field: string]: unknown;
  readonly error: { readonly code: string; readonly param: string; readonly type: string; readonly message: string };
}
const json = async (answer: Response | Promise<Response>): Promise<Answer> => (await (await answer).json()) as Answer;
const detail = (id: string): Promise<Answer> => json(gateway.api("GET", `/api/requests/${id}`));
const balance = async (): Promise<unknown> => (await json(gateway.api("GET", "/api/credits"))).balanceUsd;

let count = 0;
async function answered(): Promise<string> {
  count += 1;
  const id = `rated-${count}`;
  await (await gateway.post("/v1/chat/completions", HELLO, { "x-request-id": id })).text();
  return id;
}

describe("feedback of an application", () => {
  it("is kept with the request, free of charge, and the last one counts", async () => {
    const id = await answered();
    const before = await balance();
    const first = await gateway.post("/v1/feedback", { request_id: id, score: 0, comment: "the test failed" });
    expect(first.status).toBe(200);
    expect(first.headers.get("x-ratelimit-remaining-requests")).not.toBeNull();
    expect(await first.json()).toEqual({
      object: "feedback",
      request_id: id,
      score: 0,
      tier: null,
      comment: "the test failed",
      created_at: expect.any(Number),
    });
    const second = await gateway.post("/v1/feedback", { request_id: id, score: 0.5, tier: "COMPLEX" });
    expect(second.status).toBe(200);
    const { feedback, appFeedback } = await detail(id);
    expect(feedback).toBeNull();
    expect(appFeedback).toMatchObject({ score: 0.5, tier: "COMPLEX", comment: null, key: expect.any(String) });
    expect(await balance()).toBe(before);
    const { data } = (await json(gateway.api("GET", `/api/requests?q=${id}`))) as unknown as { data: unknown[] };
    expect(data).toHaveLength(1);
  });

  it("leaves the mark of a person as it is, and is left by it", async () => {
    const id = await answered();
    await gateway.api("POST", `/api/requests/${id}/feedback`, { tier: "NANO", note: "trivial" });
    await gateway.post("/v1/feedback", { request_id: id, tier: "COMPLEX", score: 1 });
    await gateway.api("POST", `/api/requests/${id}/feedback`, { tier: "LIGHT" });
    expect(await detail(id)).toMatchObject({
      feedback: { tier: "LIGHT", note: null },
      appFeedback: { tier: "COMPLEX", score: 1 },
    });
    const exported = await (await gateway.api("GET", "/api/requests/feedback")).text();
    const { id: recordId } = await detail(id);
    expect(exported.split("\n").find((line) => line.includes(String(recordId)))).toContain('"tier":"LIGHT"');
  });

  it("teaches where it names a tier, and only there", async () => {
    const [scored, placed] = [await answered(), await answered()];
    await gateway.post("/v1/feedback", { request_id: scored, score: 0 });
    await gateway.post("/v1/feedback", { request_id: placed, tier: "COMPLEX", comment: "zanzibar" });
    const text = await (await gateway.api("GET", "/api/requests/feedback")).text();
    const ids = text.match(/"id":"[^"]+"/g) ?? [];
    expect(ids).toContain(`"id":"${(await detail(placed)).id}"`);
    expect(ids).not.toContain(`"id":"${(await detail(scored)).id}"`);
    expect(text).not.toContain("zanzibar");
    expect(parseFeedback(text)).toHaveLength(ids.length);
  });

  it("is sent by the official client", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const answer = await client.chat.completions.create({ model: "auto", messages: [{ role: "user", content: "Hi" }] });
    await client.post("/feedback", { body: { request_id: answer._request_id, score: 1 } });
    expect(await detail(String(answer._request_id))).toMatchObject({ appFeedback: { score: 1 } });
  });
});

describe("feedback is refused", () => {
  it.each([
    [{ score: 1 }, "request_id"],
    [{ request_id: "", score: 1 }, "request_id"],
    [{ request_id: 7, score: 1 }, "request_id"],
    [{ request_id: "rated-1" }, "score"],
    [{ request_id: "rated-1", score: null, tier: null }, "score"],
    [{ request_id: "rated-1", score: 1.01 }, "score"],
    [{ request_id: "rated-1", score: "1" }, "score"],
    [{ request_id: "rated-1", tier: "HUGE" }, "tier"],
    [{ request_id: "rated-1", score: 1, comment: "x".repeat(1001) }, "comment"],
    [{ request_id: "rated-1", score: 1, comment: "\u0000" }, "comment"],
  ])("with 400: %j", async (body, param) => {
    const answer = await gateway.post("/v1/feedback", body);
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({ type: "invalid_request_error", code: "invalid_value", param });
  });

  it("with 404 for an unknown request, and for one of another account", async () => {
    const id = await answered();
    const { id: account } = await json(gateway.api("POST", "/api/accounts", { name: "b" }));
    const { key } = await json(gateway.api("POST", `/api/keys?account=${account}`, { name: "k" }));
    const stranger = { authorization: `Bearer ${key}` };
    const asked = [
      gateway.post("/v1/feedback", { request_id: "nothing", score: 1 }),
      gateway.post("/v1/feedback", { request_id: id, score: 0 }, stranger),
      gateway.post("/v1/feedback", { request_id: "no/such id", score: 0 }),
    ];
    for (const answer of await Promise.all(asked)) {
      expect(answer.status).toBe(404);
      expect((await json(answer)).error).toMatchObject({ code: "request_not_found", param: "request_id" });
    }
    expect((await detail(id)).appFeedback).toBeNull();
  });

  it("with 401 without a key, and with 429 beyond the limit of the key", async () => {
    expect((await fetch(`${gateway.url}/v1/feedback`, { method: "POST", body: "{}" })).status).toBe(401);
    const { key } = await json(gateway.api("POST", "/api/keys", { name: "slow", requestsPerMinute: 1 }));
    const headers = { authorization: `Bearer ${key}` };
    const id = await answered();
    expect((await gateway.post("/v1/feedback", { request_id: id, score: 1 }, headers)).status).toBe(200);
    expect((await gateway.post("/v1/feedback", { request_id: id, score: 0 }, headers)).status).toBe(429);
    expect((await detail(id)).appFeedback).toMatchObject({ score: 1 });
  });
});
