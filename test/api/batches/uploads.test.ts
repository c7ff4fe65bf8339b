// /v1/uploads, as the official client calls it.

import { createHash } from "node:crypto";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_FILES_BYTES_PER_ACCOUNT: "4000000" } });
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const BYTES = Buffer.from(Array.from({ length: 700_000 }, (_, at) => (at * 7) % 256));
const HALVES = [BYTES.subarray(0, 300_000), BYTES.subarray(300_000)] as const;
const ABOUT = { filename: "../notes.jsonl", purpose: "batch", bytes: BYTES.length, mime_type: "text/jsonl" } as const;

const part = async (id: string, bytes: Buffer): Promise<string> =>
  (await client.uploads.parts.create(id, { data: await toFile(bytes, "blob") })).id;
const md5Of = (bytes: Buffer): string => createHash("md5").update(bytes).digest("hex");

test("the official client uploads in parts, in the order that it names", async () => {
  const made = await client.uploads.create({ ...ABOUT, expires_after: { anchor: "created_at", seconds: 7_200 } });
  expect(made).toMatchObject({ object: "upload", status: "pending", filename: "notes.jsonl", bytes: BYTES.length });
  expect(made.expires_at).toBe(made.created_at + 3_600);
  expect(made.file).toBeNull();
  const second = await part(made.id, HALVES[1]);
  const first = await part(made.id, HALVES[0]);
  // A part that came twice is left out.
  await part(made.id, HALVES[0]);
  expect((await client.files.list()).data).toEqual([]);
  const done = await client.uploads.complete(made.id, { part_ids: [first, second], md5: md5Of(BYTES) });
  expect(done).toMatchObject({ status: "completed", file: { object: "file", purpose: "batch", bytes: BYTES.length } });
  const { id = "", expires_at: expiresAt = 0, created_at: createdAt = 0 } = done.file ?? {};
  expect(expiresAt - createdAt).toBe(7_200);
  expect(Buffer.from(await (await client.files.content(id)).arrayBuffer()).equals(BYTES)).toBe(true);
  // Asked again after a lost answer, it says the same.
  expect(await client.uploads.complete(made.id, { part_ids: [first, second] })).toEqual(done);
  await expect(part(made.id, HALVES[0])).rejects.toMatchObject({ status: 400, code: "upload_over" });
  await expect(client.uploads.cancel(made.id)).rejects.toMatchObject({ status: 400 });
  await client.files.delete(id);
});

test("an upload that was cancelled gives its room back", async () => {
  const large = { ...ABOUT, bytes: 3_000_000 };
  const made = await client.uploads.create(large);
  await expect(client.uploads.create(large)).rejects.toMatchObject({ status: 400, code: "files_full" });
  await part(made.id, HALVES[0]);
  expect(await client.uploads.cancel(made.id)).toMatchObject({ status: "cancelled", file: null });
  await expect(client.uploads.complete(made.id, { part_ids: ["part_1"] })).rejects.toMatchObject({ status: 400 });
  await client.uploads.cancel((await client.uploads.create(large)).id);
});

test("what does not fit together is told, and can be repaired", async () => {
  const made = await client.uploads.create(ABOUT);
  const [first, second] = [await part(made.id, HALVES[0]), await part(made.id, HALVES[1])];
  const complete = (part_ids: string[], md5?: string) =>
    client.uploads.complete(made.id, md5 === undefined ? { part_ids } : { part_ids, md5 });
  await expect(complete([first])).rejects.toMatchObject({ status: 400, param: "part_ids" });
  await expect(complete([first, first])).rejects.toMatchObject({ status: 400, param: "part_ids" });
  await expect(complete([first, "part_none"])).rejects.toMatchObject({ status: 400, param: "part_ids" });
  await expect(complete([second, first], md5Of(BYTES))).rejects.toMatchObject({ status: 400, param: "md5" });
  const longer = part(made.id, Buffer.alloc(BYTES.length + 1));
  await expect(longer).rejects.toMatchObject({ status: 400, param: "data" });
  const { file } = await complete([first, second], md5Of(BYTES).toUpperCase());
  await client.files.delete(file?.id ?? "");
});

test("another account has none of it", async () => {
  const made = await client.uploads.create(ABOUT);
  const account = (await (await gateway.api("POST", "/api/accounts", { name: "other" })).json()) as { id: string };
  const { key } = (await (await gateway.api("POST", `/api/keys?account=${account.id}`, { name: "k" })).json()) as {
    key: string;
  };
  const other = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const missing = { status: 404, code: "upload_not_found" };
  await expect(other.uploads.cancel(made.id)).rejects.toMatchObject(missing);
  await expect(other.uploads.complete(made.id, { part_ids: ["part_1"] })).rejects.toMatchObject(missing);
  const data = await toFile(HALVES[0], "blob");
  await expect(other.uploads.parts.create(made.id, { data })).rejects.toMatchObject(missing);
  // Without credits nothing is begun.
  await expect(other.uploads.create(ABOUT)).rejects.toMatchObject({ status: 402 });
  await client.uploads.cancel(made.id);
});

describe("what is refused", () => {
  test.each([
    [{ filename: "" }, "filename"],
    [{ purpose: "world" }, "purpose"],
    [{ bytes: 0 }, "bytes"],
    [{ bytes: 1.5 }, "bytes"],
    [{ mime_type: "text" }, "mime_type"],
    [{ mime_type: "text/x\n" }, "mime_type"],
    [{ expires_after: { anchor: "created_at", seconds: 1 } }, "expires_after.seconds"],
    [{ expires_after: 5 }, "expires_after"],
  ])("an upload with %j", async (more, param) => {
    await expectError(await gateway.post("/v1/uploads", { ...ABOUT, ...more }), { status: 400, param });
  });

  test("10 GB, before a byte of them is sent", async () => {
    const whole = { ...ABOUT, bytes: 10 * 1024 ** 3 };
    await expectError(await gateway.post("/v1/uploads", whole), { status: 400, code: "files_full" });
  });
});
