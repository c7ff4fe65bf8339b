// An answered request: the standard body with the `service` object, whole and as a stream. Behaviour 6.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answers,
  chunk,
  event,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { type Json, readStream } from "../../support/providers/streams.ts";

let provider: FakeProvider;
let gateway: TestGateway;
let debugged: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
  debugged = await startGateway({ yaml: labYaml(provider.url), env: { DEBUG_ROUTING: "1" } });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await debugged.stop();
  await provider.close();
});

const chat = (extra: object = {}): Promise<Response> => gateway.post("/v1/chat/completions", { ...HELLO, ...extra });

describe("a whole answer", () => {
  it("is the provider's with the model's id and the service object", async () => {
    const answer = await chat();
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await answer.json()).toEqual({
      id: "chatcmpl-fake",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "alpha",
      choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      usage: USAGE,
      service: {
        model: "alpha",
        tier: expect.stringMatching(/^(NANO|SIMPLE)$/),
        profile: "auto",
        confidence: expect.any(Number),
        savingsPct: expect.any(Number),
        method: expect.stringMatching(/^(rules|model|hybrid)$/),
        fallback: false,
        session: "started",
        costUsd: expect.stringMatching(/^0\.0000\d+$/),
      },
    });
  });

  it("counts the saving from what was really used", async () => {
    const { service } = (await (await chat()).json()) as { service: { savingsPct: number } };
    // alpha costs 1 and 3 USD per million, the baseline beta 2 and 6; 5 % markup on alpha: 1 - 1.05 / 2.
    expect(service.savingsPct).toBeCloseTo(47.5, 1);
  });

  it("keeps what it does not know byte for byte", async () => {
    const raw = `{ "id" : "x", "system_fingerprint":"fp_\\u00e9", "choices":[{"index":0,"message":{"role":"assistant","content":"1.0","annotations":[],"n":1e3},"logprobs":null,"finish_reason":"stop"}],\n "big": 12345678901234567890, "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"cost":1.10} }`;
    provider.on("*", sends(200, raw));
    const text = await (await chat()).text();
    for (const piece of [
      '"system_fingerprint":"fp_\\u00e9"',
      '"big": 12345678901234567890',
      '"annotations":[],"n":1e3},"logprobs":null',
      '"cost":1.10}',
    ]) {
      expect(text).toContain(piece);
    }
    expect(JSON.parse(text)).toMatchObject({ object: "chat.completion", created: expect.any(Number), model: "alpha" });
  });

  it("has usage even where the provider reports none", async () => {
    provider.on("*", answers("one two three four", { usage: null }));
    const { usage } = (await (await chat()).json()) as { usage: Record<string, number> };
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(usage.total_tokens).toBe((usage.prompt_tokens as number) + (usage.completion_tokens as number));
  });

  it("shows a fallback", async () => {
    provider.on("alpha", fails(404));
    const answer = (await (await chat()).json()) as Json;
    expect(answer).toMatchObject({ model: "beta", service: { model: "alpha", fallback: true } });
  });

  it.each([
    ["auto", { service_profile: "auto", model: "beta" }, { model: "alpha", service: { profile: "auto" } }],
    ["no profile", { model: "no-such-model" }, { model: "alpha", service: { profile: "auto" } }],
    ["no model", { model: undefined }, { model: "alpha", service: { profile: "auto" } }],
    [
      "tier",
      { service_profile: "tier", service_tier: "COMPLEX", service_tier_ceiling: "NANO" },
      { service: { tier: "COMPLEX", profile: "tier", confidence: 1, method: "tier" } },
    ],
    [
      "direct",
      { service_profile: "direct", model: "beta" },
      { model: "beta", service: { model: "beta", profile: "direct", confidence: 1, method: "direct" } },
    ],
  ])("routes by the profile %s", async (_name, extra, expected) => {
    const answer = await chat(extra);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject(expected);
  });
});

describe("a stream", () => {
  it("has the service object on the first and the last chunk and ends with [DONE]", async () => {
    provider.on("*", answers("one two three"));
    const answer = await chat({ stream: true });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const { chunks, isDone } = await readStream(answer);
    expect(isDone).toBe(true);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(text).toBe("one two three");
    expect(chunks.map((one) => "service" in one)).toEqual([true, ...chunks.slice(2).map(() => false), true]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: "stop" }],
      service: { savingsPct: 47.5, fallback: false },
    });
    for (const one of chunks) {
      expect(one).toMatchObject({ id: "chatcmpl-fake", object: "chat.completion.chunk", model: "alpha" });
      expect(one).not.toHaveProperty("usage");
    }
  });

  it("carries usage only when asked, and asks the provider always", async () => {
    const plain = await readStream(await chat({ stream: true }));
    const asked = await readStream(await chat({ stream: true, stream_options: { include_usage: true } }));
    expect(plain.chunks.some(({ usage }) => usage)).toBe(false);
    expect(asked.chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE, service: { savingsPct: 47.5 } });
    expect(asked.chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(provider.requests.map(({ body }) => body.stream_options)).toEqual([
      { include_usage: true },
      { include_usage: true },
    ]);
  });

  it("passes what it does not know", async () => {
    const chunks = [
      { ...chunk("alpha", { role: "assistant", content: "a", reasoning_content: "hm" }), system_fingerprint: "fp" },
      chunk("alpha", { annotations: [{ x: 1 }] }),
      chunk("alpha", {}, "stop"),
    ];
    provider.on("*", streams(chunks));
    const read = await readStream(await chat({ stream: true }));
    expect(read.chunks[0]).toMatchObject({
      system_fingerprint: "fp",
      choices: [{ delta: { reasoning_content: "hm" } }],
    });
    expect(read.chunks[1]).toMatchObject({ choices: [{ delta: { annotations: [{ x: 1 }] } }] });
  });

  it("has tool calls with their index, id and type", async () => {
    const call = (delta: object) => chunk("alpha", { tool_calls: [delta] });
    provider.on(
      "*",
      streams([
        call({ id: "call_a", function: { name: "f", arguments: "" } }),
        call({ function: { arguments: '{"a"' } }),
        call({ function: { arguments: ":1}" } }),
        chunk("alpha", {}, "stop"),
      ]),
    );
    const { chunks } = await readStream(await chat({ stream: true }));
    expect(chunks[0]).toMatchObject({
      choices: [{ delta: { role: "assistant", tool_calls: [{ index: 0, id: "call_a", type: "function" }] } }],
    });
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  });

  it("that breaks ends with an error and without [DONE]", async () => {
    provider.on("*", streams([chunk("alpha", { content: "half" })], { ending: "cut" }));
    const { chunks, isDone, error } = await readStream(await chat({ stream: true }));
    expect(chunks).toHaveLength(1);
    expect(isDone).toBe(false);
    expect(error).toMatchObject({ type: "provider_error", code: "stream_interrupted", request_id: expect.any(String) });
  });

  it("skips comments and takes any line ends", async () => {
    const text = event(chunk("alpha", { content: "hi" })) + event(chunk("alpha", {}, "stop"));
    provider.on("*", streams([`: ping\r\n\r\n${text.replaceAll("\n", "\r\n")}`]));
    const { chunks, isDone } = await readStream(await chat({ stream: true }));
    expect([chunks.length, isDone]).toEqual([2, true]);
  });
});

describe("DEBUG_ROUTING", () => {
  const names = ["model", "tier", "confidence", "profile", "savings", "fallback"].map((name) => `x-service-${name}`);

  it.each([false, true])("sends the routing headers (stream: %s)", async (stream) => {
    provider.on("alpha", fails(404));
    const answer = await debugged.post("/v1/chat/completions", { ...HELLO, stream });
    await answer.text();
    const headers = Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]));
    expect(headers).toEqual({
      "x-service-model": "alpha",
      "x-service-tier": expect.stringMatching(/^(NANO|SIMPLE)$/),
      "x-service-confidence": expect.stringMatching(/^(0(\.\d+)?|1)$/),
      "x-service-profile": "auto",
      "x-service-savings": expect.stringMatching(/^\d+(\.\d+)?%$/),
      "x-service-fallback": "true",
    });
  });

  it("is off by default", async () => {
    const answer = await chat();
    await answer.text();
    expect(names.filter((name) => answer.headers.has(name))).toEqual([]);
  });
});
