// Unknown paths say what the base URL or the path should be, and errors that a retry cannot help say so.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return method === "GET" ? gateway.get(path, headers) : gateway.post(path, HELLO, headers);
}

async function hintFor(method: string, path: string): Promise<string> {
  const answer = await ask(method, path);
  expect(answer.headers.get("x-should-retry")).toBe("false");
  const { message } = await expectError(answer, { status: 404 });
  expect(message).toMatch(new RegExp(`^Unknown path ${path.split("?")[0]?.replace(/[.*]/g, "\\$&")}\\. `));
  return message;
}

describe("a base URL", () => {
  it.each([
    ["POST", "/chat/completions"],
    ["GET", "/models"],
    ["GET", "/models/gpt-4o-mini"],
    ["POST", "/v1/v1/chat/completions"],
    ["GET", "/v1/v1/models?limit=1"],
  ])("that is wrong for an OpenAI client: %s %s", async (method, path) => {
    expect(await hintFor(method, path)).toContain(`Set the base URL to ${gateway.url}/v1 to reach /v1/`);
  });

  it.each(["/messages", "/messages/count_tokens", "/v1/v1/messages", "/v1/v1/messages/count_tokens"])(
    "that is wrong for an Anthropic client: %s",
    async (path) => {
      const answer = await ask("POST", path);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain(`Set the base URL to ${gateway.url} to reach /v1/messages`);
    },
  );

  it("that is right for models shows them to a browser as a page", async () => {
    const page = await ask("GET", "/models", BROWSER);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-cache"]);
  });
});

describe("a path", () => {
  it.each([
    ["/v1/chat/completion", "Did you mean /v1/chat/completions?"],
    ["/V1/chat/completions", "/v1/chat/completions"],
    ["/v2/chat/completions", "Did you mean /v1/chat/completions?"],
    ["/v1/chat", "Did you mean /v1/chat/completions?"],
    ["/v1/routing/debg", "Did you mean /v1/routing/debug?"],
    ["/v1/response", "Did you mean /v1/responses?"],
    ["/api/chat", "use POST /v1/chat/completions"],
    ["/v1/images/variations", "Of images, /v1/images/generations and /v1/images/edits are served here."],
    ["/v1/videos", "Videos are not served here."],
    ["/v1/interactions", "The Interactions API is not served here"],
    ["/v1/sessions", "GET /openapi.json lists the paths."],
    ["/v1/vector_stores", "GET /openapi.json lists the paths."],
    ["/nowhere", "GET /openapi.json lists the paths."],
    [`/v1/${"x".repeat(3000)}`.slice(0, 150), "GET /openapi.json lists the paths."],
  ])("%s names what to use", async (path, hint) => {
    expect(await hintFor("POST", path)).toContain(hint);
  });

  it("that ends in an action of Google's is no model's name", async () => {
    const answer = await ask("POST", "/v1beta/models/imagen-4:predict");
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("Of the Gemini API, these are served");
  });

  it("that a browser opens gets a page, and a program JSON", async () => {
    const page = await ask("GET", "/nowhere<b>", BROWSER);
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    // The dashboard where it is built, which has a page for it; else a plain one.
    expect(await page.text()).toMatch(/id="app"|Unknown path \/nowhere(?!<b>)/);
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
      expect((await ask("GET", "/nowhere", headers)).headers.get("content-type")).toContain("application/json");
    }
    expect((await ask("GET", "/v1/nowhere", BROWSER)).headers.get("content-type")).toContain("application/json");
  });
});

describe("x-should-retry", () => {
  const chat = "/v1/chat/completions";
  const wrongKey = { authorization: "Bearer sk-service-no" };

  async function brokeKey(): Promise<Record<string, string>> {
    const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "broke" })).json()) as { id: string };
    const made = await gateway.api("POST", `/api/keys?account=${id}`, { name: "broke" });
    return { authorization: `Bearer ${((await made.json()) as { key: string }).key}` };
  }

  it.each<readonly [number, () => Promise<Response>]>([
    [400, () => gateway.post(chat, "{")],
    [400, () => gateway.post("/v1/messages", "{")],
    [401, () => gateway.post(chat, HELLO, wrongKey)],
    [401, () => gateway.post("/v1/messages", HELLO, wrongKey)],
    [401, () => gateway.get("/v1/models", wrongKey)],
    [402, async () => gateway.post(chat, HELLO, await brokeKey())],
    [404, () => gateway.post(chat, { ...HELLO, model: "none", service_profile: "direct" })],
    [404, () => gateway.get("/v1/models/none")],
    [405, () => gateway.get("/v1/messages")],
    [405, () => gateway.post("/v1/models", {})],
    [413, () => gateway.post(chat, JSON.stringify({ messages: Array(100_001).fill(0) }))],
    [415, () => gateway.post(chat, "x", { "content-type": "text/plain" })],
    [422, () => gateway.post(chat, { model: "auto" })],
  ])("is false with %i", async (status, send) => {
    const answer = await send();
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([status, "false"]);
  });

  it("is not sent where a retry may help, nor with a response", async () => {
    const made = await gateway.api("POST", "/api/keys", { name: "slow", requestsPerMinute: 1 });
    const headers = { authorization: `Bearer ${((await made.json()) as { key: string }).key}` };
    const [good, limited] = [await gateway.get("/v1/models", headers), await gateway.get("/v1/models", headers)];
    expect([good.status, limited.status]).toEqual([200, 429]);
    for (const answer of [good, limited]) expect(answer.headers.get("x-should-retry")).toBeNull();
  });
});
