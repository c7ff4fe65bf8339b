// Every status of /v1/messages in Anthropic's error shape, with both request ids. Behaviour 4.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { failsNatively } from "../../support/providers/fake-anthropic.ts";
import { fails, hangs, sends } from "../../support/providers/fake-provider.ts";
import { ASK, expectMessagesError, VERSION } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({ lines: ["server: { bodyLimitBytes: 1000000 }"] });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const PATH = "/v1/messages";
const ask = (body: object | string = {}, headers = {}): Promise<Response> =>
  mixed.gateway.post(PATH, typeof body === "string" ? body : { ...ASK, ...body }, headers);

describe("400", () => {
  test.each<readonly [string, object | string]>([
    ["not JSON", "{"],
    ["not an object", "[]"],
    ["max_tokens is no number", { max_tokens: "many" }],
    ["max_tokens is negative", { max_tokens: -1 }],
    ["stream is no boolean", { stream: "yes" }],
    ["stop_sequences is a string", { stop_sequences: "END" }],
    ["tools is an object", { tools: {} }],
    ["a tool without a name", { tools: [{ input_schema: { type: "object" } }] }],
    ["thinking is a word", { thinking: "hard" }],
    ["system is a number", { system: 1 }],
    ["a system block that is no text", { system: [{ type: "image" }] }],
    ["an unknown routing profile", { service_profile: "magic" }],
    ["the profile tier without a tier", { service_profile: "tier", service_tier: "standard_only" }],
    ["the profile direct without a model", { service_profile: "direct" }],
  ])("%s", async (_name, body) => {
    await expectMessagesError(await ask(body), 400);
    expect([...mixed.openai.requests, ...mixed.anthropic.requests]).toEqual([]);
  });

  it("the provider's own word on the request, from either kind of provider", async () => {
    mixed.anthropic.on("*", failsNatively(400, "messages: text content blocks must be non-empty"));
    const native = await expectMessagesError(await ask({ model: "claude", service_profile: "direct" }), 400);
    expect(native.message).toBe("messages: text content blocks must be non-empty");
    mixed.openai.on("*", fails(400, { message: "bad image", code: "invalid_image" }));
    const converted = await expectMessagesError(await ask({ model: "alpha", service_profile: "direct" }), 400);
    expect(converted.message).toBe("bad image");
  });

  it("a conversation that is too long, in the words by which agents compact it", async () => {
    mixed.openai.on("*", fails(400, { message: "At most 8000 tokens.", code: "context_length_exceeded" }));
    const direct = { model: "alpha", service_profile: "direct" };
    const refused = await expectMessagesError(await ask(direct), 400, "context_length_exceeded");
    expect(refused.message).toBe("prompt is too long: At most 8000 tokens.");
    const messages = [{ role: "user", content: "\u4e00".repeat(320_000) }];
    const unrouted = await expectMessagesError(await ask({ messages }), 400, "context_length_exceeded");
    expect(unrouted.message).toMatch(/^prompt is too long: .*context window/);
  });

  it("what no model of this key can do", async () => {
    const content = [{ type: "image", source: { type: "file", file_id: "file_1" } }];
    const body = { model: "alpha", service_profile: "direct", messages: [{ role: "user", content }] };
    const { message } = await expectMessagesError(await ask(body), 400, "unconvertible");
    expect(message).toContain("file id");
  });
});

describe("401", () => {
  const MISSING = { authorization: "" };
  it("tells a missing key", async () => {
    await expectMessagesError(await ask({}, MISSING), 401, "missing_api_key");
  });

  it("has one body for every key that is not good", async () => {
    const bodies: object[] = [];
    for (const headers of [
      { authorization: "Bearer sk-service-unknown" },
      { authorization: "Basic abc" },
      { ...MISSING, "x-api-key": "sk-service-unknown" },
      { "x-api-key": "sk-service-other" },
      { authorization: "Bearer sk-service-unknown", "x-api-key": mixed.gateway.key },
    ]) {
      const answer = await ask({}, headers);
      bodies.push(await expectMessagesError(answer, 401, "invalid_api_key"));
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });
});

it("402 with nothing in the wallet", async () => {
  const poor = await startMixed({ creditsUsd: null });
  const answer = await poor.gateway.post(PATH, ASK);
  await expectMessagesError(answer, 402, "insufficient_credits");
  expect([...poor.openai.requests, ...poor.anthropic.requests]).toEqual([]);
  await poor.close();
});

describe("400 for a thread", () => {
  it.each(["alpha", "claude", "auto"])("on %s, before anything is held or sent", async (model) => {
    const thread = { type: "continue", previous_message_id: "msg_1" };
    const body = { model, ...(model === "auto" ? {} : { service_profile: "direct" }), thread };
    const answer = await ask(body, { "anthropic-beta": "message-threads-2026-08-12" });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    const { message } = await expectMessagesError(answer, 400, "thread_unsupported_request");
    expect(message).toContain("whole conversation");
    await expectMessagesError(await ask({ ...body, messages: [] }), 400, "thread_unsupported_request");
    const counted = await mixed.gateway.post(`${PATH}/count_tokens`, { ...ASK, ...body });
    await expectMessagesError(counted, 400, "thread_unsupported_request");
    expect([...mixed.openai.requests, ...mixed.anthropic.requests]).toEqual([]);
  });

  it("but not for null, which asks for none", async () => {
    const answer = await ask({ thread: null });
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

it("404 for a model that is not offered, and for a path that is not there", async () => {
  await expectMessagesError(await ask({ model: "claude-none", service_profile: "direct" }), 404, "model_not_found");
});

describe("elsewhere, asked by an Anthropic client", () => {
  it.each([
    ["/v1/files", "as base64"],
    ["/v1/files/file_1/content", "as base64"],
    ["/v1/skills?beta=true", "/openapi.json"],
    ["/v1/v1/messages", "base URL"],
    ["/messages", "base URL"],
    ["/v1/models/nobody", "nobody"],
  ])("%s is not found", async (path, hint) => {
    const { message } = await expectMessagesError(await mixed.gateway.get(path, VERSION), 404);
    expect(message).toContain(hint);
  });

  it("has the same shape for a wrong key, a wrong method and a bad body", async () => {
    const wrong = { ...VERSION, authorization: "Bearer sk-service-wrong" };
    await expectMessagesError(await mixed.gateway.get("/v1/models", wrong), 401);
    await expectMessagesError(await mixed.gateway.post("/v1/routing/debug", ASK, wrong), 401);
    await expectMessagesError(await mixed.gateway.post("/v1/routing/debug", "{", VERSION), 400);
    await expectMessagesError(await mixed.gateway.post("/v1/models", {}, VERSION), 405);
    const text = { ...VERSION, "content-type": "text/plain" };
    await expectMessagesError(await mixed.gateway.post("/v1/routing/debug", "{}", text), 415);
  });

  it("leaves chat-completions its own shape", async () => {
    const answer = await mixed.gateway.post("/v1/chat/completions", {}, VERSION);
    expect(answer.status).toBe(422);
    expect(Object.keys((await answer.json()) as object)).toEqual(["error"]);
  });
});

it("405 for another method", async () => {
  for (const path of [PATH, `${PATH}/count_tokens`]) {
    const answer = await mixed.gateway.get(path);
    expect(answer.headers.get("allow")).toBe("POST");
    await expectMessagesError(answer, 405);
  }
});

it("409 and 422 for an Idempotency-Key in flight and one used for another body", async () => {
  const headers = { "idempotency-key": "messages-1" };
  mixed.anthropic.once("claude-real-1", hangs);
  const received = mixed.anthropic.nextRequest();
  const controller = new AbortController();
  const first = fetch(`${mixed.gateway.url}${PATH}`, {
    method: "POST",
    signal: controller.signal,
    headers: { ...headers, authorization: `Bearer ${mixed.gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...ASK, model: "claude", service_profile: "direct" }),
  }).catch(() => null);
  const { closed } = await received;
  const body = { model: "claude", service_profile: "direct" };
  await expectMessagesError(await ask(body, headers), 409, "idempotency_key_in_flight");
  await expectMessagesError(await ask({ ...body, max_tokens: 5 }, headers), 422, "idempotency_key_reused");
  controller.abort();
  await first;
  await closed;
});

it("413 for a body over the limit", async () => {
  await expectMessagesError(await ask({ system: "x".repeat(1_100_000) }), 413);
});

it("415 for another content type, and for a compressed body", async () => {
  await expectMessagesError(await ask({}, { "content-type": "text/plain" }), 415);
  await expectMessagesError(await ask({}, { "content-encoding": "gzip" }), 415);
});

describe("422", () => {
  const user = (content: unknown): object => ({ messages: [{ role: "user", content }] });
  test.each<readonly [string, object]>([
    ["no messages", { messages: undefined }],
    ["null messages", { messages: null }],
    ["messages that are no list", { messages: "hi" }],
    ["empty messages", { messages: [] }],
    ["an unknown role", { messages: [{ role: "tool", content: "x" }] }],
    ["no content", { messages: [{ role: "user" }] }],
    ["content of another type", user(7)],
    ["a block without a type", user([{ text: "x" }])],
    ["a text block without text", user([{ type: "text" }])],
    ["an image without a source", user([{ type: "image" }])],
    ["a result without its call", user([{ type: "tool_result" }])],
  ])("%s", async (_name, body) => {
    await expectMessagesError(await ask(body), 422, "invalid_messages");
  });
});

test.each(["__proto__", "constructor"])("a block of the type %s is no fault", async (type) => {
  const body = { messages: [{ role: "user", content: [{ type }] }] };
  expect((await mixed.gateway.post(`${PATH}/count_tokens`, body)).status).toBe(200);
});

it("429 over the key's limit, with Retry-After", async () => {
  const made = await mixed.gateway.api("POST", "/api/keys", { name: "limited", requestsPerMinute: 1 });
  const { key } = (await made.json()) as { key: string };
  const headers = { authorization: "", "x-api-key": key };
  expect((await mixed.gateway.post(`${PATH}/count_tokens`, ASK, { authorization: `Bearer ${key}` })).status).toBe(200);
  const answer = await fetch(`${mixed.gateway.url}${PATH}`, {
    method: "POST",
    headers: { "x-api-key": headers["x-api-key"], "content-type": "application/json" },
    body: JSON.stringify(ASK),
  });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("1");
  await expectMessagesError(answer, 429, "rate_limit_exceeded");
});

describe("503", () => {
  it("is overloaded_error when the whole chain failed, and never the provider's own status", async () => {
    for (const status of [401, 402, 403, 404, 429, 500, 529]) {
      await mixed.reset();
      mixed.anthropic.on("*", failsNatively(status));
      mixed.openai.on("*", fails(status));
      const answer = await ask({});
      const isFinal = status < 429;
      expect(answer.headers.has("retry-after")).toBe(true);
      expect(answer.headers.get("x-should-retry")).toBe(isFinal ? "false" : null);
      const { message } = await expectMessagesError(answer, 503, "all_providers_failed");
      expect(message).not.toContain("scripted");
    }
  });

  it("comes for a stream that breaks before it began, and speaks of no chain where the request names its model", async () => {
    mixed.anthropic.on("*", sends(200, "not events"));
    const answer = await ask({ model: "claude", service_profile: "direct", stream: true });
    expect((await expectMessagesError(answer, 503)).message).toMatch(/^The requested model failed\. The last one /);
  });
});
