// Batches and files of Gemini's API, as Google's official client calls them.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BatchJob, GoogleGenAI, JobState } from "@google/genai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";

let world: GeminiGateway;
let client: GoogleGenAI;
const folder = mkdtempSync(join(tmpdir(), "switchyard-gemini-files-"));
beforeAll(async () => {
  world = await startGeminiGateway({ env: { SWITCHYARD_FILES_BYTES_PER_ACCOUNT: "30000000" } });
  client = connect(world.gateway.key);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

const connect = (apiKey: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.url, retryOptions: { attempts: 1 } } });
const blobOf = (text: string | Buffer, type = "application/jsonl"): Blob =>
  new Blob([typeof text === "string" ? text : new Uint8Array(text)], { type });
const ask = (words: string) => ({ contents: [{ role: "user", parts: [{ text: words }] }] });

async function over(name: string | undefined): Promise<BatchJob> {
  const isOver = async () => (await client.batches.get({ name: String(name) })).endTime !== undefined;
  await expect.poll(isOver, { timeout: 20_000, interval: 100 }).toBe(true);
  return client.batches.get({ name: String(name) });
}

async function charged(): Promise<number> {
  const answer = await world.gateway.api("GET", "/api/ledger?kind=charge&limit=100");
  return ((await answer.json()) as { data: unknown[] }).data.length;
}

async function otherClient(name: string): Promise<GoogleGenAI> {
  const account = (await (await world.gateway.api("POST", "/api/accounts", { name })).json()) as { id: string };
  const made = await world.gateway.api("POST", `/api/keys?account=${account.id}`, { name });
  return connect(((await made.json()) as { key: string }).key);
}

test("a batch of requests inside, each charged once", async () => {
  const before = await charged();
  const src = [
    { ...ask("one"), metadata: { key: "1" } },
    { ...ask("two"), config: { maxOutputTokens: 20 } },
    { contents: [{ role: "nobody", parts: [{ text: "three" }] }] },
  ];
  const made = await client.batches.create({ model: "auto", src, config: { displayName: "night" } });
  expect(made).toMatchObject({ displayName: "night", model: "models/auto" });
  expect(["JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED"]).toContain(made.state);
  const done = await over(made.name);
  expect(done.state).toBe(JobState.JOB_STATE_SUCCEEDED);
  const answers = done.dest?.inlinedResponses ?? [];
  expect(answers).toHaveLength(3);
  expect(answers[0]).toMatchObject({ metadata: { key: "1" }, response: { candidates: [{ finishReason: "STOP" }] } });
  expect(answers[1]?.response?.candidates?.[0]?.content?.parts?.[0]?.text).toBeTruthy();
  expect(answers[2]?.error?.message).toContain("role");
  expect(await charged()).toBe(before + 2);
  const names = [];
  for await (const job of await client.batches.list({ config: { pageSize: 1 } })) names.push(job.name);
  expect(names).toContain(made.name);
  await client.batches.delete({ name: String(made.name) });
  await expect(client.batches.get({ name: String(made.name) })).rejects.toMatchObject({ status: 404 });
});

test("a batch of a file, with its answers in a file", async () => {
  const lines = ["a", "b"].map((key) => JSON.stringify({ key, request: ask(key) }));
  const input = await client.files.upload({ file: blobOf(lines.join("\n")), config: { displayName: "lines" } });
  const made = await client.batches.create({ model: "auto", src: { fileName: String(input.name) } });
  const done = await over(made.name);
  const downloadPath = join(folder, "answers.jsonl");
  await client.files.download({ file: String(done.dest?.fileName), downloadPath });
  const answers = readFileSync(downloadPath, "utf8").trimEnd().split("\n");
  expect(answers.map((line) => JSON.parse(line))).toMatchObject([
    { key: "a", response: { candidates: [{}] } },
    { key: "b", response: { candidates: [{}] } },
  ]);
  const wrong = await client.files.upload({ file: blobOf('{"key":"a"}') });
  const failed = await client.batches.create({ model: "auto", src: { fileName: String(wrong.name) } });
  expect(failed.state).toBe(JobState.JOB_STATE_FAILED);
});

test("a batch that is cancelled begins no more", async () => {
  const src = Array.from({ length: 300 }, (_, at) => ask(`${at}`));
  const made = await client.batches.create({ model: "auto", src });
  await client.batches.cancel({ name: String(made.name) });
  const done = await over(made.name);
  expect(done.state).toBe(JobState.JOB_STATE_CANCELLED);
  expect(done.dest?.inlinedResponses?.at(-1)?.error?.message).toContain("cancelled");
});

test("a line that is nested too deep fails its batch", async () => {
  const deep = `{"key":"a","request":{"contents":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
  const file = await client.files.upload({ file: blobOf(deep) });
  const made = await client.batches.create({ model: "auto", src: { fileName: String(file.name) } });
  expect(made.state).toBe("JOB_STATE_FAILED");
});

test("a file counts as often as a request names it", async () => {
  const file = await client.files.upload({ file: blobOf(Buffer.alloc(4_000_000), "image/png") });
  const part = { fileData: { fileUri: String(file.uri), mimeType: "image/png" } };
  const within = { functionResponse: { name: "f", response: { seen: [part] } } };
  for (const parts of [Array(7).fill(part), Array(7).fill(within)]) {
    const body = { contents: [{ role: "user", parts: [{ text: "See." }, ...parts] }] };
    const answer = await world.gateway.post("/v1beta/models/auto:generateContent", body);
    expect([answer.status, await answer.text()]).toEqual([
      413,
      expect.stringContaining("with the files that it names"),
    ]);
  }
  const others = Array.from({ length: 3_001 }, (_, at) => ({
    fileData: { fileUri: `https://x.example/files/f${at}` },
  }));
  const answer = await world.gateway.post("/v1beta/models/auto:generateContent", { contents: [{ parts: others }] });
  expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining("may name 3000 files")]);
  await client.files.delete({ name: String(file.name) });
});

test("the official client uploads in pieces, lists, shows and deletes", async () => {
  const bytes = Buffer.from(Array.from({ length: 9_000_000 }, (_, at) => (at * 7) % 256));
  const config = { name: "my-file", displayName: "../notes.bin", mimeType: "application/json" };
  const made = await client.files.upload({ file: blobOf(bytes), config });
  expect(made).toMatchObject({ name: "files/my-file", displayName: "notes.bin", mimeType: "application/json" });
  expect(made).toMatchObject({ sizeBytes: "9000000", state: "ACTIVE", uri: expect.stringContaining("files/my-file") });
  expect(await client.files.get({ name: "files/my-file" })).toEqual(made);
  const names = [];
  for await (const file of await client.files.list({ config: { pageSize: 1 } })) names.push(file.name);
  expect(names).toContain("files/my-file");
  const downloadPath = join(folder, "notes.bin");
  await client.files.download({ file: String(made.name), downloadPath });
  expect(readFileSync(downloadPath).equals(bytes)).toBe(true);
  await expect(client.files.upload({ file: blobOf("{}"), config })).rejects.toMatchObject({ status: 409 });
  const other = await otherClient("other");
  await expect(other.files.get({ name: "my-file" })).rejects.toMatchObject({ status: 404 });
  await expect(other.files.delete({ name: "my-file" })).rejects.toMatchObject({ status: 404 });
  await client.files.delete({ name: "my-file" });
  await expect(client.files.get({ name: "my-file" })).rejects.toMatchObject({ status: 404 });
});

test("a piece that is sent twice at once is there once", async () => {
  const { url, key } = world.gateway;
  const headers = { "x-goog-api-key": key, "x-goog-upload-protocol": "resumable" };
  const begun = await fetch(`${url}/upload/v1beta/files`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "x-goog-upload-command": "start" },
    body: JSON.stringify({ file: { sizeBytes: "600000" } }),
  });
  const to = begun.headers.get("x-goog-upload-url") ?? "";
  const pieces = ["a", "b"].map((letter) => letter.repeat(300_000));
  const send = (at: number, command = "upload") => {
    const place = { "x-goog-upload-command": command, "x-goog-upload-offset": String(at * 300_000) };
    return fetch(to, { method: "POST", headers: { ...headers, ...place }, body: pieces[at] ?? "" });
  };
  for (const { status } of await Promise.all([send(0), send(0), send(0)])) expect(status).toBe(200);
  const made = await send(1, "upload, finalize");
  const { file } = (await made.json()) as { file: { name: string } };
  const there = await fetch(`${url}/v1beta/${file.name}:download?alt=media`, { headers });
  expect(await there.text()).toBe(pieces.join(""));
});

test.each(["gem", "alpha", "claude"])("a file that a request names reaches %s as its content", async (model) => {
  await world.reset();
  const file = await client.files.upload({ file: blobOf("%PDF-1.4 secret words", "application/pdf") });
  const parts = [{ text: "Read it." }, { fileData: { fileUri: String(file.uri), mimeType: "application/pdf" } }];
  const asked = { model, contents: [{ role: "user", parts }] };
  const body = { ...asked, service_profile: "direct" };
  const response = await world.gateway.post(`/v1beta/models/${model}:generateContent`, body, {
    "x-goog-api-key": world.gateway.key,
  });
  expect(response.status).toBe(200);
  const sent = [...world.gemini.requests, ...world.openai.requests, ...world.anthropic.requests];
  expect(JSON.stringify(sent.map((request) => request.body))).toContain(
    Buffer.from("%PDF-1.4 secret words").toString("base64"),
  );
  const other = await otherClient(`other ${model}`);
  await expect(other.models.generateContent(asked)).rejects.toBeTruthy();
});

test("in one request, with what is said about the file", async () => {
  const about = '{"file":{"displayName":"both"}}';
  const body = `--x\r\nContent-Type: application/json\r\n\r\n${about}\r\n--x\r\nContent-Type: text/csv\r\n\r\na,b\r\n--x--\r\n`;
  const response = await fetch(`${world.gateway.url}/upload/v1beta/files`, {
    method: "POST",
    headers: { "x-goog-api-key": world.gateway.key, "content-type": "multipart/related; boundary=x" },
    body,
  });
  expect(await response.json()).toMatchObject({ file: { displayName: "both", mimeType: "text/csv", sizeBytes: "3" } });
});

const upload = (headers: Record<string, string>, body = "{}", query = "") =>
  fetch(`${world.gateway.url}/upload/v1beta/files${query}`, {
    method: "POST",
    headers: { "x-goog-api-key": world.gateway.key, "content-type": "application/json", ...headers },
    body,
  });

async function expectRefused(answer: Promise<Response>, status: number, words: string): Promise<void> {
  const response = await answer;
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code: status, message: expect.stringContaining(words) } });
}

test("10 GB are refused before a byte of them is sent, and what is refused says so", async () => {
  const start = { "x-goog-upload-command": "start", "x-goog-upload-protocol": "resumable" };
  const huge = { ...start, "x-goog-upload-header-content-length": String(10 * 1024 ** 3) };
  await expectRefused(upload(huge), 400, "files");
  await expectRefused(upload(start), 400, "length");
  await expectRefused(upload({ "x-goog-upload-command": "upload" }, "x", "?upload_id=upload_1"), 404, "upload_1");
  await expectRefused(upload({}), 415, "multipart/related");
  const begun = await upload({ ...start, "x-goog-upload-header-content-length": "4" });
  const query = new URL(String(begun.headers.get("x-goog-upload-url"))).search;
  const piece = { "x-goog-upload-command": "upload", "x-goog-upload-offset": "0" };
  expect((await upload(piece, "ab", query)).headers.get("x-goog-upload-status")).toBe("active");
  // The same piece again, after its answer was lost.
  expect((await upload(piece, "ab", query)).headers.get("x-goog-upload-status")).toBe("active");
  const asked = await upload({ "x-goog-upload-command": "query" }, "", query);
  expect(asked.headers.get("x-goog-upload-size-received")).toBe("2");
  await expectRefused(upload({ ...piece, "x-goog-upload-offset": "3" }, "d", query), 400, "2 bytes");
  const last = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "2" };
  expect(await (await upload(last, "cd", query)).json()).toMatchObject({ file: { sizeBytes: "4" } });
});
