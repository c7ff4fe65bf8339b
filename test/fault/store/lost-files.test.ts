// Files of the SQLite database that are deleted, moved or replaced under a running gateway: new requests get 503 before a
// provider is called, readiness and log say why, and everything works again when the file is back.

import { copyFileSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { watchStorage } from "../../../src/app/storage.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { answers, type FakeProvider, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";

const root = mkdtempSync(join(tmpdir(), "switchyard-files-"));
let provider: FakeProvider;
let gateway: TestGateway;
let path: string;

beforeAll(async () => {
  provider = await startFakeProvider(answers("Paris.", { usage: USAGE }));
});
beforeEach(async () => {
  path = join(mkdtempSync(join(root, "case-")), "lost.db");
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), database: `sqlite:${path}` });
  expect((await ask()).status).toBe(200);
  provider.requests.length = 0;
});
afterEach(() => gateway.stop());
afterAll(async () => {
  await provider.close();
  rmSync(root, { recursive: true, force: true });
});

const ask = (): Promise<Response> => gateway.post("/v1/chat/completions", HELLO);
const ready = (): Promise<Response> => gateway.get("/readyz");

/** The store looks at most once a second; asking for readiness makes it look now. */
async function expectRefusal(name: string): Promise<void> {
  const unready = await ready();
  expect(unready.status).toBe(503);
  expect(await unready.text()).toContain(`${name} was deleted, moved or replaced`);
  await expectError(await ask(), { status: 503, code: "database_unavailable" });
  expect(provider.requests).toHaveLength(0);
}

/** Through the connection that only reads, which has no lock. */
async function expectFinding(name: string): Promise<void> {
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as {
    ok: boolean;
    problems: string[];
  };
  expect(verdict.ok).toBe(false);
  expect(verdict.problems.join()).toContain(name);
}

test.each(["", "-wal"])("lost.db%s is deleted", async (ending) => {
  unlinkSync(`${path}${ending}`);
  await expectRefusal(`lost.db${ending}`);
  await expectFinding(`lost.db${ending}`);
});

test("a file that is moved away is missed, and found when it is back", async () => {
  renameSync(path, `${path}.aside`);
  await expectRefusal("lost.db");
  renameSync(`${path}.aside`, path);
  // The refused request made it unready as well, until the next trial write.
  await vi.waitFor(async () => expect((await ready()).status).toBe(200), { timeout: 300_000, interval: 100 });
  expect((await ask()).status).toBe(200);
});

test("another file in its place is not taken for it", async () => {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  await expectRefusal("lost.db");
});

test("a lock file that is deleted is missed: another gateway could start", async () => {
  unlinkSync(`${path}.lock`);
  await expectRefusal("lost.db.lock");
});

test("a witness file that is deleted is written again", async () => {
  unlinkSync(`${path}.witness`);
  expect((await ready()).status).toBe(200);
  expect((await ask()).status).toBe(200);
  await gateway.stop();
  writeFileSync(path, "");
  for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  await expect(startGateway({ yaml: labYaml(provider.url), database: `sqlite:${path}` })).rejects.toMatchObject({
    advice: expect.stringContaining("is older than what was written to it"),
  });
});

describe("the watch", () => {
  afterEach(() => vi.useRealTimers());

  test("logs a loss and its end once each, and shows them in the metrics", async () => {
    vi.useFakeTimers();
    const logged: (string | undefined)[] = [];
    const counts: number[] = [];
    const log = {
      error: ({ event }: { event?: string }) => logged.push(event),
      info: ({ event }: { event?: string }) => logged.push(event),
    };
    let problems: readonly string[] = [];
    const watch = watchStorage([{ problems: async () => problems }], {
      log: log as never,
      metrics: { databaseFilesLost: (count) => counts.push(count) },
    });
    for (const found of [[], ["lost.db"], ["lost.db"], []]) {
      problems = found;
      await vi.advanceTimersByTimeAsync(10_000);
    }
    watch.close();
    expect(logged).toEqual(["database.file_lost", "database.file_found"]);
    expect(counts).toEqual([0, 1, 1, 0]);
  });

  test("is part of the gateway", async () => {
    expect((await scrape(gateway.url)).value("switchyard_database_files_lost")).toBe(0);
  });
});
