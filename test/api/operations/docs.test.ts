// GET /docs: the built documentation, its types and caching, and what a gateway says while it is not built.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registerDocs } from "../../../src/http/pages/docs.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-docs-"));
const files = {
  "index.html": "<title>Home</title>",
  "404.html": "<title>Not found</title>",
  "guides/cursor.md": "# Cursor",
  "dashboard/index.html": "<title>Tour</title>",
  "assets/app.1a2b3c4d.js": "1;",
  "assets/chunks/@index.5e6f7a8b.js": "2;",
  ".stamp.json": "{}",
};
/** Large files, which lie there compressed only. */
const packed = { "guides/cursor.html": "<title>Cursor</title>", "assets/large.3c4d5e6f.js": "3;" };
let built: FastifyInstance;
let unbuilt: FastifyInstance;

beforeAll(async () => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, "docs", path, ".."), { recursive: true });
    writeFileSync(join(folder, "docs", path), text);
  }
  for (const [path, text] of Object.entries(packed)) writeFileSync(join(folder, "docs", `${path}.gz`), gzipSync(text));
  writeFileSync(join(folder, "secret.html"), "hidden words");
  built = await serverOf(join(folder, "docs"));
  unbuilt = await serverOf(join(folder, "none"));
});
afterAll(async () => {
  await built.close();
  await unbuilt.close();
  rmSync(folder, { recursive: true, force: true });
});

/** With the router options of the gateway, which decide what a trailing slash means. */
async function serverOf(root: string): Promise<FastifyInstance> {
  const server = fastify({ routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } });
  await server.register(fastifyStatic, { root, serve: false, preCompressed: true });
  registerDocs(server, root);
  return server;
}

test.each(["/docs", "/docs?a=1", "//docs"])("%s leads to the address that the pages need", async (url) => {
  const answer = await built.inject({ url });
  expect([answer.statusCode, answer.headers.location]).toEqual([308, "/docs/"]);
});

test.each([
  ["/docs/", "Home"],
  ["/docs/?a=1", "Home"],
  ["/docs/dashboard/", "Tour"],
])("%s is a page, validated each time", async (url, title) => {
  const answer = await built.inject({ url });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
  expect(answer.body).toContain(title);
  const again = await built.inject({ url, headers: { "if-none-match": String(answer.headers.etag) } });
  expect(again.statusCode).toBe(304);
});

test("a page is sent as it was compressed, and its source as Markdown", async () => {
  const page = await built.inject({ url: "/docs/guides/cursor", headers: { "accept-encoding": "gzip" } });
  expect(page.headers).toMatchObject({ "content-encoding": "gzip", "content-type": "text/html; charset=utf-8" });
  const source = await built.inject({ url: "/docs/guides/cursor.md" });
  expect([source.headers["content-type"], source.body]).toEqual(["text/markdown; charset=utf-8", "# Cursor"]);
});

test.each(["/docs/guides/cursor", "/docs/guides/cursor.html"])(
  "%s is unpacked for a client without gzip",
  async (url) => {
    const answer = await built.inject({ url });
    expect([answer.statusCode, answer.body]).toEqual([200, packed["guides/cursor.html"]]);
    expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    expect(answer.headers).not.toHaveProperty("content-encoding");
  },
);

test.each(["assets/app.1a2b3c4d.js", "assets/large.3c4d5e6f.js", "assets/chunks/@index.5e6f7a8b.js"])(
  "%s is cached for ever",
  async (path) => {
    const answer = await built.inject({ url: `/docs/${path}` });
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers["content-type"]).toMatch(/javascript/);
  },
);

test.each([
  "/docs/nowhere",
  "/docs/guides",
  "/docs/.stamp.json",
  "/docs/assets/none.js",
  "/docs/..%2fsecret",
  "/docs/%2e%2e/secret.html",
  "/docs/guides%5ccursor",
])("%s is not found, and is not cached", async (url) => {
  const answer = await built.inject({ url });
  expect(answer.statusCode).toBe(404);
  expect(answer.body).not.toContain("hidden words");
  expect(answer.headers["cache-control"] ?? "").not.toContain("immutable");
});

test.each(["/docs/", "/docs/guides/cursor"])("%s says that it is being built, and asks to come back", async (url) => {
  const answer = await unbuilt.inject({ url });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers).toMatchObject({ "retry-after": "5", refresh: "5", "cache-control": "no-cache" });
  expect(answer.body).toContain("npm run docs:build");
});
