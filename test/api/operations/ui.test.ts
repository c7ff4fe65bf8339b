// The dashboard's files, and what browsers are told about everything that is not /v1.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { load } from "../../../src/config/load.ts";
import type { Services } from "../../../src/gateway/services.ts";
import type { Edge } from "../../../src/http/context.ts";
import { DASHBOARD_PAGES } from "../../../src/http/pages/dashboard-pages.ts";
import { createServer } from "../../../src/http/server.ts";
import { SHIPPED_FORMATS } from "../../support/gateway/formats.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-ui-"));
const servers: FastifyInstance[] = [];
let built: FastifyInstance;
let unbuilt: FastifyInstance;

beforeAll(async () => {
  mkdirSync(join(folder, "ui", "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "secret");
  writeFileSync(join(folder, "ui", "index.html"), "<!doctype html><title>Dashboard</title>");
  writeFileSync(join(folder, "ui", "theme.js"), "0;");
  writeFileSync(join(folder, "ui", "assets", "main-1a2b3c4d.js"), "1;");
  built = await serverOf(join(folder, "ui"));
  unbuilt = await serverOf(join(folder, "none"));
});
afterAll(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function serverOf(uiFolder: string): Promise<FastifyInstance> {
  const loaded = load({ flags: {}, env: {}, cwd: folder });
  if (!loaded.ok) throw new Error("the defaults do not load");
  const anything: unknown = new Proxy(() => anything, { get: () => anything });
  const parts: Partial<Edge> = {
    settings: loaded.settings,
    formats: SHIPPED_FORMATS,
    isDraining: () => false,
    isClosing: () => false,
    services: () => ({ catalog: loaded.settings.catalog }) as Services,
  };
  const edge = new Proxy({} as Edge, { get: (_, name) => Reflect.get(parts, name) ?? anything });
  const server = await createServer(edge, { uiFolder });
  servers.push(server);
  return server;
}

describe("the dashboard", () => {
  it.each([
    ...DASHBOARD_PAGES.map(({ path }) => path),
    "/requests/req_1?tier=NANO",
    "/settings/",
    "/profiles/profile_1",
    "/setup",
  ])("%s is its page, validated each time", async (url) => {
    const headers = { accept: "text/html" };
    const answer = await built.inject({ url, headers });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    expect(answer.body).toContain("Dashboard");
    const again = await built.inject({ url, headers: { ...headers, "if-none-match": String(answer.headers.etag) } });
    expect(again.statusCode).toBe(304);
    expect((await built.inject({ url, headers, method: "HEAD" })).statusCode).toBe(200);
  });

  it("hashed files are cached for ever, others are validated each time", async () => {
    const hashed = await built.inject({ url: "/assets/main-1a2b3c4d.js" });
    expect(hashed.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(hashed.headers["content-type"]).toMatch(/javascript/);
    expect((await built.inject({ url: "/theme.js" })).headers["cache-control"]).toBe("no-cache");
  });

  it.each([
    "/assets/none.js",
    "/assets/..%2findex.html",
    "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
    "/assets/.hidden",
    "/assets",
    "/secret.txt",
    "/index.php",
    "/nowhere",
    "/overview",
    "/login",
  ])("%s is not there, in the shape of every error", async (url) => {
    const answer = await built.inject({ url });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: { type: "not_found_error" } });
    expect(answer.headers["cache-control"] ?? "").not.toContain("immutable");
  });

  it("an unknown path is the dashboard in a browser, with 404; a plain page where it cannot load", async () => {
    const ask = (server: FastifyInstance, url: string, more: object = {}) =>
      server.inject({ url, headers: { accept: "text/html,*/*;q=0.8", ...more } });
    const page = await ask(built, "/nowhere/at-all");
    expect([page.statusCode, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.headers["cache-control"]).toBe("no-cache");
    expect(page.body).toContain("<title>Dashboard</title>");
    for (const plain of [await ask(unbuilt, "/nowhere"), await ask(built, "/nowhere", { host: "evil.example" })]) {
      expect(plain.statusCode).toBe(404);
      expect(plain.body).toContain("Unknown path /nowhere");
    }
    for (const url of ["/api/nowhere", "/v1beta/nowhere"]) {
      expect((await ask(built, url)).headers["content-type"]).toContain("application/json");
    }
    expect((await built.inject({ url: "/nowhere", method: "POST" })).headers["content-type"]).toContain("json");
  });

  it("where it is not built, the address says so and how to fix it", async () => {
    for (const method of ["GET", "HEAD"] as const) {
      const answer = await unbuilt.inject({ url: "/", method });
      expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
      if (method === "GET") expect(answer.body).toContain("npm run build");
    }
  });
});

describe("browsers are told", () => {
  it.each(["/", "/assets/main-1a2b3c4d.js", "/api/nothing", "/nowhere", "/openapi.json", "/healthz"])(
    "to trust nothing but us at %s",
    async (url) => {
      const { headers } = await built.inject({ url });
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      );
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
      });
    },
  );

  it("nothing of that at /v1, which is not for pages", async () => {
    expect((await built.inject({ url: "/v1" })).headers["content-security-policy"]).toBeUndefined();
  });
});
