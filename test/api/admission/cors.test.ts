// CORS: browsers of other origins are refused unless the configuration names them.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const PREFLIGHT = {
  origin: "https://app.example",
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type",
};

function preflight(gateway: TestGateway, headers: Record<string, string> = PREFLIGHT): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, { method: "OPTIONS", headers });
}

function corsHeaders(answer: Response): string[] {
  return [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"));
}

describe("by default", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it("no response carries a CORS header", async () => {
    expect(corsHeaders(await preflight(gateway))).toEqual([]);
    expect(corsHeaders(await gateway.post("/v1/chat/completions", HELLO, PREFLIGHT))).toEqual([]);
  });
});

describe("with origins configured", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ env: { SWITCHYARD_CORS_ORIGINS: "https://app.example" } });
  });
  afterAll(() => gateway.stop());

  it("a preflight of theirs is allowed without a key", async () => {
    const answer = await preflight(gateway);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(answer.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  });

  it.each([false, true])("responses carry the header (stream: %s)", async (stream) => {
    const answer = await gateway.post("/v1/chat/completions", { ...HELLO, stream }, { origin: "https://app.example" });
    await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(answer.headers.get("access-control-expose-headers")).toMatch(/x-request-id.*retry-after/);
  });

  it("what is compressed still varies by origin", async () => {
    const answer = await fetch(`${gateway.url}/openapi.json`, { headers: { origin: "https://app.example" } });
    expect(answer.headers.get("vary")?.toLowerCase()).toMatch(/origin.*accept-encoding/);
  });

  it("errors carry it too, or a browser could not read them", async () => {
    const origin = { origin: "https://app.example" };
    for (const answer of [
      await gateway.post("/v1/chat/completions", "{", origin),
      await gateway.post("/v1/chat/completions", HELLO, { ...origin, authorization: "Bearer x" }),
      await gateway.get("/nowhere", origin),
      await gateway.get("/v1/messages", origin),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
        answer.status,
        "https://app.example",
      ]);
    }
  });

  it("another origin is not allowed", async () => {
    const answer = await preflight(gateway, { ...PREFLIGHT, origin: "https://evil.example" });
    expect(answer.headers.get("access-control-allow-origin")).not.toBe("https://evil.example");
  });

  it("unknown paths are still 404 and wrong methods 405", async () => {
    expect((await gateway.get("/nowhere")).status).toBe(404);
    expect((await gateway.get("/v1/messages")).status).toBe(405);
  });
});
