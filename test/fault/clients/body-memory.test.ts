// Many large bodies at once, in a process with little memory: it lives, small requests of other keys are served, every
// refusal is a clear error, and afterwards nothing is left in memory or on hold.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { completion } from "../../support/providers/fake-provider.ts";
import { isLong } from "../../support/random.ts";
import { bankYaml } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const MB = 1024 * 1024;
const HEAP_MB = 320;
const KEYS = 4;
const BODIES_PER_KEY = isLong ? 10 : 6;
/** Less than the bodies take up if each is in memory once. */
const RESIDENT_MAX_MB = isLong ? 900 : 600;

const LARGE = Buffer.from(
  JSON.stringify({ messages: [{ role: "user", content: "a".repeat(30 * MB) }], max_tokens: 5 }),
);
const SMALL = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "hi" }], max_tokens: 5 }));

let folder: string;
let provider: Server;
let gateway: GatewayProcess;

beforeAll(async () => {
  await ensureBuild();
  folder = mkdtempSync(join(tmpdir(), "switchyard-bodies-"));
  // Keeps nothing of what it gets: this process has to live too.
  provider = createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(completion("ok", "alpha")));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const yaml = bankYaml(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`);
  writeFileSync(join(folder, "switchyard.yaml"), yaml.replaceAll(/context: \d+/g, "context: 100000000"));
  gateway = await startGatewayProcess({ folder, env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "100000" });
});
afterAll(async () => {
  await gateway.kill();
  provider.closeAllConnections();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

async function newKey(name: string): Promise<string> {
  return ((await (await gateway.api("POST", "/api/keys", { name })).json()) as { key: string }).key;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly error?: { readonly code: string; readonly message: string } };
}

/** Not with fetch, which would copy each body. */
function post(key: string, body: Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = httpRequest(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, agent: false });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) }),
      );
    });
    sent.setHeader("content-length", body.length);
    sent.end(body);
  });
}

async function metric(name: string): Promise<number> {
  const text = await (await gateway.api("GET", "/metrics")).text();
  return Number(new RegExp(`^switchyard_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

function peakResidentMb(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1024;
}

test(`${KEYS * BODIES_PER_KEY} bodies of 30 MB at once`, async () => {
  const keys = await Promise.all(Array.from({ length: KEYS }, (_, index) => newKey(`large ${index}`)));
  const modest = await newKey("modest");
  let isOver = false;
  const others = (async () => {
    const statuses: number[] = [];
    while (!isOver) statuses.push((await post(modest, SMALL)).status);
    return statuses;
  })();
  const sent = Array.from({ length: KEYS * BODIES_PER_KEY }, (_, index) => post(keys[index % KEYS] as string, LARGE));
  const replies = await Promise.all(sent);
  isOver = true;
  expect(new Set(await others)).toEqual(new Set([200]));
  for (const { status, headers, body } of replies) {
    if (status === 200) continue;
    expect(["429 too_many_body_bytes", "503 overloaded"]).toContain(`${status} ${body.error?.code}`);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  }
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  expect(peakResidentMb()).toBeLessThan(RESIDENT_MAX_MB);
  await expect.poll(() => metric("request_body_bytes")).toBe(0);
  expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
  expect((await post(keys[0] as string, LARGE)).status).toBe(200);
});
