// A stream may fall back until its first content or tool-call delta, and never after. Behaviour 6.4, 6.5.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import {
  type Behaviour,
  chunk,
  cuts,
  event,
  fails,
  type StreamScript,
  sends,
  streams,
} from "../../support/providers/fake-provider.ts";
import { type Lab, openLab, readStream } from "../lab.ts";

const role = chunk("alpha", { role: "assistant", content: "" });
const hello = chunk("alpha", { content: "Hello" });
const finish = chunk("alpha", {}, "stop");
const serverError = event({ error: { message: "inner trouble", type: "server_error" } });
const eventError = `event: error\n${event({ message: "inner trouble" })}`;
const objectError = event({ object: "error", message: "inner trouble" });
const malformed = 'data: {"choices":[{"index":0,\n\n';
const overLong = `data: {"choices":[{"delta":{"content":"${"x".repeat((16 << 20) + 10)}"}}]}\n\n`;
const failedFinish = chunk("alpha", {}, "error");

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({
    models: { alpha: 128_000, beta: 128_000, hasty: 128_000 },
    tiers: Object.fromEntries(TIERS.map((tier) => [tier, ["alpha", "beta"]])),
    timeoutsOf: { hasty: { idleMs: 1_500 } },
  });
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

/** Resolves when the gateway has read a response of this server to its end, so that its connection is free again. */
function nextEnd(url: string): Promise<void> {
  const { origin } = new URL(url);
  return new Promise((resolve) => {
    const onEnd = (message: unknown): void => {
      if ((message as { request: { origin: string } }).request.origin !== origin) return;
      unsubscribe("undici:request:trailers", onEnd);
      resolve();
    };
    subscribe("undici:request:trailers", onEnd);
  });
}

function script(chunks: readonly (object | string)[], ending: StreamScript["ending"] = "hang"): Behaviour {
  return streams(chunks, { ending });
}

describe("before the first content the next model takes over", () => {
  const cases: readonly (readonly [string, Behaviour, RegExp])[] = [
    ["500", fails(500), /status 500/],
    ["401", fails(401), /status 401/],
    ["a cut before headers", cuts, /closed|hang up|reset/i],
    ["an error body with 200", sends(200, { error: { message: "inner trouble" } }), /inner trouble/],
    ["HTML with 200", sends(200, "<html></html>", { "content-type": "text/html" }), /ended without an answer/],
    ["an empty body", sends(200, ""), /ended without an answer/],
    ["[DONE] alone", script([], "done"), /ended without an answer/],
    ["the role, then an error event", script([role, serverError]), /inner trouble/],
    ["the role, then event: error", script([role, eventError]), /inner trouble/],
    ["the role, then an error object", script([role, objectError]), /inner trouble/],
    ["the role, then finish_reason error", script([role, failedFinish]), /with an error/],
    ["the role, then a cut", script([role], "cut"), /closed|terminated|aborted/i],
    ["the role, then a clean end", script([role], "end"), /ended without an answer/],
    ["the role, then [DONE]", script([role], "done"), /ended without an answer/],
    ["the role, then malformed JSON", script([role, malformed]), /JSON/],
    ["the role, then an endless line", script([role, overLong]), /longer than/],
    ["a finish without content or tokens", script([role, finish], "done"), /empty/],
  ];

  // Silence is waited for in test/fault/providers/timeouts.test.ts.
  test.each(cases)("%s", async (_name, behaviour, reason) => {
    const { provider, ask, line: lineOf } = lab;
    provider.on("alpha", behaviour);
    const response = await ask({ stream: true });
    expect(response.status).toBe(200);
    const { text, isDone, error, events } = await readStream(response);
    expect({ text, isDone, error }).toEqual({ text: "ok", isDone: true, error: null });
    expect(events.every(({ model }) => model === "beta")).toBe(true);
    expect(events[0]!.service).toMatchObject({ model: "alpha", fallback: true });
    expect(events.at(-1)!.service).toMatchObject({ model: "alpha", fallback: true });
    const line = await lineOf(response.headers.get("x-request-id")!);
    expect(line).toMatchObject({ ending: "complete", model: "beta", isFallback: true });
    expect(line.attempts[0]!.reason).toMatch(reason);
  });

  test("503 as JSON, not as a stream, when no model begins", async () => {
    lab.provider.on("*", script([role, serverError]));
    const response = await lab.ask({ stream: true });
    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toContain("application/json");
    const text = await response.text();
    expect(JSON.parse(text).error).toMatchObject({ type: "provider_error", code: "all_providers_failed" });
    expect(text).not.toContain("inner");
  });
});

test("a finish without content is an answer when output tokens were used", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 40, total_tokens: 43 };
  lab.provider.on("alpha", streams([role, chunk("alpha", {}, "length")], { usage }));
  const { events, isDone } = await readStream(await lab.ask({ stream: true }));
  expect(isDone).toBe(true);
  expect(events.at(-1)!.choices![0]!.finish_reason).toBe("length");
  expect(lab.provider.callsTo("beta")).toBe(0);
});

describe("after the first content the stream is the provider's: an error event, no [DONE], no fallback", () => {
  const breaks: readonly (readonly [string, readonly (object | string)[], StreamScript["ending"]])[] = [
    ["an error event", [serverError], "done"],
    ["event: error", [eventError], "done"],
    ["finish_reason error", [failedFinish], "done"],
    ["a cut", [], "cut"],
    ["a clean end without finish", [], "end"],
    ["[DONE] without finish", [], "done"],
    ["malformed JSON", [malformed], "done"],
    ["malformed JSON after the finish", [finish, malformed], "done"],
  ];

  // A line over 16 MiB is in stream-stress.test.ts, silence in matrix-streams.test.ts.
  test.each(breaks)("%s", async (_name, rest, ending) => {
    const { provider, ask, line: lineOf } = lab;
    provider.on("alpha", script([role, hello, ...rest], ending));
    const response = await ask({ stream: true });
    const { text, isDone, error, events } = await readStream(response);
    expect(response.status).toBe(200);
    expect(text).toBe("Hello");
    expect(isDone).toBe(false);
    expect(events.at(-1)!.error).toBe(error);
    expect(error).toMatchObject({ type: "provider_error", code: "stream_interrupted" });
    expect(error!.message).not.toContain("inner");
    expect(events.flatMap(({ choices }) => choices ?? []).every((choice) => choice.finish_reason === null)).toBe(true);
    expect(provider.callsTo("beta")).toBe(0);
    const line = await lineOf(response.headers.get("x-request-id")!);
    expect(line).toMatchObject({ status: 200, ending: "provider-broke", model: "alpha" });
  });

  test("a tool-call delta counts as content", async () => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "" } };
    lab.provider.on("alpha", script([role, chunk("alpha", { tool_calls: [call] })], "cut"));
    const { error, isDone } = await readStream(await lab.ask({ stream: true }));
    expect(error?.code).toBe("stream_interrupted");
    expect(isDone).toBe(false);
    expect(lab.provider.callsTo("beta")).toBe(0);
  });
});

test.each(["end", "cut", "hang"] as const)("a finish without [DONE] is complete (%s)", async (ending) => {
  const model = ending === "hang" ? "hasty" : "alpha";
  lab.provider.on(model, script([role, hello, finish], ending));
  const direct = { stream: true, model, service_profile: "direct" };
  const { text, isDone, error } = await readStream(await lab.ask(direct));
  expect({ text, isDone, error }).toEqual({ text: "Hello", isDone: true, error: null });
});

test("nothing reaches the client before the first content", async () => {
  let sendContent = (): void => undefined;
  const mayGoOn = new Promise<void>((resolve) => {
    sendContent = resolve;
  });
  lab.provider.on("alpha", streams([role, hello, finish], { before: (index) => (index === 1 ? mayGoOn : undefined) }));
  const received = lab.provider.nextRequest();
  let hasHeaders = false;
  const response = lab.ask({ stream: true }).then((answer) => {
    hasHeaders = true;
    return answer;
  });
  await received;
  await lab.gateway.get("/healthz");
  expect(hasHeaders).toBe(false);
  sendContent();
  expect((await readStream(await response)).text).toBe("Hello");
});

test("the connection of a finished stream is used again, even when its end comes a little after [DONE]", async () => {
  const sockets = new Set<unknown>();
  lab.provider.on("alpha", ({ response, socket }) => {
    sockets.add(socket);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`${event(hello)}${event(finish)}data: [DONE]\n\n`);
    setTimeout(() => response.end(": bye\n\n"), 30);
  });
  for (let round = 0; round < 3; round += 1) {
    const received = lab.provider.nextRequest();
    const ended = nextEnd(lab.provider.url);
    expect((await readStream(await lab.ask({ stream: true }))).isDone).toBe(true);
    expect(await (await received).closed).toEqual({ wasCut: false });
    // The provider has ended a moment before the gateway knows.
    await ended;
  }
  expect(sockets.size).toBe(1);
});

test("a provider that goes on after [DONE] is cut off, and what it says is ignored", async () => {
  lab.provider.on("alpha", ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`${event(hello)}${event(finish)}data: [DONE]\n\n${event(hello)}${serverError}`);
    const timer = setInterval(() => response.write(event(hello)), 20);
    response.once("close", () => clearInterval(timer));
  });
  const received = lab.provider.nextRequest();
  const { text, isDone, error } = await readStream(await lab.ask({ stream: true }));
  expect({ text, isDone, error }).toEqual({ text: "Hello", isDone: true, error: null });
  expect(await (await received).closed).toEqual({ wasCut: true });
});

test("a model whose streams keep breaking rests, and one good stream wakes it", async () => {
  const selected = async (): Promise<string> => {
    const { events } = await readStream(await lab.ask({ stream: true }));
    return events[0]!.service!.model;
  };
  lab.provider.on("alpha", script([role, hello], "cut"));
  for (let round = 0; round < 5; round += 1) expect(await selected()).toBe("alpha");
  expect(await selected()).toBe("beta");
  lab.provider.on("alpha", script([role, hello, finish], "done"));
  await readStream(await lab.ask({ stream: true, model: "alpha", service_profile: "direct" }));
  expect(await selected()).toBe("alpha");
});
