// The configuration of the demo: one that a visitor may change like any other, and that never calls a provider.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, start } from "../../../src/app/app.ts";
import { fillOnce, VISITOR } from "../../../src/cli/demo/store.ts";
import { load } from "../../../src/config/load.ts";
import { demoCatalog, demoSettings } from "../../../src/demo/configuration.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-demo-"));
let app: App;
let cookie = "";

beforeAll(async () => {
  const env = {
    PORT: "0",
    SWITCHYARD_WARM_UP: "false",
    DATABASE_URL: `sqlite:${join(folder, "demo.db")}`,
    SWITCHYARD_DATA: folder,
  };
  const loaded = load({ flags: {}, env, cwd: folder });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const settings = demoSettings(loaded.settings);
  await fillOnce(settings, recordTerminal({ cwd: folder }));
  app = await start(settings, SILENT_LOG, { visitor: VISITOR });
  const { headers } = await fetch(`${app.url}/api/session`);
  cookie = headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: answers are only looked at.
async function api(method: string, path: string, body?: unknown): Promise<any> {
  const headers = { cookie, origin: app.url, "content-type": "application/json" };
  const response = await fetch(`${app.url}${path}`, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as object;
  return { status: response.status, ...answer };
}

describe("the demo's configuration", () => {
  test("has providers of the chains, simulated, with their own addresses, caches and policies", async () => {
    const { providers, chains, policies } = demoCatalog();
    const used = Object.values(chains)
      .flat()
      .flatMap(({ hosts }) => hosts.map(({ provider }) => provider));
    for (const { id, transport, baseUrl } of providers.values()) {
      expect(transport).toBe("sandbox");
      expect(baseUrl).toMatch(/^https:/);
      expect(used).toContain(id);
    }
    expect([...providers.keys()].filter((id) => policies.has(id)).length).toBeGreaterThan(providers.size / 2);
    const { data } = await api("GET", "/api/providers");
    expect(data.map(({ locked }: { locked: unknown }) => locked)).toEqual(data.map(() => null));
    expect(data[0].configured.apiKeys[0]).toMatchObject({ lastFour: expect.stringMatching(/^.{4}$/), setBy: /@/ });
  });

  test("has a history, and a price check with something to adopt", async () => {
    const { data } = await api("GET", "/api/versions?limit=50");
    expect(data.length).toBeGreaterThan(3);
    expect(new Set(data.map(({ author }: { author: string }) => author)).size).toBeGreaterThan(1);
    for (const { changes } of data) expect(changes.length).toBeGreaterThan(0);
    const prices = await api("GET", "/api/prices");
    expect(prices.changes.length).toBeGreaterThan(2);
    expect(prices.unpriced.length).toBeGreaterThan(1);
    const [{ provider, upstream }] = prices.changes;
    expect((await api("POST", "/api/prices/adopt", { hosts: [{ provider, upstream }] })).status).toBe(200);
    expect((await api("GET", "/api/prices")).changes).toEqual(prices.changes.slice(1));
  });

  test("lets a visitor change a chain, with a replay of what was generated, and roll it back", async () => {
    const { version, document } = await api("GET", "/api/configuration");
    const chain = demoCatalog().chains.LIGHT.map(({ id }) => id);
    const tiers = { LIGHT: chain.toReversed() };
    const replay = await api("POST", "/api/replay", { draft: { tiers } });
    expect(replay).toMatchObject({ status: 200, requests: 100 });
    expect(replay.changed).toBeGreaterThan(0);
    const published = await api("PUT", "/api/configuration", { document: { ...document, tiers }, base: version });
    expect(published.status).toBe(200);
    expect((await api("POST", `/api/versions/${version}/rollback`, {})).status).toBe(200);
  });

  test("lets a visitor connect a vendor and a server, which the sandbox answers for", async () => {
    const vendor = await api("POST", "/api/providers/xai/test", { draft: { apiKey: "sk-visitor-key-123" } });
    expect(vendor).toMatchObject({ status: null, ok: true });
    const server = { kind: "openai", baseUrl: "http://127.0.0.1:1/v1" };
    expect(await api("POST", "/api/providers/lab/test", { draft: server })).toMatchObject({
      ok: true,
      models: [{ upstream: "simulated-model" }],
    });
    expect((await api("POST", "/api/providers", { id: "xai", apiKey: "sk-visitor-key-123" })).status).toBe(201);
    expect((await api("POST", "/api/providers/xai/test", {})).ok).toBe(true);
  });

  test("keeps storing prompts, and everything that was generated, after a change", async () => {
    const { data } = await api("GET", "/api/requests?limit=1");
    expect((await api("GET", `/api/requests/${data[0].id}`)).content.request).toContain("messages");
    const { options } = await api("GET", "/api/settings");
    const settingOf = (env: string) => options.find((each: { env: string }) => each.env === env)?.value;
    expect(settingOf("SWITCHYARD_LOG_CONTENT")).toBe("true");
    expect(settingOf("PORT")).toBe("0");
  });
});
