// A SQLite file that is full or read-only, as seen over HTTP: new requests are refused with 503 before any
// provider is called, the log says why, and everything works again when the file does. A second gateway on it is refused.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Db } from "../../../src/core/db.ts";
import { StoreInUse } from "../../../src/core/store-errors.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";

/** The gateway's own connection: SQLite's limits can be set only there. */
const handles: Db[] = [];
vi.mock("../../../src/store/db.ts", async (original) => {
  const { openDb: open, ...rest } = await original<typeof import("../../../src/store/db.ts")>();
  const openDb: typeof open = async (url, options) => {
    const db = await open(url, options);
    handles.push(db);
    return db;
  };
  return { ...rest, openDb };
});

const folder = mkdtempSync(join(tmpdir(), "switchyard-fault-"));
const path = join(folder, "fault.db");
let provider: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), database: `sqlite:${path}` });
});
beforeEach(() => {
  provider.reset();
  provider.on("alpha", answers("Paris.", { usage: USAGE }));
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (): Promise<Response> => gateway.post("/v1/chat/completions", HELLO);
const pragma = async (text: string): Promise<number> =>
  Number(Object.values((await handles[0]!.query(`PRAGMA ${text}`))[0] ?? {})[0]);
const errorsLogged = (): number => gateway.logged.filter(({ level }) => level === "error").length;

/** Asks until it is refused, and says how many were answered before. */
async function untilRefused(): Promise<{ answered: number; refused: Response }> {
  for (let answered = 0; answered < 300; answered += 1) {
    const response = await ask();
    if (response.status !== 200) return { answered, refused: response };
    await response.arrayBuffer();
  }
  throw new Error("never refused");
}

async function expectBooksToFit(): Promise<void> {
  const { ok, openHolds, problems } = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as {
    ok: boolean;
    openHolds: number;
    problems: unknown;
  };
  expect({ ok, openHolds, problems }).toEqual({ ok: true, openHolds: 0, problems: [] });
}

test.each([
  [
    "full",
    async () => pragma(`max_page_count = ${await pragma("page_count")}`),
    () => pragma("max_page_count = 1000000"),
  ],
  ["read-only", () => pragma("query_only = 1"), () => pragma("query_only = 0")],
] as const)("a file that is %s", async (_, breakIt, mendIt) => {
  const errorsBefore = errorsLogged();
  await breakIt();
  const { answered, refused } = await untilRefused();
  await expectError(refused, { status: 503, code: "database_unavailable" });
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(provider.requests).toHaveLength(answered);
  expect(errorsLogged()).toBeGreaterThan(errorsBefore);
  await mendIt();
  const repaired = await ask();
  expect(repaired.status).toBe(200);
  // What was answered while the file was full waits in the outbox for a moment.
  await vi.waitFor(expectBooksToFit, { timeout: 300_000, interval: 200 });
});

test("a second gateway on the same file is refused with words that help", async () => {
  const second = startGateway({ yaml: labYaml(provider.url), database: `sqlite:${path}` });
  await expect(second).rejects.toBeInstanceOf(StoreInUse);
  await expect(second).rejects.toThrow(`Another process is serving from ${path}`);
  expect((await ask()).status).toBe(200);
});
