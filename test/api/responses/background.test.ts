// Responses that run in the background: polling, streams that are picked up again, cancelling, and their money.
// Behaviour 10.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { labYaml, startGateway } from "../../support/gateway/gateway.ts";
import { answers, fails, hangs, streams, textChunks, USAGE } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { responseEventsIn } from "../../support/providers/responses.ts";

let mixed: Mixed;
let client: OpenAI;
beforeAll(async () => {
  mixed = await startMixed();
  client = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: mixed.gateway.key, maxRetries: 0 });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const ALPHA = { model: "alpha", service_profile: "direct" } as Create;
const WAIT = { timeout: 120_000, interval: 50 };

/** A gate that a scripted provider waits at. */
function createGate(): { readonly opened: Promise<void>; open(): void } {
  const target = new EventTarget();
  return {
    opened: once(target, "open").then(() => undefined),
    open: () => void target.dispatchEvent(new Event("open")),
  };
}

const heldUsd = async (): Promise<unknown> =>
  ((await (await mixed.gateway.api("GET", "/api/credits")).json()) as { heldUsd: string }).heldUsd;

it("answers at once, runs without its client, and is polled to its end", async () => {
  const gate = createGate();
  mixed.openai.on("*", async (exchange) => {
    await gate.opened;
    return answers("Done at last.")(exchange);
  });
  const started = await client.responses.create({ ...ALPHA, input: "Long work", background: true });
  expect(started).toMatchObject({ status: "queued", background: true, output: [], store: true });
  expect(await client.responses.retrieve(started.id)).toMatchObject({ status: "in_progress" });
  await expect(
    client.responses.create({ ...ALPHA, input: "More", previous_response_id: started.id }),
  ).rejects.toMatchObject({ status: 400, code: "previous_response_not_completed" });
  gate.open();
  const done = await vi.waitFor(async () => {
    const response = await client.responses.retrieve(started.id);
    expect(response.status).toBe("completed");
    return response;
  }, WAIT);
  expect(done).toMatchObject({ id: started.id, output_text: "Done at last.", background: true });
  expect(await heldUsd()).toBe("0");
  await client.responses.create({ ...ALPHA, input: "And?", previous_response_id: started.id });
  expect(JSON.stringify(mixed.openai.requests.at(-1)?.body.messages)).toContain("Done at last.");
});

it("streams, survives its client, and is picked up after a known event", async () => {
  const gate = createGate();
  const chunks = textChunks("one two three", "alpha-1");
  const before = (index: number) => (index === 2 ? gate.opened : undefined);
  mixed.openai.on("*", streams(chunks, { usage: USAGE, before }));
  const body = { ...ALPHA, input: "Count", background: true, stream: true };
  const abort = new AbortController();
  const response = await fetch(`${mixed.gateway.url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${mixed.gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: abort.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let seen = "";
  while (!seen.includes("output_text.delta")) seen += new TextDecoder().decode((await reader.read()).value);
  abort.abort();
  const id = /"id":"(resp_\w+)"/.exec(seen)?.[1] as string;
  const live = client.responses.retrieve(id, { stream: true, starting_after: 1 });
  const events = (async () => {
    const all: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await live) all.push(event);
    return all;
  })();
  gate.open();
  const followed = await events;
  expect(followed[0]?.sequence_number).toBe(2);
  expect(followed.at(-1)).toMatchObject({ type: "response.completed", response: { id } });
  await vi.waitFor(async () => expect((await client.responses.retrieve(id)).status).toBe("completed"), WAIT);
  const stored = responseEventsIn(await (await mixed.gateway.get(`/v1/responses/${id}?stream=true`)).text());
  expect(stored.slice(2)).toEqual(followed);
});

it("is cancelled: the provider is let go, the status stays, and what was sent is charged", async () => {
  mixed.openai.on("*", hangs);
  const asked = mixed.openai.nextRequest();
  const { id } = await client.responses.create({ ...ALPHA, input: "Never ends", background: true });
  const { closed } = await asked;
  expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" });
  expect((await closed).wasCut).toBe(true);
  expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
  await vi.waitFor(async () => expect(await heldUsd()).toBe("0"), WAIT);
  expect(await client.responses.retrieve(id)).toMatchObject({ status: "cancelled" });
});

it("ends a cancelled stream with an event of its own, which is stored with what was sent", async () => {
  const chunks = textChunks("one two three", "alpha-1");
  mixed.openai.on(
    "*",
    streams(chunks, { before: (index) => (index === 2 ? new Promise(() => undefined) : undefined) }),
  );
  const response = await mixed.gateway.post("/v1/responses", {
    ...ALPHA,
    input: "Count",
    background: true,
    stream: true,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let seen = "";
  const readOn = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    seen += decoder.decode(value, { stream: true });
    return !done;
  };
  while (!seen.includes("output_text.delta")) await readOn();
  const id = /"id":"(resp_\w+)"/.exec(seen)?.[1] as string;
  await client.responses.cancel(id);
  while (await readOn());
  const events = responseEventsIn(seen);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { id, status: "cancelled", error: null } });
  expect(events.filter(({ type }) => type === "error")).toEqual([]);
  const stored = await mixed.gateway.get(`/v1/responses/${id}?stream=true`);
  expect(await stored.text()).toBe(seen);
});

it("ends a stream that failed before its first word with the error", async () => {
  mixed.openai.on("*", fails(500));
  const response = await mixed.gateway.post("/v1/responses", {
    ...ALPHA,
    input: "Fails",
    background: true,
    stream: true,
  });
  const events = responseEventsIn(await response.text());
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "error",
    "response.failed",
  ]);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3]);
  expect(events[2]).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  expect(events[3]).toMatchObject({ response: { status: "failed", error: { code: expect.any(String) } } });
});

it("keeps its reservation, and its part of a key's spend limit, until it is over", async () => {
  const gate = createGate();
  mixed.openai.on("*", async (exchange) => {
    await gate.opened;
    return answers("Done.")(exchange);
  });
  // One answer of this length fits into the limit, two do not.
  const body = { ...ALPHA, input: "Long work", max_output_tokens: 10_000 };
  const made = await mixed.gateway.api("POST", "/api/keys", { name: "limited", spendLimitUsd: "0.05" });
  const { key } = (await made.json()) as { key: string };
  const limited = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const { id } = await limited.responses.create({ ...body, background: true });
  expect(Number(await heldUsd())).toBeGreaterThan(0.02);
  await expect(limited.responses.create(body)).rejects.toMatchObject({ status: 402 });
  expect(Number(await heldUsd())).toBeGreaterThan(0.02);
  gate.open();
  await vi.waitFor(async () => expect((await limited.responses.retrieve(id)).status).toBe("completed"), WAIT);
  await vi.waitFor(async () => expect(await heldUsd()).toBe("0"), WAIT);
  expect((await limited.responses.create(body)).output_text).toBe("Done.");
});

it("has failed and costs nothing when the process stops before it is done", async () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-background-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = { database: `sqlite:${join(folder, "test.db")}`, yaml: labYaml(mixed.openai.url, ["alpha"]) };
  const env = { SWITCHYARD_DRAIN_SECONDS: "0", SWITCHYARD_SECRET: "a-secret-for-two-starts" };
  const before = await startGateway({ ...options, env });
  const chunks = textChunks("one two three", "alpha");
  mixed.openai.on("*", hangs);
  const asked = mixed.openai.nextRequest();
  const body = { model: "auto", input: "Long work", background: true };
  const whole = (await (await before.post("/v1/responses", body)).json()) as { id: string };
  await asked;
  mixed.openai.on(
    "*",
    streams(chunks, { before: (index) => (index === 2 ? new Promise(() => undefined) : undefined) }),
  );
  const streamed = await before.post("/v1/responses", { ...body, stream: true });
  const reader = (streamed.body as ReadableStream<Uint8Array>).getReader();
  let seen = "";
  while (!seen.includes("output_text.delta")) seen += new TextDecoder().decode((await reader.read()).value);
  const stopping = before.stop();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    seen += new TextDecoder().decode(part.value);
  await stopping;
  const events = responseEventsIn(seen);
  expect(events.slice(-2)).toMatchObject([{ type: "error" }, { type: "response.failed" }]);

  const after = await startGateway({ ...options, env, creditsUsd: null });
  const headers = { authorization: `Bearer ${before.key}` };
  const id = /"id":"(resp_\w+)"/.exec(seen)?.[1] as string;
  for (const stored of [whole.id, id]) {
    const response = await (await after.get(`/v1/responses/${stored}`, headers)).json();
    expect(response).toMatchObject({ status: "failed", error: { code: "shutting_down" } });
  }
  const replayed = await after.get(`/v1/responses/${id}?stream=true`, headers);
  expect(responseEventsIn(await replayed.text())).toEqual(events);
  expect(await (await after.api("GET", "/api/credits")).json()).toMatchObject({ postedUsd: "1000", heldUsd: "0" });
  await after.stop();
});

it("tells of a failure, and refuses at once what no provider is asked for", async () => {
  mixed.openai.on("*", fails(500));
  const { id } = await client.responses.create({ ...ALPHA, input: "Fails", background: true });
  await vi.waitFor(async () => {
    const response = await client.responses.retrieve(id);
    expect(response).toMatchObject({ status: "failed", error: { code: expect.any(String) } });
  }, WAIT);
  await expect(
    client.responses.create({ ...ALPHA, model: "nobody", input: "x", background: true }),
  ).rejects.toMatchObject({ status: 404 });
  mixed.openai.on("*", answers("ok"));
  const { id: plain } = await client.responses.create({ ...ALPHA, input: "Not in the background" });
  await expect(client.responses.cancel(plain)).rejects.toMatchObject({ status: 400 });
});

it("is in the request log, and runs once for an Idempotency-Key", async () => {
  mixed.openai.on("*", answers("Once."));
  const headers = { "idempotency-key": "background-1" };
  const body = { ...ALPHA, input: "Once", background: true };
  const first = (await (await mixed.gateway.post("/v1/responses", body, headers)).json()) as { id: string };
  await vi.waitFor(async () => expect((await client.responses.retrieve(first.id)).status).toBe("completed"), WAIT);
  // It is stored before it is charged, and until then the key counts as running.
  const second = await vi.waitFor(async () => {
    const answer = await mixed.gateway.post("/v1/responses", body, headers);
    expect(answer.status).not.toBe(409);
    return answer.json();
  }, WAIT);
  expect(second).toMatchObject({ id: first.id, status: "completed" });
  expect(mixed.openai.requests).toHaveLength(1);
  await vi.waitFor(async () => {
    const log = (await (await mixed.gateway.api("GET", "/api/requests?limit=20")).json()) as {
      data: { route: string }[];
    };
    expect(JSON.stringify(log.data)).toContain("/v1/responses");
  }, WAIT);
});
