// Alive, ready and metrics. Behaviour 2.

import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureSite } from "../../../scripts/setup.mjs";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { HOST: "0.0.0.0" } });
});
afterAll(() => gateway.stop());

const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

describe("/healthz and /readyz", () => {
  it("need no key", async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${gateway.url}/livez`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toEqual({ status: "ready" });
  });

  it.each(["?verbose", "?verbose=1"])("%s prints one line per check", async (query) => {
    const answer = await fetch(`${gateway.url}/readyz${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toBe(
      "[+]shutdown ok\n[+]database ok\n[+]log ok\n[+]providers ok\nreadyz check passed\n",
    );
  });
});

describe("/llms.txt", () => {
  beforeAll(() => ensureSite());

  it("tells an agent where to send what, under the address it was asked at", async () => {
    const answer = await fetch(`${gateway.url}/llms.txt`);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await answer.text();
    expect(text).toContain(`OpenAI clients: ${gateway.url}/v1 `);
    const linked = [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, url]) => url as string);
    expect(linked).toEqual(expect.arrayContaining(["/openapi.json", "/docs"].map((path) => gateway.url + path)));
    for (const url of linked.filter((each) => !each.endsWith("/v1/models")))
      expect((await fetch(url)).status).toBe(200);
    expect(text).toContain(`(${gateway.url}/docs/concepts/routing.md): `);
    expect(text).toContain("answers are simulated");
    expect(text).toMatch(/With DEBUG_ROUTING=1 also X-Service-Model/);
    expect(text).toContain(`- POST ${gateway.url}/v1/feedback: `);
    expect(text).toContain(`- GET ${gateway.url}/v1/key: `);
    expect(text).not.toContain(gateway.key);
  });

  it("has a card for programs, with every path of the contract but those of the dashboard", async () => {
    const { endpoints } = (await (await fetch(`${gateway.url}/v1`)).json()) as { endpoints: readonly string[] };
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
    expect(endpoints).toEqual(Object.keys(paths).filter((path) => !path.startsWith("/api/")));
    expect(endpoints).toEqual(expect.arrayContaining(["/v1/chat/completions", "/v1/key", "/v1/feedback", "/readyz"]));
  });
});

describe("/metrics", () => {
  it("is open to loopback and counts what happened", async () => {
    await (await gateway.post("/v1/chat/completions", HELLO)).text();
    await expect
      .poll(async () => (await fetch(`${gateway.url}/metrics`)).text())
      .toMatch(/switchyard_requests_total\{route="\/v1\/chat\/completions",status="200",tier="\w+",model="[^"]+"\} 1/);
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(text).not.toContain(gateway.key);
    expect(text).not.toMatch(/req_[0-9a-f]{24}/);
  });

  it("does not take a proxy on this machine for loopback", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.9" };
    await expectError(await fetch(`${gateway.url}/metrics`, { headers: forwarded }), { status: 401 });
    const admin = { ...forwarded, authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await fetch(`${gateway.url}/metrics`, { headers: admin })).status).toBe(200);
    const key = { ...forwarded, authorization: `Bearer ${gateway.key}` };
    await expectError(await fetch(`${gateway.url}/metrics`, { headers: key }), { status: 401 });
  });

  it.skipIf(outside === undefined)("asks others for the admin token", async () => {
    const url = `${gateway.url.replace("127.0.0.1", outside as string)}/metrics`;
    await expectError(await fetch(url), { status: 401 });
    const admin = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(admin.status).toBe(200);
  });

  it("has no more series after many different unknown paths", async () => {
    const count = async (): Promise<number> =>
      ((await (await fetch(`${gateway.url}/metrics`)).text()).match(/switchyard_requests_total\{/g) ?? []).length;
    const before = await count();
    for (let index = 0; index < 20; index++) await gateway.get(`/v1/nowhere-${index}`);
    expect(await count()).toBe(before);
  });
});
