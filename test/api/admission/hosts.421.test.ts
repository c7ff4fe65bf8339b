// Hosts: the dashboard, /api and /docs are served under known names only, and links begin with the configured address.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type RawAnswer, sendRaw } from "../../support/network/raw-http.ts";

const EVIL = "evil.example";
const ADMIN = `authorization: Bearer ${ADMIN_TOKEN}`;

interface Ask {
  readonly host: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

function ask({ url }: TestGateway, path: string, { host, method = "GET", headers = [], body = "" }: Ask) {
  const length = body === "" ? [] : [`content-length: ${Buffer.byteLength(body)}`, "content-type: application/json"];
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`, "connection: close", ...length, ...headers];
  return sendRaw(url, `${lines.join("\r\n")}\r\n\r\n${body}`);
}

function invite(gateway: TestGateway, email: string, host: string, headers: readonly string[] = []) {
  const body = JSON.stringify({ email });
  return ask(gateway, "/api/invitations", { host, method: "POST", headers: [ADMIN, ...headers], body });
}

function linkIn({ status, body }: RawAnswer): string {
  expect({ status, body }).toMatchObject({ status: 201 });
  return (JSON.parse(body) as { link: string }).link;
}

describe("without configuration", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it.each(["/", "/requests", "/docs", "/docs/index.html", "/favicon.svg", "/api/session", "/api/keys"])(
    "a name that nobody configured gets 421 for %s, and is told what to set",
    async (path) => {
      const { status, headers, body } = await ask(gateway, path, { host: EVIL, headers: [ADMIN] });
      expect({ status, type: headers.get("content-type") }).toEqual({
        status: 421,
        type: "application/json; charset=utf-8",
      });
      const { error } = JSON.parse(body) as { error: Record<string, string> };
      expect(error).toMatchObject({ type: "invalid_request_error", code: "host_not_allowed" });
      expect(error.request_id).toBe(headers.get("x-request-id"));
      expect(error.message).toContain("SWITCHYARD_PUBLIC_URL=https://evil.example");
      expect(error.message).toContain("SWITCHYARD_ALLOWED_HOSTS=evil.example");
    },
  );

  it("makes no invitation for it, whatever an unlisted proxy says", async () => {
    expect((await invite(gateway, "ada@example.com", EVIL)).status).toBe(421);
    expect((await invite(gateway, "ada@example.com", EVIL, ["x-forwarded-host: localhost"])).status).toBe(421);
    const link = linkIn(await invite(gateway, "ada@example.com", "localhost:1", [`x-forwarded-host: ${EVIL}`]));
    expect(link).toMatch(/^http:\/\/localhost:1\/#\/invite\?token=/);
  });

  it("a browser gets a page", async () => {
    const headers = ["accept: text/html,application/xhtml+xml,*/*;q=0.8"];
    const { status, headers: got, body } = await ask(gateway, "/", { host: EVIL, headers });
    expect({ status, type: got.get("content-type") }).toEqual({ status: 421, type: "text/html; charset=utf-8" });
    expect(body).toContain("SWITCHYARD_PUBLIC_URL=https://evil.example");
    const call = await ask(gateway, "/api/session", { host: EVIL, headers });
    expect(call.headers.get("content-type")).toContain("application/json");
  });

  it("writes no markup of the host into the page", async () => {
    const { body } = await ask(gateway, "/", { host: "a&b'c", headers: ["accept: text/html"] });
    expect(body).toContain("a&#38;b&#39;c");
    expect(body).not.toContain("a&b");
  });

  it.each([
    "localhost",
    "LOCALHOST:8787",
    "localhost.",
    "switchyard.localhost",
    "127.0.0.1:1",
    "10.1.2.3",
    "[::1]:8787",
  ])("%s is served", async (host) => {
    expect((await ask(gateway, "/api/session", { host })).status).toBe(200);
  });

  it.each(["localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8787", "notlocalhost", "1.2.3", ""])(
    "'%s' is not",
    async (host) => {
      expect((await ask(gateway, "/api/session", { host })).status).toBe(421);
    },
  );

  it("the API, health checks and their kind answer under any name: containers are called by the name of a service", async () => {
    const key = [`authorization: Bearer ${gateway.key}`];
    const host = "gateway.internal:8787";
    const chat = { host, method: "POST", headers: key, body: JSON.stringify(HELLO) };
    expect((await ask(gateway, "/v1/chat/completions", chat)).status).toBe(200);
    for (const path of ["/v1/models", "/healthz", "/readyz", "/openapi.json", "/llms.txt"]) {
      expect((await ask(gateway, path, { host, headers: key })).status, path).toBe(200);
    }
    expect((await ask(gateway, "/metrics", { host, headers: [ADMIN] })).status).toBe(200);
  });
});

describe("with a public address, another host and a trusted proxy", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const server = "{ publicUrl: 'https://LLM.example.com/', allowedHosts: [Gateway], trustedProxies: [127.0.0.1] }";
    gateway = await startGateway({ yaml: `server: ${server}` });
  });
  afterAll(() => gateway.stop());

  it.each(["llm.example.com", "llm.example.com:443", "gateway:8787", "localhost"])("%s is served", async (host) => {
    expect((await ask(gateway, "/api/session", { host })).status).toBe(200);
  });

  it("others are not", async () => {
    for (const host of [EVIL, "example.com", "a.llm.example.com", "gateway.evil.example"]) {
      expect((await ask(gateway, "/api/session", { host })).status, host).toBe(421);
    }
  });

  it("the host that the proxy was asked for counts", async () => {
    const forwarded = (name: string): readonly string[] => [`x-forwarded-host: ${name}`];
    expect((await ask(gateway, "/", { host: "upstream", headers: forwarded("llm.example.com") })).status).toBe(200);
    expect((await ask(gateway, "/", { host: "llm.example.com", headers: forwarded(EVIL) })).status).toBe(421);
    // A proxy appends to what its client has sent.
    expect((await ask(gateway, "/", { host: "gateway", headers: forwarded(`gateway, ${EVIL}`) })).status).toBe(421);
  });

  it("every link begins with the public address", async () => {
    expect(gateway.setupLink).toMatch(/^https:\/\/llm\.example\.com\/#\/setup\?token=/);
    const made = await invite(gateway, "ada@example.com", "localhost:8787");
    expect(linkIn(made)).toMatch(/^https:\/\/llm\.example\.com\/#\/invite\?token=/);
    const guide = await ask(gateway, "/llms.txt", { host: "gateway" });
    expect(guide.body).toContain("https://llm.example.com/v1");
  });
});
