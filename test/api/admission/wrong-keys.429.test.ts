// Guessing: wrong API keys and admin tokens, limited by address. Other clients are not affected.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { sendRaw } from "../../support/network/raw-http.ts";

const MOST = 20;
let behindProxy: TestGateway;
let direct: TestGateway;
beforeAll(async () => {
  const env = { SWITCHYARD_WRONG_KEYS_PER_MINUTE: String(MOST) };
  behindProxy = await startGateway({ env: { ...env, SWITCHYARD_TRUSTED_PROXIES: "127.0.0.0/8, ::1" } });
  direct = await startGateway({ env });
});
afterAll(() => Promise.all([behindProxy.stop(), direct.stop()]));

const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });
const wrongKey = (index: number): string => `Bearer sk-service-${String(index).padStart(43, "0")}`;
const ask = (gateway: TestGateway, authorization: string, address: string): Promise<Response> =>
  gateway.get("/v1/models", { authorization, ...from(address) });

async function useUp(gateway: TestGateway, address: (index: number) => string): Promise<void> {
  for (let index = 0; index < MOST; index += 1) {
    await expectError(await ask(gateway, wrongKey(index), address(index)), { status: 401, code: "invalid_api_key" });
  }
}

describe("wrong API keys", () => {
  it("from one address are 429 after the limit, in either shape; others and good keys go on", async () => {
    await useUp(behindProxy, () => "9.9.9.9");
    const refused = await ask(behindProxy, wrongKey(MOST), "9.9.9.9");
    await expectError(refused, { status: 429, code: "too_many_wrong_keys" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    const message = await behindProxy.post("/v1/messages", {}, { authorization: "Bearer x", ...from("9.9.9.9") });
    expect([message.status, await message.json()]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
    expect((await ask(behindProxy, `Bearer ${behindProxy.key}`, "9.9.9.9")).status).toBe(200);
    expect((await ask(behindProxy, `Bearer ${behindProxy.key}`, "9.9.9.8")).status).toBe(200);
    await expectError(await ask(behindProxy, wrongKey(0), "9.9.9.8"), { status: 401 });
  });

  it("are counted by the nearest address that is no trusted proxy", async () => {
    await useUp(behindProxy, (index) => `1.1.1.${index}, 7.7.7.7`);
    await expectError(await ask(behindProxy, wrongKey(0), "2.2.2.2, 7.7.7.7"), { status: 429 });
  });

  it("without a trusted proxy a header changes nothing about the address", async () => {
    await useUp(direct, (index) => `1.1.1.${index}`);
    await expectError(await ask(direct, wrongKey(0), "3.3.3.3"), { status: 429 });
    expect((await ask(direct, `Bearer ${direct.key}`, "3.3.3.3")).status).toBe(200);
  });

  it("do not include missing keys: those are 401 without a limit", async () => {
    for (let index = 0; index < MOST + 5; index += 1) {
      const answer = await fetch(`${behindProxy.url}/v1/models`, { headers: from("5.5.5.5") });
      await expectError(answer, { status: 401, code: "missing_api_key" });
    }
  });
});

describe("wrong admin tokens", () => {
  it("are 429 after the limit from that address, and the right one still passes", async () => {
    const credits = (token: string, address: string): Promise<Response> =>
      behindProxy.get("/api/credits", { authorization: `Bearer ${token}`, ...from(address) });
    // Many at once, so that a slow machine too is done within the minute.
    for (let sent = 0; sent < 300; sent += 50) {
      const guesses = Array.from({ length: 50 }, (_, index) => credits(`guess${sent + index}`, "8.8.8.8"));
      for (const guess of await Promise.all(guesses)) expect(guess.status).toBe(401);
    }
    await expectError(await credits("guess", "8.8.8.8"), { status: 429, code: "too_many_wrong_keys" });
    await expectError(await credits("guess", "8.8.4.4"), { status: 401 });
    expect((await credits(ADMIN_TOKEN, "8.8.8.8")).status).toBe(200);
    const metrics = { authorization: `Bearer ${ADMIN_TOKEN}`, ...from("8.8.8.8") };
    expect((await behindProxy.get("/metrics", metrics)).status).toBe(200);
  });
});

describe("metrics on this machine", () => {
  it("are not for a page whose host name was made to resolve here", async () => {
    const { port } = new URL(direct.url);
    const answers = await Promise.all(
      [`localhost:${port}`, `evil.example:${port}`].map((host) => statusFor(direct.url, host)),
    );
    expect(answers).toEqual([200, 401]);
  });

  it.each([
    ...["X-Forwarded-For: 9.9.9.9", "X-Forwarded-Host: a.example", "Forwarded: for=9.9.9.9", "X-Real-IP: 9.9.9.9"],
    ...["Via: 1.1 proxy", "CF-Connecting-IP: 9.9.9.9", "True-Client-IP: 9.9.9.9", "X-Envoy-External-Address: 9.9.9.9"],
  ])("are not for clients of a proxy on this machine: %s", async (line) => {
    const head = `GET /metrics HTTP/1.1\r\nHost: localhost\r\n${line}\r\nConnection: close\r\n\r\n`;
    expect((await sendRaw(direct.url, head)).status).toBe(401);
  });

  it("are not for a proxy that only gives itself away by HTTP/1.0", async () => {
    expect((await sendRaw(direct.url, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")).status).toBe(401);
  });
});

async function statusFor(url: string, host: string): Promise<number> {
  return (await sendRaw(url, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status;
}
