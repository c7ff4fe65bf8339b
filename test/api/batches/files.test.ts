// /v1/files, as the official client and others call it.

import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_FILES_BYTES_PER_ACCOUNT: "3000000" } });
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const LINES = Buffer.from('{"custom_id":"1"}\n'.repeat(40_000));

function send(name: string, fields: Record<string, string> = { purpose: "batch" }, bytes: Buffer = Buffer.from("{}")) {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new Blob([new Uint8Array(bytes)]), name);
  return fetch(`${gateway.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  });
}

test("the official client uploads, lists, reads and deletes", async () => {
  const made = await client.files.create({
    file: await toFile(LINES, "lines.jsonl"),
    purpose: "batch",
    expires_after: { anchor: "created_at", seconds: 3_600 },
  });
  expect(made).toMatchObject({ object: "file", bytes: LINES.length, filename: "lines.jsonl", purpose: "batch" });
  expect(made.expires_at).toBe(made.created_at + 3_600);
  expect(await client.files.retrieve(made.id)).toEqual(made);
  const listed = [];
  for await (const file of client.files.list({ limit: 1 })) listed.push(file);
  expect(listed).toEqual([made]);
  const content = await client.files.content(made.id);
  expect(content.headers.get("x-content-type-options")).toBe("nosniff");
  expect(Buffer.from(await content.arrayBuffer()).equals(LINES)).toBe(true);
  expect(await client.files.delete(made.id)).toEqual({ id: made.id, object: "file", deleted: true });
  await expect(client.files.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: "file_not_found" });
  await expect(client.files.content(made.id)).rejects.toMatchObject({ status: 404 });
  await expect(client.files.delete(made.id)).rejects.toMatchObject({ status: 404 });
});

test("another account has none of it", async () => {
  const made = await client.files.create({ file: await toFile(LINES, "own.jsonl"), purpose: "batch" });
  const account = (await (await gateway.api("POST", "/api/accounts", { name: "other" })).json()) as { id: string };
  const key = (await (await gateway.api("POST", `/api/keys?account=${account.id}`, { name: "k" })).json()) as {
    key: string;
  };
  const other = new OpenAI({ apiKey: key.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  expect((await other.files.list()).data).toEqual([]);
  await expect(other.files.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  await expect(other.files.content(made.id)).rejects.toMatchObject({ status: 404 });
  await expect(other.files.delete(made.id)).rejects.toMatchObject({ status: 404 });
  await expect(other.files.list({ after: made.id })).rejects.toMatchObject({ status: 404 });
  // Without credits nothing is stored.
  const upload = other.files.create({ file: await toFile(LINES, "x"), purpose: "batch" });
  await expect(upload).rejects.toMatchObject({ status: 402 });
  await client.files.delete(made.id);
});

test.each([
  ["../../etc/passwd", "passwd"],
  ["a\u202egpj.exe", "a\ufffdgpj.exe"],
  ["..", ".."],
  ["caf\u00e9.txt", "caf\u00e9.txt"],
  ["n".repeat(400), "n".repeat(255)],
])("the name %j is kept as %j", async (given, kept) => {
  const made = (await (await send(given)).json()) as { id: string; filename: string };
  expect(made.filename).toBe(kept);
  await client.files.delete(made.id);
});

describe("what is refused", () => {
  test.each<[Record<string, string>, string]>([
    [{}, "purpose"],
    [{ purpose: "world" }, "purpose"],
    [{ purpose: "batch", "expires_after[seconds]": "7200" }, "expires_after.anchor"],
    [{ purpose: "batch", "expires_after[anchor]": "created_at" }, "expires_after.seconds"],
    [
      { purpose: "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "3599" },
      "expires_after.seconds",
    ],
  ])("the form %j", async (fields, param) => {
    await expectError(await send("a", fields), { status: 400, param });
  });

  test("a body that is no form", async () => {
    await expectError(await gateway.post("/v1/files", { purpose: "batch" }), { status: 415 });
  });

  test("files beyond what an account may have", async () => {
    const response = await send("large", { purpose: "batch" }, Buffer.alloc(3_000_001));
    await expectError(response, { status: 400, code: "files_full" });
  });

  test.each(["?limit=0", "?limit=10001", "?order=up", "?purpose=a%00b"])("the list with %s", async (query) => {
    await expectError(await gateway.get(`/v1/files${query}`), { status: 400 });
  });

  test.each(["/v1/files/a%00b", "/v1/files/none", "/v1/files/none/content", "/v1/files?after=none"])(
    "GET %s is 404",
    async (path) => {
      await expectError(await gateway.get(path), { status: 404, code: "file_not_found" });
    },
  );
});
