// Addresses, methods and request ids: what holds on every path. Behaviour 2.5, 2.6, 2.8.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { sendRaw } from "../../support/network/raw-http.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FRESH_ID = /^req_[0-9a-f]{24}$/;

describe("X-Request-Id", () => {
  const probes: readonly (readonly [string, string, number])[] = [
    ["GET", "/", 200],
    ["GET", "/v1", 200],
    ["GET", "/healthz", 200],
    ["GET", "/readyz", 200],
    ["GET", "/metrics", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/v1/models", 200],
    ["HEAD", "/healthz", 200],
    ["HEAD", "/v1/models", 200],
    ["OPTIONS", "/v1/chat/completions", 204],
    ["GET", "/nowhere", 404],
    ["HEAD", "/nowhere", 404],
    ["OPTIONS", "/nowhere", 404],
    ["PUT", "/v1/chat/completions", 405],
    ["DELETE", "/v1/models", 405],
    ["GET", "/v1/models/nothing", 404],
    ["GET", "/api/keys", 401],
    ["GET", "/%zz", 400],
  ];

  it.each(probes)("is made for %s %s", async (method, path, status) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: path.startsWith("/v1") ? { authorization: `Bearer ${gateway.key}` } : {},
    });
    await answer.arrayBuffer();
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-request-id")).toMatch(FRESH_ID);
  });

  it("is on the response to an unknown expectation", async () => {
    const answer = await sendRaw(gateway.url, "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n");
    expect([answer.status, answer.headers.get("x-request-id")]).toEqual([200, expect.stringMatching(FRESH_ID)]);
  });

  it("is on whole responses and on streams, and differs from request to request", async () => {
    const ids = new Set<string | null>();
    for (const stream of [false, true, false, true]) {
      const answer = await gateway.post("/v1/chat/completions", { ...HELLO, stream });
      await answer.text();
      expect(answer.headers.get("x-request-id")).toMatch(FRESH_ID);
      ids.add(answer.headers.get("x-request-id"));
    }
    expect(ids.size).toBe(4);
  });

  it.each(["abc", "A-b_c.9=", "4bf92f3577b34da6a3ce929d0e0e4736", "x".repeat(128)])(
    "keeps the caller's own %j",
    async (id) => {
      const answer = await gateway.get("/v1/models/none", { "x-request-id": id });
      await expectError(answer, { status: 404 });
      expect(answer.headers.get("x-request-id")).toBe(id);
    },
  );

  it.each(["x".repeat(129), "two words", "a/b", "<script>", "a,b", '"', "é"])(
    "replaces what is not plain: %j",
    async (id) => {
      const answer = await gateway.get("/healthz", { "x-request-id": Buffer.from(id).toString("latin1") });
      expect(answer.headers.get("x-request-id")).toMatch(FRESH_ID);
    },
  );

  it.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["an unknown method", "FROB / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a broken header", "GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n", 400],
    ["two lengths", "POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
    ],
    ["endless headers", `GET / HTTP/1.1\r\nHost: x\r\nx-long: ${"y".repeat(300_000)}\r\n\r\n`, 431],
    ["no Host", "GET /healthz HTTP/1.1\r\n\r\n", 400],
  ])("is on the response to %s", async (_name, bytes, status) => {
    const answer = await sendRaw(gateway.url, bytes);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-request-id")).toMatch(FRESH_ID);
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { type: "invalid_request_error", request_id: answer.headers.get("x-request-id") },
    });
    expect((await gateway.get("/healthz")).status).toBe(200);
  });
});

describe("slashes", () => {
  it.each([
    "/v1/chat/completions/",
    "//v1/chat/completions",
    "/v1//chat/completions",
    "/v1//chat//completions/",
    "/v1/chat/completions?beta=true",
    "/v1/chat/completions/?x=1",
  ])("%s is the chat endpoint", async (path) => {
    expect((await gateway.post(path, HELLO)).status).toBe(200);
  });

  it.each(["/v1/models/", "//v1//models", "/v1/", "/healthz/"])("%s is served too", async (path) => {
    expect((await gateway.get(path)).status).toBe(200);
  });

  it.each(["/v1/chat//nothing/", "/V1/chat/completions", "/v1/chat/completion", "/v2/models", "/v1/chat"])(
    "%s is not there",
    async (path) => {
      await expectError(await gateway.post(path, HELLO), { status: 404 });
    },
  );
});

describe("methods", () => {
  it.each([
    ["DELETE", "/v1/chat/completions", "GET, HEAD, POST"],
    ["PUT", "/v1/chat/completions/", "GET, HEAD, POST"],
    ["PATCH", "/v1//routing/debug", "POST"],
    ["POST", "/v1/models", "GET, HEAD"],
    ["POST", "/v1/models/x", "GET, HEAD"],
    ["PUT", "/api/keys", "GET, HEAD, POST"],
    ["POST", "/api/keys/x", "DELETE, GET, HEAD, PATCH"],
    ["POST", "/api/profiles/x", "DELETE, GET, HEAD, PUT"],
    ["DELETE", "/healthz", "GET, HEAD"],
    ["TRACE", "/v1/models", "GET, HEAD"],
  ])("%s %s is 405 and says what is possible", async (method, path, allow) => {
    const answer =
      method === "TRACE"
        ? await sendRaw(gateway.url, `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
        : await fetch(`${gateway.url}${path}`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    if (answer instanceof Response) await expectError(answer, { status: 405 });
  });

  it.each(["text/plain", "application/json"])("is judged before the body: %s", async (type) => {
    const headers = { "content-type": type, authorization: `Bearer ${gateway.key}` };
    const body = "x".repeat(100);
    const wrongMethod = await fetch(`${gateway.url}/v1/chat/completions`, { method: "PUT", headers, body });
    await expectError(wrongMethod, { status: 405 });
    const nowhere = await fetch(`${gateway.url}/nowhere`, { method: "POST", headers, body });
    await expectError(nowhere, { status: 404 });
  });

  it("HEAD has the headers of GET and no body", async () => {
    const answer = await fetch(`${gateway.url}/healthz`, { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });

  it("OPTIONS says what is possible", async () => {
    const answer = await fetch(`${gateway.url}/v1/models`, { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([204, "GET, HEAD"]);
  });
});

describe("the address itself", () => {
  it("is the dashboard, or says how to build it", async () => {
    const answer = await fetch(gateway.url);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-cache"]);
    expect(await answer.text()).toMatch(/<!doctype html>|npm run build/i);
    expect((await fetch(gateway.url, { method: "HEAD" })).status).toBe(200);
  });

  it("says what is served at /v1", async () => {
    expect(await (await fetch(`${gateway.url}/v1`)).json()).toMatchObject({ name: "switchyard" });
  });
});
