// `switchyard serve --demo --public` as strangers meet it: two visitors at once, and one who means harm.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";

const PROGRAM = join(import.meta.dirname, "../../bin/switchyard.mjs");
const cwd = mkdtempSync(join(tmpdir(), "switchyard-site-test-"));

let url = "";
let stop = async (): Promise<number | null> => null;
/** A server of the machine that hosts the demo, which nobody may reach through it. */
const inside = createServer((_, response) => {
  reached += 1;
  response.end("{}");
});
let reached = 0;
let insideUrl = "";

beforeAll(async () => {
  await ensureBuild();
  await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
  insideUrl = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`;
  const env = {
    ...{ PATH: process.env.PATH, HOME: cwd, TMPDIR: cwd },
    ...{ OPENAI_API_KEY: "sk-none", OTEL_EXPORTER_OTLP_ENDPOINT: insideUrl, SWITCHYARD_PRICES_URL: insideUrl },
    SWITCHYARD_TRUSTED_PROXIES: "127.0.0.1",
  };
  const child = spawn(process.execPath, [PROGRAM, "serve", "--demo", "--public", "--port", "0"], { cwd, env });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  let out = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (/Network +this process/.test(out)) resolve();
    });
    closed.then((code) => reject(new Error(`ended with ${code}: ${out}`)));
  });
  url = /Dashboard +(\S+)\/\?range=30d/.exec(out)?.[1] ?? "";
  stop = () => {
    child.kill("SIGTERM");
    return closed;
  };
}, 300_000);
afterAll(async () => {
  await stop();
  inside.close();
  rmSync(cwd, { recursive: true, force: true });
});

type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;

/** Everybody comes from an address of their own, through the proxy. */
async function visitor(address: string): Promise<Call> {
  const from = { "x-forwarded-for": address };
  const page = await fetch(url, { headers: { accept: "text/html", ...from } });
  expect(page.status).toBe(200);
  const [given = ""] = page.headers.getSetCookie();
  expect(given).toMatch(/^switchyard_demo=[\w-]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
  const cookies = [given];
  const call: Call = (method, path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...{ cookie: cookies.map((each) => each.split(";")[0]).join("; "), origin: url, ...from, ...headers },
        ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  const session = await call("GET", "/api/session");
  expect(await session.json()).toMatchObject({ demo: true, readOnly: false });
  cookies.push(...session.headers.getSetCookie());
  return call;
}

const names = async (call: Call): Promise<readonly string[]> => {
  const { data } = (await (await call("GET", "/api/keys?limit=50")).json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
};

test("two visitors change the same things, and neither sees the other", async () => {
  const [ada, ben] = await Promise.all([visitor("192.0.2.1"), visitor("192.0.2.2")]);
  expect(await names(ada)).toEqual(["production", "batch"]);
  const [made, other] = await Promise.all([
    ada("POST", "/api/keys", { name: "of ada" }),
    ben("POST", "/api/keys", { name: "of ben" }),
  ]);
  expect([made.status, other.status]).toEqual([201, 201]);
  expect(await names(ada)).toEqual(["of ada", "production", "batch"]);
  expect(await names(ben)).toEqual(["of ben", "production", "batch"]);

  // Both are operators, but of their own copies only.
  expect((await ada("DELETE", "/api/keys/key_demo_production")).status).toBe(204);
  expect((await ada("POST", "/api/accounts", { name: "Team of ada" })).status).toBe(201);
  const newcomer = await visitor("192.0.2.3");
  for (const call of [ben, newcomer]) expect(await (await call("GET", "/api/accounts")).text()).not.toContain("ada");
  const { key } = (await made.json()) as { key: string };
  const asked = { messages: [{ role: "user", content: "Hello" }] };
  const authorization = `Bearer ${key}`;
  expect((await ada("POST", "/v1/chat/completions", asked, { authorization })).status).toBe(200);
  expect((await ben("POST", "/v1/chat/completions", asked, { authorization })).status).toBe(401);

  // A visitor who starts over sees the demo as it was.
  const restarted = await ada("GET", "/demo/restart");
  expect([restarted.status, restarted.headers.get("location")]).toEqual([303, "/"]);
  expect(await names(ada)).toEqual(["production", "batch"]);
  expect(await names(ben)).toContain("of ben");
});

describe("a visitor who means harm", () => {
  test("makes nothing call anybody, whatever is configured", async () => {
    const eve = await visitor("192.0.2.66");
    const target = await eve("POST", "/api/alerts", {
      channel: "webhook",
      name: "w",
      url: "https://hooks.example.com/hook",
    });
    expect(target.status).toBe(201);
    const { id } = (await target.json()) as { id: string };
    expect(await (await eve("POST", `/api/alerts/${id}/test`)).json()).toMatchObject({
      isTaken: false,
      answer: expect.stringContaining("calls nobody"),
    });
    const inner = { channel: "webhook", name: "w", url: `${insideUrl}/hook` };
    const statuses = [
      await eve("PATCH", "/api/settings", { "alerts.privateNetwork": true }),
      await eve("POST", "/api/alerts", inner),
      await eve("POST", "/api/providers", { id: "lab", kind: "openai", baseUrl: `${insideUrl}/v1`, apiKey: "sk-x" }),
      await eve("POST", "/api/providers/lab/test", {}),
      await eve("POST", "/api/providers/discover", { address: insideUrl }),
      await eve("POST", "/api/prices/check", {}),
    ].map(({ status }) => status);
    // Some may be refused; a fault of ours is none of the possible answers.
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    const { data } = (await (await eve("GET", "/api/providers")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain("lab");
    const { key } = (await (await eve("POST", "/api/keys", { name: "k" })).json()) as { key: string };
    const asked = { model: "simulated-model", service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
    await eve("POST", "/v1/chat/completions", asked, { authorization: `Bearer ${key}` });
    const fetched = {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `${insideUrl}/p.png` } }] }],
    };
    await eve("POST", "/v1/chat/completions", fetched, { authorization: `Bearer ${key}` });
    expect(reached).toBe(0);
  });

  test("changes nothing that others see without a store, and makes no more stores than an address may", async () => {
    const anybody = { "content-type": "application/json", "x-forwarded-for": "192.0.2.67" };
    const change = (cookie: string): Promise<Response> =>
      fetch(`${url}/api/keys`, { method: "POST", headers: { ...anybody, cookie }, body: '{"name":"x"}' });
    expect((await change("")).status).toBe(403);
    expect((await change("switchyard_demo=guessed.signature")).status).toBe(403);
    const made: number[] = [];
    for (let each = 0; each < 7; each++) {
      const call = await visitor("192.0.2.67");
      const { status, headers } = await call("POST", "/api/keys", { name: "x" });
      made.push(status);
      if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(made).toEqual([201, 201, 201, 201, 201, 201, 429]);
  });

  test("is told to wait after a flood, and nobody else is", async () => {
    const from = (address: string) => fetch(`${url}/healthz`, { headers: { "x-forwarded-for": address } });
    const statuses = new Map<number, number>();
    for (let batch = 0; batch < 40; batch++) {
      for (const { status } of await Promise.all(Array.from({ length: 25 }, () => from("192.0.2.68"))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(statuses.get(429)).toBeGreaterThanOrEqual(100);
    expect((await from("192.0.2.69")).status).toBe(200);
  });

  test.each([
    ["the metrics of the process", "/metrics", 404],
    ["the metrics under another spelling", "//metrics?x=1", 404],
    ["the metrics in escapes", "/%6Detrics", 404],
    ["the metrics by a slash in escapes", "/%2Fmetrics", 404],
  ])("does not read %s", async (_name, path, status) => {
    expect((await fetch(`${url}${path}`, { headers: { "x-forwarded-for": "192.0.2.70" } })).status).toBe(status);
  });

  test("cannot send what fills the memory", async () => {
    const call = await visitor("192.0.2.71");
    const body = { name: "x".repeat(2 * 1024 * 1024) };
    expect((await call("POST", "/api/keys", body)).status).toBe(413);
  });

  test("cannot send what fills the disk", async () => {
    const call = await visitor("192.0.2.72");
    const { key } = (await (await call("POST", "/api/keys", { name: "k" })).json()) as { key: string };
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new Blob([new Uint8Array(2 * 1024 * 1024)]), "large");
    const refused = await call("POST", "/v1/files", form, { authorization: `Bearer ${key}` });
    expect(refused.status).toBe(413);
  });
});

test("a site that stops leaves nothing behind", async () => {
  expect(await stop()).toBe(0);
  expect(readdirSync(cwd).filter((name) => name.startsWith("switchyard-"))).toEqual([]);
  expect(reached).toBe(0);
});
