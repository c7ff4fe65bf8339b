// Batches, as the official clients of OpenAI and Anthropic call them.

import { randomBytes } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_BATCH_BYTES_PER_ACCOUNT: String(1024 ** 2) } });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const CHAT = "/v1/chat/completions";
const ask = (words: string) => ({ model: "auto", messages: [{ role: "user", content: words }] });
const line = (id: string, more: object = {}, url = CHAT) => ({
  custom_id: id,
  method: "POST",
  url,
  body: { ...ask(id), ...more },
});

async function upload(lines: readonly unknown[], client = openai): Promise<string> {
  const text = lines.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("\n");
  return (await client.files.create({ file: await toFile(Buffer.from(text), "lines.jsonl"), purpose: "batch" })).id;
}

async function create(lines: readonly unknown[], more: object = {}) {
  const input = { input_file_id: await upload(lines), endpoint: CHAT, completion_window: "24h", ...more };
  return openai.batches.create(input as OpenAI.BatchCreateParams);
}

async function over(id: string): Promise<OpenAI.Batch> {
  return expect
    .poll(() => openai.batches.retrieve(id), { timeout: 20_000, interval: 100 })
    .toMatchObject({ status: expect.stringMatching(/completed|cancelled|failed|expired/) })
    .then(() => openai.batches.retrieve(id));
}

async function linesOf(fileId: string | null | undefined) {
  const text = await (await openai.files.content(String(fileId))).text();
  return text
    .trimEnd()
    .split("\n")
    .map((each) => JSON.parse(each));
}

async function charged(): Promise<number> {
  const { data } = (await (await gateway.api("GET", "/api/ledger?kind=charge&limit=100")).json()) as {
    data: unknown[];
  };
  return data.length;
}

test("the official OpenAI client runs a batch, and each line is charged once", async () => {
  const before = await charged();
  const made = await create([line("a"), line("b"), line("c", { messages: "none" }), "", line("d")], {
    metadata: { night: "1" },
  });
  expect(made).toMatchObject({ object: "batch", endpoint: CHAT, metadata: { night: "1" }, completion_window: "24h" });
  const done = await over(made.id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 3, failed: 1 } });
  const output = await linesOf(done.output_file_id);
  expect(output.map(({ custom_id: id }) => id)).toEqual(["a", "b", "d"]);
  expect(output[0]).toMatchObject({ error: null, response: { status_code: 200, body: { object: "chat.completion" } } });
  expect(await linesOf(done.error_file_id)).toMatchObject([{ custom_id: "c", response: { status_code: 422 } }]);
  expect(await charged()).toBe(before + 3);
  const file = await openai.files.retrieve(String(done.output_file_id));
  const content = await (await openai.files.content(file.id)).arrayBuffer();
  expect(file).toMatchObject({ purpose: "batch_output", bytes: content.byteLength });
  // A line may end in the last minute of its batch.
  expect(file.expires_at).toBe(Number(done.expires_at) + 30 * 86_400);
  const found = (await (await gateway.api("GET", `/api/requests/${output[0].response.request_id}`)).json()) as object;
  expect(JSON.stringify(found)).toContain(made.id);
  expect((await openai.batches.list()).data.map(({ id }) => id)).toContain(made.id);
});

test("other formats run as well", async () => {
  const body = { model: "text-embedding-3-small", input: "x" };
  const embeddings = await create([{ custom_id: "e", method: "POST", url: "/v1/embeddings", body }], {
    endpoint: "/v1/embeddings",
  });
  const responses = await create(
    [{ custom_id: "r", method: "POST", url: "/v1/responses", body: { model: "auto", input: "Hi" } }],
    {
      endpoint: "/v1/responses",
    },
  );
  for (const { id } of [embeddings, responses]) expect((await over(id)).request_counts?.completed).toBe(1);
});

test("the official Anthropic client runs a batch", async () => {
  const params = { model: "auto", max_tokens: 64, messages: [{ role: "user" as const, content: "Hi" }] };
  const bad = { ...params, messages: [{ role: "nobody", content: "Hi" }] } as unknown as typeof params;
  const made = await anthropic.messages.batches.create({
    requests: [
      { custom_id: "one", params },
      { custom_id: "two", params: bad },
    ],
  });
  expect(made).toMatchObject({ type: "message_batch", processing_status: "in_progress", results_url: null });
  await expect(anthropic.messages.batches.delete(made.id)).rejects.toMatchObject({ status: 400 });
  await expect
    .poll(async () => (await anthropic.messages.batches.retrieve(made.id)).processing_status, { timeout: 20_000 })
    .toBe("ended");
  const results = [];
  for await (const result of await anthropic.messages.batches.results(made.id)) results.push(result);
  expect(results).toMatchObject([
    { custom_id: "one", result: { type: "succeeded", message: { type: "message" } } },
    { custom_id: "two", result: { type: "errored", error: { type: "error" } } },
  ]);
  expect((await anthropic.messages.batches.list()).data.map(({ id }) => id)).toEqual([made.id]);
  expect(await anthropic.messages.batches.delete(made.id)).toEqual({ id: made.id, type: "message_batch_deleted" });
  await expect(anthropic.messages.batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
});

test.each([
  [["no json"], "invalid_json_line"],
  [[line("a"), line("a")], "duplicate_custom_id"],
  [[line("a", {}, "/v1/embeddings")], "invalid_request"],
  [[line("a", { stream: true })], "invalid_request"],
  [[line("")], "invalid_request"],
  [[""], "empty_file"],
])("a file with %j fails with %s, and runs nothing", async (lines, code) => {
  const before = await charged();
  const made = await create(lines);
  expect(made).toMatchObject({ status: "failed", errors: { data: [{ code }] } });
  expect(await charged()).toBe(before);
});

test("a file of empty lines is not read to its end", async () => {
  const made = await create(["\n".repeat(100_001)]);
  expect(made).toMatchObject({ status: "failed", errors: { data: [{ code: "too_many_lines", line: 100_001 }] } });
});

test("an account stores no more requests than it may have", async () => {
  const known = (await openai.batches.list()).data.length;
  const words = randomBytes(900_000).toString("base64");
  await expect(create([line("a", { words }), line("b")])).rejects.toMatchObject({ status: 400, code: "batches_full" });
  const params = { ...ask("a"), max_tokens: 9, words } as Anthropic.MessageCreateParamsNonStreaming;
  const requests = ["a", "b"].map((id) => ({ custom_id: id, params }));
  await expect(anthropic.messages.batches.create({ requests })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("may take up 1 MB. Wait until some have run."),
  });
  const metadata = { words: words.slice(0, 16_385) };
  await expect(create([line("a")], { metadata })).rejects.toMatchObject({ status: 400, param: "metadata" });
  expect((await openai.batches.list()).data).toHaveLength(known);
});

test("what was reached of service_max_cost_usd is not gone beyond", async () => {
  const made = await create([line("a"), line("b")], { service_max_cost_usd: 0 });
  const done = await over(made.id);
  expect(done.request_counts).toEqual({ total: 2, completed: 0, failed: 2 });
  expect(await linesOf(done.error_file_id)).toMatchObject([
    { custom_id: "a", error: { code: "max_cost_reached" } },
    { custom_id: "b", error: { code: "max_cost_reached" } },
  ]);
});

test.each([{ service_max_cost_usd: 0.000002 }, { metadata: { service_max_cost_usd: "0.000002" } }])(
  "with %j, lines that do not fit are not begun, and no more is paid",
  async (more) => {
    const made = await create([line("a", { max_tokens: 10 }), line("b"), line("c")], more);
    const done = (await over(made.id)) as OpenAI.Batch & { service: { cost_usd: number; max_cost_usd: number } };
    expect(done.service.max_cost_usd).toBe(0.000002);
    expect(done.service.cost_usd).toBeLessThanOrEqual(0.000002);
    expect(done.request_counts?.failed).toBeGreaterThan(0);
    expect(await linesOf(done.error_file_id)).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: "max_cost_reached" }) }),
    );
  },
);

test("lines that cost nothing run whatever their batch may cost", async () => {
  const url = "/v1/moderations";
  const body = { model: "omni-moderation-latest", input: "x" };
  const made = await create([{ custom_id: "m", method: "POST", url, body }], {
    endpoint: url,
    service_max_cost_usd: 1,
  });
  expect((await over(made.id)).request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
});

test("a batch that the credits do not cover is 402, and leaves nothing behind", async () => {
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "poor" })).json()) as { id: string };
  const { key } = (await (await gateway.api("POST", `/api/keys?account=${id}`, { name: "k" })).json()) as {
    key: string;
  };
  await gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "0.02" });
  const poor = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const dear = Array.from({ length: 40 }, (_, at) => line(`l${at}`, { max_tokens: 4_000 }));
  const input = { endpoint: CHAT, completion_window: "24h" } as const;
  const wanted = { ...input, input_file_id: await upload(dear, poor) };
  await expect(poor.batches.create(wanted)).rejects.toMatchObject({ status: 402, code: "insufficient_credits" });
  expect((await poor.batches.list()).data).toEqual([]);
  const credits = async () => (await gateway.api("GET", `/api/credits?account=${id}`)).json();
  expect(await credits()).toMatchObject({ heldUsd: "0", availableUsd: "0.02" });
  // One that is covered holds its lines, and lets go of them at its end.
  const made = await poor.batches.create({
    ...input,
    input_file_id: await upload([line("a", { max_tokens: 20 })], poor),
  });
  await expect.poll(async () => (await poor.batches.retrieve(made.id)).status, { timeout: 20_000 }).toBe("completed");
  await expect.poll(credits, { timeout: 20_000 }).toMatchObject({ heldUsd: "0" });
});

test("a batch that is cancelled begins no more lines", async () => {
  const made = await create(Array.from({ length: 400 }, (_, at) => line(`l${at}`)));
  const cancelled = await openai.batches.cancel(made.id);
  expect(["cancelling", "cancelled"]).toContain(cancelled.status);
  const done = await over(made.id);
  expect(done.status).toBe("cancelled");
  expect(done.request_counts?.completed).toBeLessThan(400);
  await expect(openai.batches.cancel(made.id)).rejects.toMatchObject({ status: 409 });
});

test("another account has none of it", async () => {
  const made = await create([line("a")]);
  const done = await over(made.id);
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "other" })).json()) as { id: string };
  const { key } = (await (await gateway.api("POST", `/api/keys?account=${id}`, { name: "k" })).json()) as {
    key: string;
  };
  const other = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const missing = { status: 404 };
  expect((await other.batches.list()).data).toEqual([]);
  await expect(other.batches.retrieve(made.id)).rejects.toMatchObject(missing);
  await expect(other.batches.cancel(made.id)).rejects.toMatchObject(missing);
  await expect(other.files.content(String(done.output_file_id))).rejects.toMatchObject(missing);
  await expect(other.files.retrieve(String(done.output_file_id))).rejects.toMatchObject(missing);
  await gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "1" });
  const input = { input_file_id: String(made.input_file_id), endpoint: CHAT, completion_window: "24h" } as const;
  await expect(other.batches.create(input)).rejects.toMatchObject(missing);
  // Nor is a batch of one API one of the other.
  await expect(anthropic.messages.batches.retrieve(made.id)).rejects.toMatchObject(missing);
});

test("lines of a key that was revoked end with its error", async () => {
  const { id, key } = (await (await gateway.api("POST", "/api/keys", { name: "short" })).json()) as {
    id: string;
    key: string;
  };
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const lines = Array.from({ length: 300 }, (_, at) => line(`k${at}`));
  const input_file_id = await upload(lines, client);
  const made = await client.batches.create({ input_file_id, endpoint: CHAT, completion_window: "24h" });
  await gateway.api("POST", "/api/keys/revoke", { ids: [id] });
  const done = await over(made.id);
  expect(done.request_counts?.failed).toBeGreaterThan(0);
  expect((await linesOf(done.error_file_id))[0]).toMatchObject({ response: { status_code: 401 } });
});

test.each([
  [{ endpoint: "/v1/audio/speech" }, "endpoint"],
  [{ completion_window: "1h" }, "completion_window"],
  [{ input_file_id: 5 }, "input_file_id"],
  [{ metadata: "x" }, "metadata"],
  [{ service_max_cost_usd: -1 }, "service_max_cost_usd"],
])("a batch with %j is 400", async (more, param) => {
  const body = { input_file_id: await upload([line("a")]), endpoint: CHAT, completion_window: "24h", ...more };
  await expectError(await gateway.post("/v1/batches", body), { status: 400, param });
});

test.each(["/v1/batches/none", "/v1/batches?after=none", "/v1/batches/a%00b"])("GET %s is 404", async (path) => {
  await expectError(await gateway.get(path), { status: 404 });
});
