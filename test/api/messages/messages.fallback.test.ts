// A Messages client when providers fail: fallback between the two kinds in both directions, streams that break, clients that leave.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  eventsOf,
  failsNatively,
  says,
  saysBlocks,
  streamsEvents,
  text,
} from "../../support/providers/fake-anthropic.ts";
import {
  answers,
  type Behaviour,
  chunk,
  cuts,
  cutsBody,
  fails,
  hangs,
  streams,
} from "../../support/providers/fake-provider.ts";
import { ASK, readEvents, textIn, typesOf } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { readStream } from "../../support/providers/streams.ts";
import { promisedMs } from "../../support/random.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const FIRST = {
  alpha: { service_profile: "tier", service_tier: "LIGHT" },
  claude: { service_profile: "tier", service_tier: "STANDARD" },
};
const ask = (body: object): Promise<Response> => mixed.gateway.post("/v1/messages", { ...ASK, ...body });
const chat = (body: object): Promise<Response> => mixed.gateway.post("/v1/chat/completions", { ...ASK, ...body });

const beginning = eventsOf([text("Hello there")], "claude-real-1").slice(0, 2);
const OVERLOADED =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

describe("from a native provider to one of chat-completions", () => {
  const failures: readonly (readonly [string, Behaviour])[] = [
    ["500", failsNatively(500)],
    ["529", failsNatively(529)],
    ["429", failsNatively(429, "slow down", { "retry-after": "30" })],
    ["401, our key", failsNatively(401)],
    ["404, their model", failsNatively(404)],
    ["a cut", cuts],
    ["a cut body", cutsBody],
    [
      "a body that is an error",
      ({ response }) => void response.end('{"type":"error","error":{"type":"api_error","message":"x"}}'),
    ],
    ["an empty message", saysBlocks([], { usage: { input_tokens: 1, output_tokens: 0 } })],
  ];
  it.each(failures)("after %s", async (_name, behaviour) => {
    mixed.anthropic.on("*", behaviour);
    mixed.openai.on("*", answers("from alpha"));
    const whole = await ask(FIRST.claude);
    expect(await whole.json()).toMatchObject({
      model: "alpha",
      content: [{ type: "text", text: "from alpha" }],
      service: { model: "claude", fallback: true },
    });
    const events = await readEvents(await ask({ ...FIRST.claude, stream: true }));
    expect(events[0]).toMatchObject({ message: { model: "alpha" } });
    expect(textIn(events)).toBe("from alpha");
    expect(typesOf(events).at(-1)).toBe("message_stop");
  });

  it.each<readonly [string, Behaviour]>([
    ["an error event", streamsEvents([...beginning, OVERLOADED])],
    ["the end of the body", streamsEvents(beginning)],
    ["a cut", streamsEvents(beginning, { ending: "cut" })],
  ])("when a stream has %s before its first content", async (_name, behaviour) => {
    mixed.anthropic.on("*", behaviour);
    const events = await readEvents(await ask({ ...FIRST.claude, stream: true }));
    expect(textIn(events)).toBe("ok");
    expect(typesOf(events).filter((type) => type === "message_start")).toHaveLength(1);
    expect(events[0]).toMatchObject({ message: { model: "alpha", service: { model: "claude", fallback: true } } });
  });
});

describe("from chat-completions to a native provider", () => {
  it("gives the client's own request, untouched by the first try", async () => {
    mixed.openai.on("*", fails(503));
    mixed.anthropic.on("*", says("from claude"));
    for (const stream of [false, true]) {
      const body = { ...FIRST.alpha, stream, thinking: { type: "enabled", budget_tokens: 2000 }, max_tokens: 9000 };
      const raw = await (await ask(body)).text();
      expect(raw).toMatch(/from/);
      expect(mixed.anthropic.requests.at(-1)?.body).toMatchObject({ thinking: body.thinking, max_tokens: 9000 });
    }
  });

  it("goes on with the next model when only a native one can take the request", async () => {
    const content = [
      { type: "document", source: { type: "url", url: "https://x/y.pdf" } },
      { type: "text", text: "Sum up" },
    ];
    const answer = await ask({ ...FIRST.alpha, messages: [{ role: "user", content }] });
    expect(await answer.json()).toMatchObject({ model: "claude", service: { model: "claude", fallback: false } });
    expect(mixed.openai.requests).toEqual([]);
  });
});

describe("a chat-completions client", () => {
  it("falls back onto a native provider and from one", async () => {
    mixed.openai.on("*", fails(500));
    mixed.anthropic.on("*", says("from claude"));
    expect(await (await chat(FIRST.alpha)).json()).toMatchObject({
      model: "claude",
      choices: [{ message: { content: "from claude" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
      service: { fallback: true },
    });
    const { chunks, isDone } = await readStream(await chat({ ...FIRST.alpha, stream: true }));
    expect(isDone).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("from claude");
    await mixed.reset();
    mixed.anthropic.on("*", failsNatively(529));
    expect(await (await chat(FIRST.claude)).json()).toMatchObject({ model: "alpha", service: { fallback: true } });
  });

  it("gets an error event when a native stream breaks, and no [DONE]", async () => {
    mixed.anthropic.on(
      "*",
      streamsEvents([...eventsOf([text("Hello there")], "claude-real-1").slice(0, 4), OVERLOADED]),
    );
    const { isDone, error } = await readStream(await chat({ ...FIRST.claude, stream: true }));
    expect(isDone).toBe(false);
    expect(error).toMatchObject({ code: "stream_interrupted" });
  });
});

describe("a stream that breaks in its middle", () => {
  const half = eventsOf([text("Hello there")], "claude-real-1").slice(0, 4);
  it.each<readonly [string, "claude" | "alpha", Behaviour]>([
    ["a native error event", "claude", streamsEvents([...half, OVERLOADED])],
    ["a native cut", "claude", streamsEvents(half, { ending: "cut" })],
    ["a native end", "claude", streamsEvents(half)],
    ["a cut", "alpha", streams([chunk("a", { content: "Hello" })], { ending: "cut" })],
    ["an error", "alpha", streams([chunk("a", { content: "Hello" }), { error: { message: "boom" } }])],
  ])("ends with an error event and no message_stop: %s", async (_name, first, behaviour) => {
    mixed[first === "claude" ? "anthropic" : "openai"].on("*", behaviour);
    const answer = await ask({ ...FIRST[first], stream: true });
    const events = await readEvents(answer);
    expect(textIn(events)).toBe("Hello");
    expect(events.at(-1)).toEqual({
      type: "error",
      error: { type: "api_error", message: expect.any(String), details: { error_code: "stream_interrupted" } },
      request_id: answer.headers.get("request-id"),
    });
    expect(typesOf(events)).not.toContain("message_stop");
    expect(typesOf(events)).not.toContain("message_delta");
    const others = first === "claude" ? mixed.openai : mixed.anthropic;
    expect(others.requests).toEqual([]);
  });
});

describe("a client that leaves", () => {
  const half = eventsOf([text("Hello there")], "claude-real-1").slice(0, 4);
  it.each<readonly [string, boolean, Behaviour]>([
    ["while waiting", false, hangs],
    ["while waiting for a stream", true, hangs],
    ["in the middle of a stream", true, streamsEvents(half, { ending: "hang" })],
  ])("cancels the native call at once: %s", async (_name, stream, behaviour) => {
    mixed.anthropic.on("*", behaviour);
    const received = mixed.anthropic.nextRequest();
    const controller = new AbortController();
    const response = fetch(`${mixed.gateway.url}/v1/messages`, {
      method: "POST",
      signal: controller.signal,
      headers: { "x-api-key": mixed.gateway.key, "content-type": "application/json" },
      body: JSON.stringify({ ...ASK, ...FIRST.claude, stream }),
    }).catch(() => null);
    const { closed } = await received;
    if (behaviour !== hangs) await (await response)?.body?.getReader().read();
    const leftAtMs = performance.now();
    controller.abort();
    expect(await closed).toEqual({ wasCut: true });
    expect(performance.now() - leftAtMs).toBeLessThan(promisedMs(1_000));
    await response;
    expect(mixed.openai.requests).toEqual([]);
    await expect
      .poll(async () => (await mixed.gateway.api("GET", "/api/credits")).json())
      .toMatchObject({ heldUsd: "0" });
  });
});
