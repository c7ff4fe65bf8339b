// A SQLite file that lost commits after a kill: its log deleted or damaged, the file gone, or an old copy in its place. The
// gateway refuses to start, changes nothing, and goes on once the loss is accepted.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { credits } from "../../../src/cli/credits.ts";
import { doctor } from "../../../src/cli/doctor/doctor.ts";
import { ledger } from "../../../src/cli/ledger.ts";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { isLong } from "../../support/random.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const REQUESTS = 20;
const root = mkdtempSync(join(tmpdir(), "switchyard-lost-"));
/** As a kill would leave it, taken from under a gateway that runs; every test works on a copy. */
const killed = join(root, "killed");
/** As it was before the requests, stopped cleanly. */
const early = join(root, "early");
const db = (folder: string, ending = ""): string => join(folder, "data", `switchyard.db${ending}`);

/** In this process: a start takes a fraction of what a new one needs. */
function startIn(folder: string): Promise<TestGateway> {
  return startGateway({ database: `sqlite:${db(folder)}`, creditsUsd: null });
}

beforeAll(async () => {
  const running = join(root, "running");
  mkdirSync(join(running, "data"), { recursive: true });
  const first = await startIn(running);
  const { key } = first;
  await first.stop();
  cpSync(running, early, { recursive: true });
  const second = await startIn(running);
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const response = await second.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key}` });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  cpSync(running, killed, { recursive: true });
  await second.stop();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function copyOf(folder: string): string {
  const copy = mkdtempSync(join(root, "copy-"));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

async function run(command: Command, line: string, cwd: string) {
  const terminal = recordTerminal({ cwd });
  const code = await command(readArguments(["x", ...line.split(" ").filter((word) => word !== "")]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

/** What each file holds. SQLite may write its index again, and begin an empty log where there is none. */
function contentsOf(folder: string): readonly (readonly [string, string])[] {
  const names = readdirSync(join(folder, "data")).filter((name) => !/-shm$|\.lock/.test(name));
  const contents = names.map((name) => [name, readFileSync(join(folder, "data", name), "latin1")] as const);
  return contents.filter(([, text]) => text !== "");
}

const LOSSES: readonly (readonly [string, (folder: string) => void])[] = [
  ["its log was deleted", (folder) => rmSync(db(folder, "-wal"))],
  [
    "its log was damaged in the middle",
    (folder) => {
      const log = readFileSync(db(folder, "-wal"));
      // Past the frames of the start, within those of the requests.
      log.fill(0xee, Math.floor(log.length / 2), Math.floor(log.length / 2) + 64);
      writeFileSync(db(folder, "-wal"), log);
    },
  ],
  [
    "the file was deleted",
    (folder) => {
      for (const ending of ["", "-wal", "-shm"]) rmSync(db(folder, ending));
    },
  ],
  [
    "an old copy took its place",
    (folder) => {
      for (const ending of ["-wal", "-shm"]) rmSync(db(folder, ending));
      cpSync(db(early), db(folder));
    },
  ],
];

describe.each(LOSSES)("%s", (_, lose) => {
  test("a start and commands refuse, and nothing is changed", async () => {
    const folder = copyOf(killed);
    lose(folder);
    const before = contentsOf(folder);
    const missing =
      /is older than what was written to it: [1-9]\d* commits with [1-9]\d* ledger transactions are missing/;
    await expect(startIn(folder)).rejects.toMatchObject({ advice: expect.stringMatching(missing) });
    const verified = await run(ledger, "verify --json", folder);
    expect(verified.code).toBe(1);
    expect(JSON.parse(verified.out)).toMatchObject({ ok: false, problems: [expect.stringMatching(missing)] });
    const added = await run(credits, "add 1", folder);
    expect(added).toMatchObject({ code: 1, said: expect.stringMatching(missing) });
    const checked = await run(doctor, "--json", folder);
    expect(checked).toMatchObject({ code: 1, out: expect.stringMatching(missing) });
    expect(contentsOf(folder)).toEqual(before);
  });
});

/** Accepted in the same way, whatever lost them. */
describe.each(isLong ? LOSSES : LOSSES.slice(-2))("%s", (_, lose) => {
  test("the loss is accepted once, recorded, and served from then on", async () => {
    const folder = copyOf(killed);
    lose(folder);
    const unasked = await run(ledger, "accept-loss", folder);
    expect(unasked).toMatchObject({ code: 2, said: expect.stringContaining("--yes") });
    const accepted = await run(ledger, "accept-loss --yes --json", folder);
    expect(accepted.code).toBe(0);
    const { commits, transactions } = JSON.parse(accepted.out) as { commits: number; transactions: number };
    expect(commits).toBeGreaterThan(0);
    const again = await run(ledger, "accept-loss", folder);
    expect(again).toMatchObject({ code: 0, said: expect.stringContaining("Nothing is missing") });
    const gateway = await startIn(folder);
    expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, problems: [] });
    await gateway.stop();
    const store = await openDb(`sqlite:${db(folder)}`);
    const losses = await store.query("SELECT reason, commits, transactions FROM store_losses");
    await store.close();
    expect(losses).toEqual([{ reason: "accepted", commits, transactions }]);
  });
});

test("a kill alone loses nothing: the file is served from, with every charge", async () => {
  const folder = copyOf(killed);
  const gateway = await startIn(folder);
  const verdict = await (await gateway.api("GET", "/api/ledger/verify")).json();
  expect(verdict).toMatchObject({ ok: true, transactions: REQUESTS + 1, problems: [] });
  await gateway.stop();
});

test("a witness that lags behind is no reason to refuse", async () => {
  const folder = copyOf(killed);
  cpSync(db(early, ".witness"), db(folder, ".witness"));
  const gateway = await startIn(folder);
  await gateway.stop();
});

test("a file without its witness is adopted with a line in the log", async () => {
  const folder = copyOf(killed);
  rmSync(db(folder, ".witness"));
  const gateway = await startIn(folder);
  await gateway.stop();
  expect(gateway.logged.map(({ fields }) => fields.event)).toContain("database.adopted");
  expect(statSync(db(folder, ".witness")).mode & 0o777).toBe(0o600);
  rmSync(db(folder));
  await expect(startIn(folder)).rejects.toMatchObject({ advice: expect.stringContaining("older than what was") });
  expect(existsSync(db(folder))).toBe(false);
});

test("a file of another history is refused, also when it has more commits", async () => {
  const folder = copyOf(killed);
  const other = copyOf(early);
  const store = await openDb(`sqlite:${db(other)}`);
  for (let commits = 0; commits < 10 * REQUESTS; commits += 1) {
    await store.query("UPDATE revisions SET value = value + 1");
  }
  await store.close();
  for (const ending of ["-wal", "-shm"]) rmSync(db(folder, ending));
  cpSync(db(other), db(folder));
  await expect(startIn(folder)).rejects.toMatchObject({ advice: expect.stringMatching(/holds another history/) });
});
