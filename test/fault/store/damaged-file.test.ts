// Case 88: a SQLite file with damaged pages. Where money or access is kept, the gateway refuses to start and says what to
// do; a backup that is put back is served from and its books fit.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StoreDamaged } from "../../../src/core/store-errors.ts";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { variants } from "../../support/random.ts";

const PAGE_BYTES = 4096;
const folder = mkdtempSync(join(tmpdir(), "switchyard-damage-"));
const path = join(folder, "damaged.db");
const backup = join(folder, "backup.db");
let provider: FakeProvider;
let posted = "";
/** The first page of each table, by name. */
const roots = new Map<string, number>();

const start = (): Promise<TestGateway> =>
  startGateway({ yaml: labYaml(provider.url, ["alpha"]), database: `sqlite:${path}`, creditsUsd: null });

beforeAll(async () => {
  provider = await startFakeProvider(answers("Paris."));
  const gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), database: `sqlite:${path}` });
  for (let round = 0; round < 20; round += 1) {
    expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  }
  posted = ((await (await gateway.api("GET", "/api/credits")).json()) as { postedUsd: string }).postedUsd;
  await gateway.stop();
  const db = await openDb(`sqlite:${path}`);
  await db.query("VACUUM INTO $1", [backup]);
  await db.close();
  // Pages get new numbers in a copy.
  const copy = await openDb(`sqlite:${backup}`);
  for (const { name, rootpage } of await copy.query("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")) {
    roots.set(String(name), Number(rootpage));
  }
  await copy.close();
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

function damage(change: (bytes: Buffer) => Buffer): void {
  for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  copyFileSync(backup, path);
  writeFileSync(path, change(readFileSync(path)));
}

async function expectRefusal(): Promise<void> {
  const refused = await start().then(
    async (gateway) => {
      await gateway.stop();
      return null;
    },
    (error: Error) => error,
  );
  expect(refused).toBeInstanceOf(StoreDamaged);
  const { advice } = refused as StoreDamaged;
  expect(advice).toContain(`${path} is damaged (`);
  expect(advice).toMatch(/Restore a backup .* or move it .* away/);
}

describe("refused", () => {
  test.each<readonly [string, (bytes: Buffer) => Buffer]>([
    ["a header of something else", (bytes) => bytes.fill("x", 0, 100)],
    ["half a file", (bytes) => bytes.subarray(0, bytes.length / 2 - ((bytes.length / 2) % PAGE_BYTES))],
    ["zeros from the second page on", (bytes) => bytes.fill(0, PAGE_BYTES)],
  ])("%s", async (_name, change) => {
    damage(change);
    await expectRefusal();
  });

  const tables = ["wallets", "holds", "ledger_transactions", "ledger_entries", "charges", "api_keys", "accounts"];
  test.each(tables)("a damaged page of %s", async (table) => {
    const root = roots.get(table);
    expect(root).toBeGreaterThan(1);
    const fillings = [0xee, 0x00, 0xff] as const;
    for (const byte of variants(fillings, tables.indexOf(table))) {
      damage((bytes) => bytes.fill(byte, ((root as number) - 1) * PAGE_BYTES, (root as number) * PAGE_BYTES));
      await expectRefusal();
    }
  });
});

test("a backup that is put back is served from, and its books fit", async () => {
  damage((bytes) => bytes);
  const gateway = await start();
  const verdict = await (await gateway.api("GET", "/api/ledger/verify")).json();
  expect(verdict).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ postedUsd: posted, heldUsd: "0" });
  await gateway.stop();
});
