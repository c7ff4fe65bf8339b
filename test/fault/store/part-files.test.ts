// The files beside a SQLite database, damaged or lost: the gateway serves and charges without them, and readiness and log
// name the file.

import { closeSync, existsSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";

const root = mkdtempSync(join(tmpdir(), "switchyard-parts-"));
let provider: FakeProvider;
let gateway: TestGateway;
let folder: string;
let key = "";
/** The id of a stored response. */
let stored = "";

beforeAll(async () => {
  provider = await startFakeProvider(answers("Paris.", { usage: USAGE }));
});
beforeEach(async () => {
  folder = mkdtempSync(join(root, "case-"));
  await start();
  key = gateway.key;
  stored = ((await (await create()).json()) as { id: string }).id;
  // The next start opens the files with an empty -wal.
  await gateway.stop();
});
afterEach(() => gateway.stop());
afterAll(async () => {
  await provider.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const database = `sqlite:${join(folder, "parts.db")}`;
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), database });
}

const headers = () => ({ authorization: `Bearer ${key}` });
const create = (): Promise<Response> => gateway.post("/v1/responses", { model: "auto", input: "Hi" }, headers());
const readiness = async (): Promise<string> => (await gateway.get("/readyz?verbose")).text();

/** Overwrites the first page of a table. */
async function damage(file: string, table: string): Promise<void> {
  const path = join(folder, file);
  const db = await openDb(`sqlite:${path}`);
  const [found] = await db.query("SELECT rootpage FROM sqlite_master WHERE name = $1", [table]);
  const [size] = await db.query("PRAGMA page_size");
  await db.close();
  const bytes = Number(size?.page_size);
  const handle = openSync(path, "r+");
  writeSync(handle, Buffer.alloc(bytes, 0xee), 0, bytes, (Number(found?.rootpage) - 1) * bytes);
  closeSync(handle);
}

/** The gateway is ready, names the problem, answers and charges. */
async function expectService(check: string, problem: string): Promise<void> {
  expect(await readiness()).toContain(`[-]${check} failed: ${problem}`);
  expect((await gateway.get("/readyz")).status).toBe(200);
  const before = await balance();
  expect((await gateway.post("/v1/chat/completions", HELLO, headers())).status).toBe(200);
  await expect.poll(balance, { timeout: 60_000 }).not.toBe(before);
}

async function balance(): Promise<string> {
  return ((await (await gateway.api("GET", "/api/credits")).json()) as { postedUsd: string }).postedUsd;
}

test("a damaged request log", async () => {
  await damage("parts-log.db", "requests");
  await start();
  expect((await gateway.api("GET", "/api/requests?limit=10")).status).toBe(503);
  await expectService("request-log", "parts-log.db or parts.db is damaged");
});

test("a damaged file of stored contents", async () => {
  await damage("parts-contents.db", "responses");
  await start();
  expect((await gateway.get(`/v1/responses/${stored}`, headers())).status).toBe(503);
  await expectService("stored-contents", "parts-contents.db is damaged");
  const answer = (await (await create()).json()) as { status: string; store: boolean };
  expect(answer).toMatchObject({ status: "completed", store: false });
});

test.each([
  ["parts-log.db", "request-log"],
  ["parts-contents.db", "stored-contents"],
])("%s is deleted under the gateway", async (file, check) => {
  await start();
  unlinkSync(join(folder, file));
  await expectService(check, `${file} was deleted, moved or replaced`);
});

test.each(["parts-log.db", "parts-contents.db"])("%s is gone at the start", async (file) => {
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(folder, `${file}${ending}`), { force: true });
  await start();
  expect(existsSync(join(folder, file))).toBe(true);
  expect(await readiness()).toContain("[+]request-log ok\n[+]stored-contents ok\n");
  expect((await create()).status).toBe(200);
});
