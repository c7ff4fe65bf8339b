// Stored responses under requests and answers that are made to hurt: separators in texts, items named thousands of times,
// ids that no store can keep, and one Idempotency-Key for two endpoints. Behaviour 10.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { answers, hangs, streams, textChunks } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import {
  finalResponse,
  outputText,
  type ResponseObject,
  readResponseEvents,
} from "../../support/providers/responses.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const ON_ALPHA = { model: "alpha", service_profile: "direct" };
const post = (path: string, body: object, headers = {}): Promise<Response> => mixed.gateway.post(path, body, headers);
const ask = (body: object, headers = {}): Promise<Response> => post("/v1/responses", { ...ON_ALPHA, ...body }, headers);
const message = (content: string, extra: object = {}): object => ({ type: "message", role: "user", content, ...extra });
const created = async (path: string, body: object): Promise<string> =>
  ((await (await post(path, body)).json()) as { id: string }).id;

describe("an answer with separators that JSON leaves as they are", () => {
  const SAID = "one\u2028two\u2029three\u0085four";

  it("is streamed to its end, and stored", async () => {
    mixed.openai.on("*", streams(textChunks(SAID, "alpha-1")));
    const response = finalResponse(await readResponseEvents(await ask({ input: "hi", stream: true })));
    expect(response).toMatchObject({ status: "completed", store: true });
    expect(outputText(response)).toBe(SAID);
    const stored = (await (await mixed.gateway.get(`/v1/responses/${response.id}`)).json()) as ResponseObject;
    expect(outputText(stored)).toBe(SAID);
  });
});

describe("a small request that names much", () => {
  it("is refused when it names one item again and again", async () => {
    mixed.openai.on("*", answers("ok"));
    await created("/v1/conversations", { items: [message("y".repeat(100_000), { id: "msg_long" })] });
    const input = Array.from({ length: 1_000 }, () => ({ type: "item_reference", id: "msg_long" }));
    await expectError(await ask({ input }), { status: 400, code: "conversation_too_large" });
    expect(mixed.openai.requests).toHaveLength(0);
  });

  it("cannot name a conversation of any length: it is full before that", async () => {
    const conversation = await created("/v1/conversations", {});
    const items = Array.from({ length: 9 }, () => message("z".repeat(1 << 20)));
    const add = (): Promise<Response> => post(`/v1/conversations/${conversation}/items`, { items });
    expect((await add()).status).toBe(200);
    expect((await add()).status).toBe(200);
    await expectError(await add(), { status: 400, code: "conversation_too_large" });
  });

  it("is refused when it repeats one summary", async () => {
    mixed.openai.on("*", answers("y".repeat(100_000)));
    const compacted = (await (await post("/v1/responses/compact", { ...ON_ALPHA, input: "hi" })).json()) as {
      output: readonly { type: string }[];
    };
    const summary = compacted.output.find(({ type }) => type === "compaction");
    const input = [...Array.from({ length: 1_000 }, () => summary), message("go on")];
    await expectError(await ask({ input }), { status: 400, code: "conversation_too_large" });
  });
});

describe("an id", () => {
  it.each([
    ["with a NUL", "a\u0000b"],
    ["of ten thousand characters", "x".repeat(10_000)],
    ["with half a character", "\ud800"],
    ["of nothing", ""],
  ])("%s is replaced", async (_name, id) => {
    const conversation = await created("/v1/conversations", { items: [message("hi", { id })] });
    const { data } = (await (await mixed.gateway.get(`/v1/conversations/${conversation}/items`)).json()) as {
      data: readonly { id: string }[];
    };
    expect(data[0]?.id).toMatch(/^msg_[a-z0-9]+$/);
  });

  it("does not come from the names that every object has", async () => {
    const conversation = await created("/v1/conversations", { items: [{ type: "constructor" }] });
    const list = await mixed.gateway.get(`/v1/conversations/${conversation}/items`);
    expect(((await list.json()) as { data: readonly { id: string }[] }).data[0]?.id).toMatch(/^item_/);
  });
});

it("an Idempotency-Key used for a summary brings back no response", async () => {
  mixed.openai.on("*", answers("a summary"));
  const body = { ...ON_ALPHA, input: "hello" };
  const headers = { "idempotency-key": "one-key" };
  expect((await post("/v1/responses/compact", body, headers)).status).toBe(200);
  await expectError(await post("/v1/responses", body, headers), { status: 422, code: "idempotency_key_reused" });
});

it("a key whose places are all taken by background responses can still read one and end it", async () => {
  const small = await startMixed({ env: { SWITCHYARD_IN_FLIGHT_PER_KEY: "1" } });
  try {
    small.openai.on("*", hangs);
    const body = { ...ON_ALPHA, input: "Never ends", background: true };
    const { id } = (await (await small.gateway.post("/v1/responses", body)).json()) as { id: string };
    await expectError(await small.gateway.post("/v1/responses", body), { status: 429, code: "too_many_in_flight" });
    expect(await (await small.gateway.get(`/v1/responses/${id}`)).json()).toMatchObject({ status: "in_progress" });
    expect((await small.gateway.get(`/v1/responses/${id}/input_items`)).status).toBe(200);
    // A stream would stay open.
    const followed = await small.gateway.get(`/v1/responses/${id}?stream=true`);
    await expectError(followed, { status: 429, code: "too_many_in_flight" });
    const cancelled = await small.gateway.post(`/v1/responses/${id}/cancel`, {});
    expect(await cancelled.json()).toMatchObject({ id, status: "cancelled" });
  } finally {
    await small.close();
  }
});
