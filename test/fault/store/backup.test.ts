// Backups of both stores, from the command line: taken during traffic, verified, and put back. A restored database is
// served from, holds every charge up to the backup, and what it replaced is kept.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup, restore } from "../../../src/cli/backup.ts";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type FakeProvider, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const root = mkdtempSync(join(tmpdir(), "switchyard-backup-"));
let provider: FakeProvider;

beforeAll(async () => {
  provider = await startFakeProvider(answers("Paris.", { usage: USAGE }));
});
afterAll(async () => {
  await provider.close();
  rmSync(root, { recursive: true, force: true });
});

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

async function run(command: Command, line: string, { cwd, database }: { cwd: string; database: string }) {
  const terminal = recordTerminal({ cwd, env: { DATABASE_URL: database } });
  const code = await command(readArguments(["x", ...line.split(" ")]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

/** Not an npm package: found on the PATH or not. */
const PG_DUMP = "pg_dump";

/** Why PostgreSQL cannot be backed up here; null where it can. The tools must not be older than the server. */
async function toolProblem(url: string): Promise<string | null> {
  const tool = spawnSync(PG_DUMP, ["--version"], { encoding: "utf8" });
  if (tool.error !== undefined) return "pg_dump is not installed";
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
  await client.end();
  const [have, need] = [tool.stdout.split(" ").at(2) ?? "", rows[0]?.server_version ?? ""].map(Number.parseFloat);
  return Number(have) >= Number(need) ? null : `pg_dump ${have} is older than the server ${need}`;
}

const STORES: readonly (readonly [
  string,
  (cwd: string) => Promise<{ url: string; drop(): Promise<void> } | string>,
])[] = [
  ["SQLite", async (cwd) => ({ url: `sqlite:${join(cwd, "switchyard.db")}`, drop: async () => undefined })],
  [
    "PostgreSQL",
    async () => {
      const made = await createTestDatabase();
      if (made === null) return "there is no server";
      const problem = await toolProblem(made.url);
      if (problem === null) return made;
      await made.drop();
      return problem;
    },
  ],
];

interface Credits {
  readonly postedUsd: string;
  readonly heldUsd: string;
}

const creditsOf = async (gateway: TestGateway): Promise<Credits> =>
  (await (await gateway.api("GET", "/api/credits")).json()) as Credits;
const serve = (url: string, creditsUsd: string | null): Promise<TestGateway> =>
  startGateway({ yaml: labYaml(provider.url, ["alpha"]), database: url, creditsUsd });

describe.each(STORES)("%s", (_, makeStore) => {
  test("a backup taken during traffic is put back and served from", { timeout: 300_000 }, async ({ skip }) => {
    const cwd = mkdtempSync(join(root, "store-"));
    const store = await makeStore(cwd);
    if (typeof store === "string") return skip(store);
    const place = { cwd, database: store.url };
    const gateway = await serve(store.url, "10");
    const ask = async (): Promise<void> => {
      const response = await gateway.post("/v1/chat/completions", HELLO);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    };
    await Promise.all(Array.from({ length: 10 }, ask));
    const traffic = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let sent = 0; sent < 20; sent += 1) await ask();
      }),
    );
    const made = await run(backup, "copy.backup --json", place);
    expect(made).toMatchObject({ code: 0, said: expect.stringMatching(/Backed up and verified.*\b1 account, /s) });
    await traffic;
    const { rows, bytes } = JSON.parse(made.out) as { rows: Record<string, number>; bytes: number };
    const transactions = rows.ledger_transactions ?? 0;
    // The top-up and the ten requests that were answered before.
    expect(transactions).toBeGreaterThanOrEqual(11);
    expect(rows.charges).toBe(transactions - 1);
    const file = join(cwd, "copy.backup");
    expect(statSync(file)).toMatchObject({ size: bytes });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(cwd).filter((name) => /partial/.test(name))).toEqual([]);

    const refused = await run(restore, "copy.backup --yes", place);
    expect(refused).toMatchObject({
      code: 1,
      said: expect.stringMatching(/Another process is serving|A gateway uses/),
    });
    await gateway.stop();
    const unasked = await run(restore, "copy.backup", place);
    expect(unasked).toMatchObject({ code: 2, said: expect.stringContaining("--yes") });
    const restored = await run(restore, "copy.backup --yes --json", place);
    expect(restored).toMatchObject({ code: 0, said: expect.stringContaining("Restored and verified") });
    const { replaced } = JSON.parse(restored.out) as { replaced: string };
    expect(statSync(replaced).mode & 0o777).toBe(0o600);

    const again = await serve(store.url, null);
    const verdict = await (await again.api("GET", "/api/ledger/verify")).json();
    expect(verdict).toMatchObject({ ok: true, transactions, problems: [] });
    const restores = (await (await again.api("GET", "/api/audit?action=restore")).json()) as {
      data: readonly unknown[];
    };
    expect(restores.data).toMatchObject([{ action: "restore", actor: { kind: "command_line" }, outcome: "done" }]);
    const logged = (await (await again.api("GET", "/api/requests?limit=100")).json()) as { data: readonly unknown[] };
    expect(logged.data).toHaveLength(rows.requests ?? 0);
    // On PostgreSQL another process could have taken them, so they stay for a minute.
    if (store.url.startsWith("sqlite:")) expect((await creditsOf(again)).heldUsd).toBe("0");
    await again.stop();
    const db = await openDb(store.url);
    expect(await db.query("SELECT reason, transactions FROM store_losses")).toEqual([
      { reason: "restored", transactions: 91 - transactions },
    ]);
    await db.close();
    await store.drop();
  });
});

test("a copied file is restored with its log, also where there is no data folder yet", {
  timeout: 300_000,
}, async () => {
  const cwd = mkdtempSync(join(root, "copied-"));
  const gateway = await serve(`sqlite:${join(cwd, "switchyard.db")}`, "10");
  expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  for (const ending of ["", "-wal"]) copyFileSync(join(cwd, `switchyard.db${ending}`), join(cwd, `copy.db${ending}`));
  await gateway.stop();
  const database = `sqlite:${join(cwd, "new", "data", "switchyard.db")}`;
  const restored = await run(restore, "copy.db --yes --json", { cwd, database });
  expect(restored.code, restored.said).toBe(0);
  const { rows } = JSON.parse(restored.out) as { rows: Record<string, number> };
  expect(rows.ledger_transactions).toBe(2);
  const db = await openDb(database);
  const found = await db.query("SELECT COUNT(*) AS transactions FROM ledger_transactions");
  await db.close();
  expect(found).toEqual([{ transactions: 2 }]);
});

describe("refused", () => {
  let place: { cwd: string; database: string };
  const path = (name: string): string => join(place.cwd, name);

  beforeAll(async () => {
    const cwd = mkdtempSync(join(root, "refused-"));
    place = { cwd, database: `sqlite:${join(cwd, "switchyard.db")}` };
    await (await serve(place.database, "10")).stop();
    expect((await run(backup, "good.backup", place)).code).toBe(0);
  });

  test("a file that exists is not replaced without --force", async () => {
    const before = readFileSync(path("good.backup"));
    expect(await run(backup, "good.backup", place)).toMatchObject({
      code: 1,
      said: expect.stringContaining("Add --force"),
    });
    expect(readFileSync(path("good.backup")).equals(before)).toBe(true);
    expect((await run(backup, "good.backup --force", place)).code).toBe(0);
  });

  test("what a killed backup left does not stop the next one", async () => {
    writeFileSync(path(`after-kill.backup.${process.pid}.partial`), "half");
    expect((await run(backup, "after-kill.backup", place)).code).toBe(0);
    rmSync(path(`after-kill.backup.${process.pid}.partial`));
  });

  test("the database itself is not replaced, not even with --force", async () => {
    const { ino } = statSync(path("switchyard.db"));
    expect(await run(backup, "switchyard.db --force", place)).toMatchObject({
      code: 1,
      said: expect.stringContaining("the same file"),
    });
    expect(statSync(path("switchyard.db")).ino).toBe(ino);
  });

  test("nothing is made where there is no database", async () => {
    const empty = mkdtempSync(join(root, "empty-"));
    const made = await run(backup, "copy.backup", { cwd: empty, database: `sqlite:${join(empty, "none.db")}` });
    expect(made).toMatchObject({ code: 1, said: expect.stringContaining("There is no database at") });
    expect(readdirSync(empty)).toEqual([]);
  });

  test.each<readonly [string, (name: string) => void]>([
    [
      "a damaged page",
      (name) => {
        copyFileSync(path("good.backup"), name);
        const bytes = readFileSync(name);
        writeFileSync(name, bytes.fill(0xee, 8_192 * 3, 8_192 * 4));
      },
    ],
    ["half of it", (name) => writeFileSync(name, readFileSync(path("good.backup")).subarray(0, 8_192 * 9))],
    ["something else", (name) => writeFileSync(name, "no database at all, but a long enough letter\n".repeat(50))],
    ["an empty file", (name) => writeFileSync(name, "")],
  ])("%s is not restored, and the database stays", async (name, spoil) => {
    const file = `${name.replaceAll(" ", "-")}.backup`;
    spoil(path(file));
    const before = readFileSync(path("switchyard.db"));
    const { code, said } = await run(restore, `${file} --yes`, place);
    expect(code).toBe(1);
    // To restore a backup, the advice on a damaged database, is what was tried.
    expect(said).toMatch(/^switchyard restore: (?!.*restore FILE).*(is damaged|is not a Switchyard backup)/);
    expect(readFileSync(path("switchyard.db")).equals(before)).toBe(true);
    expect(readdirSync(place.cwd).filter((entry) => /replaced|partial/.test(entry))).toEqual([]);
  });

  test("a backup with a changed charge is not restored", async () => {
    copyFileSync(path("good.backup"), path("forged.backup"));
    const db = await openDb(`sqlite:${path("forged.backup")}`);
    await db.query("UPDATE wallets SET posted = posted + 1");
    await db.close();
    expect(await run(restore, "forged.backup --yes", place)).toMatchObject({
      code: 1,
      said: expect.stringContaining("The ledger is inconsistent"),
    });
  });

  test("words that say nothing are wrong usage", async () => {
    expect((await run(backup, "--json", place)).code).toBe(2);
    expect((await run(restore, "a b", place)).code).toBe(2);
  });
});
