// The ways Anthropic's clients knock: either key header, versions and betas, probes, slashes, token counts, model lists.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { ASK, expectMessagesError, VERSION } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const CLAUDE = { ...ASK, model: "claude", service_profile: "direct" };

/** Without the key that the test gateway adds by itself. */
function send(path: string, headers: Record<string, string>, body: object | null = CLAUDE, method = "POST") {
  return fetch(`${mixed.gateway.url}${path}`, {
    method,
    headers: body === null ? headers : { "content-type": "application/json", ...headers },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
}

describe("the key", () => {
  const key = (): string => mixed.gateway.key;
  it("is taken from either header, or from both when they agree", async () => {
    for (const headers of [
      { "x-api-key": key() },
      { "x-api-key": ` ${key()} ` },
      { authorization: `Bearer ${key()}` },
      { "x-api-key": key(), authorization: `Bearer ${key()}` },
    ]) {
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        const answer = await send(path, headers);
        expect([path, answer.status]).toEqual([path, 200]);
        expect(answer.headers.get("request-id")).toMatch(/^req_/);
        expect(answer.headers.get("x-request-id")).toBe(answer.headers.get("request-id"));
        await answer.arrayBuffer();
      }
    }
    for (const path of ["/v1/models", "/v1/models/claude"]) {
      const answer = await send(path, { "x-api-key": key(), ...VERSION }, null, "GET");
      expect([path, answer.status]).toEqual([path, 200]);
      await answer.arrayBuffer();
    }
  });

  it("in x-api-key opens no other path", async () => {
    expect((await send("/v1/chat/completions", { "x-api-key": key() })).status).toBe(401);
    expect((await send("/v1/models", { "x-api-key": key() }, null, "GET")).status).toBe(401);
  });

  it("never reaches a provider", async () => {
    await (await send("/v1/messages", { "x-api-key": key(), cookie: "a=b", "x-app": "cli" })).arrayBuffer();
    const { headers, raw } = mixed.anthropic.requests[0] as { headers: object; raw: string };
    expect(JSON.stringify(headers) + raw).not.toContain(key());
    expect(Object.keys(headers)).not.toContain("cookie");
    expect(Object.keys(headers)).not.toContain("x-app");
  });
});

describe("version and betas", () => {
  test.each([
    [{}, "2023-06-01", undefined],
    [{ "anthropic-version": "2023-06-01" }, "2023-06-01", undefined],
    [{ "anthropic-version": "2026-10-21" }, "2026-10-21", undefined],
    [{ "anthropic-version": "1999-01-01" }, "2023-06-01", undefined],
    [{ "anthropic-beta": "nobody-knows-2031-01-01, oauth-2025-04-20" }, "2023-06-01", "nobody-knows-2031-01-01"],
  ])("%j is served", async (headers, version, beta) => {
    for (const path of ["/v1/messages", "/v1/messages?beta=true"]) {
      const answer = await mixed.gateway.post(path, CLAUDE, headers);
      expect(answer.status).toBe(200);
      const sent = mixed.anthropic.requests.at(-1);
      expect(sent?.path).toBe("/v1/messages");
      expect(sent?.headers["anthropic-version"]).toBe(version);
      expect(sent?.headers["anthropic-beta"]).toBe(beta);
      expect((await mixed.gateway.post(path, { ...CLAUDE, model: "alpha" }, headers)).status).toBe(200);
    }
  });

  it("a beta that the provider refuses is left out on a retry", async () => {
    mixed.anthropic.once("claude-real-1", ({ response }) => {
      response.writeHead(400, { "content-type": "application/json" });
      const message = "Unexpected value(s) `x-1` for the `anthropic-beta` header.";
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
    });
    const answer = await mixed.gateway.post("/v1/messages", CLAUDE, { "anthropic-beta": "x-1" });
    expect(answer.status).toBe(200);
    expect(mixed.anthropic.requests.map(({ headers }) => headers["anthropic-beta"])).toEqual(["x-1", undefined]);
  });
});

describe("paths", () => {
  test.each([
    "/v1/messages/",
    "//v1/messages",
    "/v1//messages",
    "/v1/messages/?beta=true",
    "/v1/messages/count_tokens/",
    "/v1//messages/count_tokens?beta=true",
  ])("%s is found", async (path) => {
    const answer = await send(path, { "x-api-key": mixed.gateway.key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("request-id")).toMatch(/^req_/);
    expect((await send(path, {})).status).toBe(401);
  });

  test.each(["/", "/v1", "/v1/"])("HEAD %s says that somebody is at home", async (path) => {
    const answer = await send(path, {}, null, "HEAD");
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });

  it("HEAD and OPTIONS of the endpoint do no harm", async () => {
    const head = await send("/v1/messages", {}, null, "HEAD");
    expect([head.status, head.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await send("/v1/messages", {}, null, "OPTIONS")).status).toBe(204);
  });
});

describe("count_tokens", () => {
  const count = async (body: object): Promise<number> => {
    const answer = await mixed.gateway.post("/v1/messages/count_tokens?beta=true", body);
    expect(answer.status).toBe(200);
    const counted = (await answer.json()) as { input_tokens: number };
    expect(Object.keys(counted)).toEqual(["input_tokens"]);
    return counted.input_tokens;
  };
  const say = (content: unknown, more: object = {}): object => ({
    model: "m",
    messages: [{ role: "user", content }],
    ...more,
  });

  it("grows with everything that is sent", async () => {
    const short = await count(say("Hello there"));
    expect(short).toBeGreaterThan(0);
    expect(short).toBeLessThan(30);
    const long = await count(say("word ".repeat(1000)));
    expect(long).toBeGreaterThan(800);
    expect(long).toBeLessThan(2000);
    const tools = [{ name: "t", description: "describe ".repeat(500), input_schema: { type: "object" } }];
    expect(await count(say("Hello there", { tools }))).toBeGreaterThan(short + 300);
    expect(await count(say("Hello there", { system: [{ type: "text", text: "be ".repeat(500) }] }))).toBeGreaterThan(
      short + 300,
    );
    const result = [{ type: "tool_result", tool_use_id: "t", content: "line ".repeat(500) }];
    expect(await count(say(result))).toBeGreaterThan(short + 300);
  });

  it("answers two dozen at once, free of charge and without a provider", async () => {
    const before = await (await mixed.gateway.api("GET", "/api/credits")).json();
    const counts = await Promise.all(Array.from({ length: 24 }, (_, index) => count(say("word ".repeat(index + 1)))));
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(await (await mixed.gateway.api("GET", "/api/credits")).json()).toEqual(before);
    expect([...mixed.openai.requests, ...mixed.anthropic.requests]).toEqual([]);
  });

  it("is free for an empty wallet too, but not without a key or messages", async () => {
    const poor = await startMixed({ creditsUsd: null });
    expect((await poor.gateway.post("/v1/messages/count_tokens", say("hi"))).status).toBe(200);
    await poor.close();
    await expectMessagesError(await send("/v1/messages/count_tokens", {}), 401);
    await expectMessagesError(await mixed.gateway.post("/v1/messages/count_tokens", { model: "m" }), 422);
  });
});

describe("/v1/models", () => {
  interface List {
    readonly data: readonly { readonly id: string }[];
    readonly has_more: boolean;
    readonly first_id: string | null;
    readonly last_id: string | null;
  }
  const list = async (query = ""): Promise<List> =>
    (await (await mixed.gateway.get(`/v1/models${query}`, VERSION)).json()) as List;

  it("has Anthropic's shape for its clients, and the usual one for others", async () => {
    const { data, ...page } = await list();
    expect(page).toEqual({ has_more: false, first_id: "claude-auto", last_id: "claude" });
    expect(data.map(({ id }) => id)).toEqual(["claude-auto", "alpha", "claude"]);
    expect(data[2]).toMatchObject({
      type: "model",
      id: "claude",
      display_name: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      max_input_tokens: 200_000,
      max_tokens: 64_000,
    });
    expect(await (await mixed.gateway.get("/v1/models/claude", VERSION)).json()).toEqual(data[2]);
    expect(await (await mixed.gateway.get("/v1/models")).json()).toMatchObject({ object: "list" });
  });

  it("is given page by page", async () => {
    const first = await list("?limit=2");
    expect(first).toMatchObject({ has_more: true, last_id: "alpha", data: [{}, { id: "alpha" }] });
    expect(await list(`?limit=1&after_id=${first.last_id}`)).toMatchObject({
      has_more: false,
      data: [{ id: "claude" }],
    });
    expect(await list("?limit=1&before_id=claude")).toMatchObject({ has_more: true, data: [{ id: "alpha" }] });
    expect((await list("?limit=1000")).data).toHaveLength(3);
    expect(await list("?after_id=claude")).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it("refuses what cannot be in Anthropic's shape", async () => {
    for (const limit of ["0", "1001", "x"]) {
      await expectMessagesError(await mixed.gateway.get(`/v1/models?limit=${limit}`, VERSION), 400);
    }
    await expectMessagesError(await mixed.gateway.get("/v1/models/nope", VERSION), 404, "model_not_found");
    await expectMessagesError(await mixed.gateway.get("/v1/models", { ...VERSION, authorization: "Bearer x" }), 401);
  });
});
