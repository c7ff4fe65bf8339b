// The demo: money that adds up, totals that match their records, the same data for the same seed; and its command.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifyLedger } from "../../../src/billing/verify.ts";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { demo } from "../../../src/cli/demo.ts";
import type { Db } from "../../../src/core/db.ts";
import { formatUsd, parseUsd } from "../../../src/core/money.ts";
import type { RequestRecord } from "../../../src/core/requests/records.ts";
import { demoCatalog } from "../../../src/demo/configuration.ts";
import { type DemoFilled, fillWithDemo } from "../../../src/demo/fill.ts";
import { OLDER_NOTE } from "../../../src/demo/money.ts";
import { TEMPLATE_COUNT } from "../../../src/demo/prompts.ts";
import { demoTraffic } from "../../../src/demo/traffic.ts";
import { groupOutcomes } from "../../../src/gateway/operate/outcomes.ts";
import { openDb } from "../../../src/store/db.ts";
import { createLedgerAudit } from "../../../src/store/ledger/audit.ts";
import { createLedgerList } from "../../../src/store/ledger/list.ts";
import { createOutcomeStore } from "../../../src/store/requests/outcomes.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

const NOW = Date.UTC(2026, 4, 20, 15, 30);
/** Thirty days before the 20th of May are in two. */
const MONTHS = 2;
const TEAMS = 2;
const DAY_MS = 24 * 60 * 60 * 1000;

let made: readonly RequestRecord[] | null = null;

/** What `serve --demo` has, made once for all who read it. */
function twoMonths(): readonly RequestRecord[] {
  made ??= [...demoTraffic({ requests: 4_000, days: 60, seed: 1, nowMs: NOW }, demoCatalog())];
  return made;
}

async function filledStore(
  requests: number,
  bookedMax?: number,
): Promise<{ db: Db; filled: DemoFilled; progress: readonly number[] }> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-demo-"));
  const db = await openDb(`sqlite:${join(folder, "demo.db")}`);
  onTestFinished(async () => {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await db.migrate();
  const progress: number[] = [];
  const onProgress = (written: number): void => void progress.push(written);
  const filled = await fillWithDemo(
    { db, log: db },
    {
      requests,
      days: 30,
      seed: 1,
      nowMs: NOW,
      onProgress,
      ...(bookedMax === undefined ? {} : { bookedMax }),
    },
  );
  return { db, filled, progress };
}

test("300 requests: the ledger fits, and totals are the sum of the records", async () => {
  const { db, filled, progress } = await filledStore(300);
  expect(progress.at(-1)).toBe(300);
  const verdict = await verifyLedger(createLedgerAudit(db));
  expect(verdict).toMatchObject({ ok: true, openHolds: 0, transactions: filled.booked + MONTHS * TEAMS });
  const [sums] = await db.query(
    "SELECT COUNT(*) AS requests, SUM(charge) AS charge, SUM(baseline) AS baseline, SUM(is_error) AS errors, SUM(is_fallback) AS fallbacks, SUM(output_tokens) AS output_tokens, SUM(latency_ms) AS latency_ms FROM requests",
  );
  expect(Number(sums?.requests)).toBe(300);
  expect(formatUsd(BigInt(sums?.charge as number))).toBe(filled.chargedUsd);
  for (const span of ["hour", "day"]) {
    const names = Object.keys(sums as object).map((name) => `SUM(${name}) AS ${name}`);
    const [totals] = await db.query(`SELECT ${names.join(", ")} FROM request_rollups WHERE span = $1`, [span]);
    expect(totals).toEqual(sums);
  }
  const [charges] = await db.query("SELECT SUM(charge) AS charge, SUM(absorbed) AS absorbed FROM charges");
  expect(charges).toEqual({ charge: sums?.charge, absorbed: 0 });
});

test("beyond the newest, older traffic is one correction a month, and the money still adds up", async () => {
  const { db, filled } = await filledStore(1_100, 100);
  expect((await verifyLedger(createLedgerAudit(db))).ok).toBe(true);
  const [sums] = await db.query("SELECT SUM(charge) AS charge FROM requests");
  const [booked] = await db.query("SELECT SUM(charge) AS charge FROM charges");
  const older = parseUsd(filled.olderUsd ?? "0") as bigint;
  expect(older).toBeGreaterThan(0n);
  expect(BigInt(sums?.charge as number)).toBe(BigInt(booked?.charge as number) + older);
  const lines = await createLedgerList(db).list("default", { limit: 5_000, after: null });
  expect(lines.filter(({ transaction }) => transaction.note === OLDER_NOTE)).toHaveLength(MONTHS);
});

test("bookings have the times of the requests, and each month adds up to what its requests came to", async () => {
  const { db } = await filledStore(400);
  const list = createLedgerList(db);
  const lines = (await list.list("default", { limit: 5_000, after: null })).toReversed();
  const times = lines.map(({ createdAtMs }) => createdAtMs);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBe(NOW - 30 * DAY_MS);
  expect(times.at(-1)).toBeLessThan(NOW);
  const months = await list.months("default", { limit: 12, after: null });
  expect(months.map(({ id }) => id)).toEqual(["2026-05", "2026-04"]);
  for (const { id, charges, topUps } of months) {
    const [fromMs, toMs] = [Date.parse(`${id}-01`), Date.parse(id === "2026-05" ? "2026-06-01" : "2026-05-01")];
    const [sums] = await db.query(
      "SELECT SUM(charge) AS charge FROM requests WHERE account_id = 'default' AND created_at >= $1 AND created_at < $2",
      [fromMs, toMs],
    );
    expect(-charges).toBe(BigInt(sums?.charge as number));
    expect(charges).toBeLessThan(0n);
    expect(topUps).toBeGreaterThan(0n);
  }
});

test("where money was moved already, nothing is booked before it", async () => {
  const { db } = await filledStore(40);
  await fillWithDemo({ db, log: db }, { requests: 40, days: 60, seed: 2, nowMs: NOW, onProgress: () => undefined });
  const own = "SELECT created_at FROM ledger_transactions WHERE account_id = 'default' ORDER BY sequence";
  const rows = await db.query(own);
  const times = rows.map(({ created_at }) => Number(created_at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect((await verifyLedger(createLedgerAudit(db))).ok).toBe(true);
});

test("the same seed makes the same records, another one others", () => {
  const plan = { requests: 200, days: 30, seed: 1, nowMs: NOW };
  const catalog = demoCatalog();
  const first = [...demoTraffic(plan, catalog)];
  expect([...demoTraffic(plan, catalog)]).toEqual(first);
  expect([...demoTraffic({ ...plan, seed: 2 }, catalog)]).not.toEqual(first);
});

test("a month of it is varied and in order, and ends now", () => {
  const plan = { requests: 1_500, days: 30, seed: 1, nowMs: NOW };
  const records = [...demoTraffic(plan, demoCatalog())];
  expect(records).toHaveLength(1_500);
  expect(TEMPLATE_COUNT).toBeGreaterThanOrEqual(60);
  const times = records.map(({ atMs }) => atMs);
  expect([...times].sort((a, b) => a - b)).toEqual(times);
  expect(times[0]).toBeGreaterThanOrEqual(NOW - 30 * DAY_MS);
  expect(times.at(-1)).toBeLessThan(NOW);
  expect(new Set(records.map(({ id }) => id)).size).toBe(1_500);
  const seen = <T>(read: (record: (typeof records)[number]) => T): Set<T> => new Set(records.map(read));
  expect(seen(({ status }) => status)).toEqual(new Set([200, 402, 429, 503]));
  expect([...seen(({ decision }) => decision?.tier)]).toEqual(
    expect.arrayContaining(["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"]),
  );
  // A model may have failed at several hosts.
  for (const { errorMessage, attempts } of records.filter(({ status }) => status === 503))
    expect(errorMessage).toContain(`All ${new Set(attempts.map(({ model }) => model)).size} models in the`);
  expect(seen(({ keyId }) => keyId).size).toBe(4);
  expect(seen(({ accountId }) => accountId).size).toBe(TEAMS);
  expect(seen(({ answeredBy }) => answeredBy?.provider).size).toBeGreaterThan(3);
  expect(seen(({ content }) => content?.answer).size).toBeGreaterThan(100);
  expect(seen(({ attempts }) => attempts.length).has(2)).toBe(true);
  for (const { cost, hold } of records) if (cost !== null) expect(cost.charge).toBeLessThanOrEqual(hold ?? 0n);
});

test("it has conversations, users, tags and hosts to explore, and outcomes", async () => {
  const { db } = await filledStore(600);
  const one = async (sql: string): Promise<number> => Number(Object.values((await db.query(sql))[0] ?? {})[0]);
  const longest =
    "SELECT COUNT(*) AS turns FROM requests WHERE session <> '' GROUP BY session ORDER BY turns DESC LIMIT 1";
  expect(await one(longest)).toBeGreaterThan(4);
  for (const state of ["started", "stayed", "switched", "escalated"]) {
    expect(await one(`SELECT COUNT(*) FROM requests WHERE session_state = '${state}'`), state).toBeGreaterThan(0);
  }
  expect(await one("SELECT COUNT(DISTINCT end_user) FROM requests WHERE end_user <> ''")).toBeGreaterThan(20);
  expect(await one("SELECT COUNT(DISTINCT name) FROM request_tags")).toBe(3);
  expect(await one("SELECT COUNT(DISTINCT provider) FROM requests")).toBeGreaterThan(3);
  expect(await one("SELECT COUNT(*) FROM shadow_samples")).toBeGreaterThan(30);
  expect(await one("SELECT COUNT(*) FROM request_feedback WHERE app_score = 0")).toBeGreaterThan(0);
  expect(await one("SELECT COUNT(*) FROM profiles WHERE shadow_json IS NOT NULL")).toBe(1);
});

test("the command fills a fresh store once, and says how", async () => {
  const terminal = recordTerminal({ now: () => NOW });
  const go = (...words: string[]): Promise<number> => demo(readArguments(["demo", ...words]), terminal);
  expect(await go("--requests", "40", "--json")).toBe(0);
  expect(JSON.parse(terminal.takeOut())).toMatchObject({ requests: 40, days: 60, seed: 1, olderUsd: null });
  expect(await go("--requests", "40")).toBe(1);
  expect(terminal.takeSaid()).toContain("already has requests or credits");
  expect(await go("--requests", "40", "--seed", "2", "--yes")).toBe(0);
  expect(terminal.takeSaid()).toContain("Generated 40 requests");
});

test.each([
  ["60", {}, "Without --demo, requests older than 30 days are deleted; SWITCHYARD_RETENTION_DAYS=60 keeps them."],
  ["30", {}, null],
  ["60", { SWITCHYARD_RETENTION_DAYS: "60" }, null],
])("%s days and %j: the command says what a server would delete", async (days, env, note) => {
  const terminal = recordTerminal({ env });
  expect(await demo(readArguments(["demo", "--requests", "20", "--days", days]), terminal)).toBe(0);
  const said = terminal.takeSaid();
  expect(said).toContain("Open it with 'npm start -- serve --demo' and the same --database.");
  if (note === null) expect(said).not.toContain("Without --demo");
  else expect(said).toContain(note);
});

test("progress is shown on a screen only", async () => {
  const terminal = recordTerminal({ isScreen: true });
  expect(await demo(readArguments(["demo", "--requests", "20"]), terminal)).toBe(0);
  expect(terminal.takeSaid()).toContain("\rGenerating traffic: 100%\n");
  expect(terminal.takeOut()).toMatch(/^\S+\n$/);
});

test.each([
  [["--requests", "none"], "--requests is a whole number from 1 to"],
  [["--days", "0"], "--days is a whole number"],
  [["now"], "demo takes flags only"],
  [["--reqests", "5"], "Did you mean '--requests'?"],
])("%j is wrong usage", async (words, said) => {
  const terminal = recordTerminal();
  expect(await demo(readArguments(["demo", ...words]), terminal)).toBe(2);
  expect(terminal.takeSaid()).toContain(said);
});

test("latencies are believable, and yesterday one provider failed", () => {
  const records = twoMonths();
  const first = records.flatMap(({ status, firstContentMs }) => (status === 200 ? [firstContentMs ?? 0] : []));
  const p95 = first.sort((a, b) => a - b)[Math.floor(first.length * 0.95)] as number;
  expect(p95).toBeGreaterThan(800);
  expect(p95).toBeLessThan(1_300);
  const yesterday = records.filter(({ atMs }) => atMs >= NOW - DAY_MS && atMs < NOW - DAY_MS + DAY_MS / 6);
  const failed = yesterday.flatMap(({ attempts }) => attempts.filter(({ outcome }) => outcome === "failed"));
  const countOf = (name: string): number => failed.filter(({ provider }) => provider === name).length;
  const most = Math.max(...failed.map(({ provider }) => countOf(provider)));
  expect(most).toBeGreaterThan(failed.length / 2);
  expect(failed.length).toBeGreaterThan(5);
});

test("a turn that stayed was answered by the model and host of the turn before", () => {
  const last = new Map<string, unknown>();
  let stays = 0;
  for (const { session, sessionState, answeredBy, requestId } of twoMonths()) {
    const before = last.get(session ?? "");
    if (sessionState === "stayed" && answeredBy !== null) {
      stays += 1;
      expect(answeredBy, requestId).toEqual(before);
    }
    if (answeredBy !== null) last.set(session ?? "", answeredBy);
  }
  expect(stays).toBeGreaterThan(500);
});

// Prices of today decide the sum: it has to be one that a dashboard shows in dollars, and that the baseline exceeds clearly.
test("60 days cost dollars, far less than the baseline, and half of the conversations read from a cache", () => {
  const records = twoMonths();
  const own = records.filter(({ accountId }) => accountId === "default");
  const charge = own.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n);
  const baseline = own.reduce((sum, { cost }) => sum + (cost?.baseline ?? 0n), 0n);
  expect(charge).toBeGreaterThan(1_000_000_000n);
  expect([charge > baseline / 50n, charge < baseline / 2n]).toEqual([true, true]);
  const newest = records.slice(-300);
  const cached = newest.filter(({ cost }) => (cost?.buckets.cacheRead ?? 0) > 0);
  const countOf = (some: typeof newest): number => new Set(some.map(({ session }) => session)).size;
  expect(countOf(cached)).toBeGreaterThan(countOf(newest) / 2);
});

test("the samples of a month give verdicts: two that hold up, and one that is worse", async () => {
  const { db } = await filledStore(2_500);
  const samples = await createOutcomeStore({ db, log: db, reader: db }).samples("default", 0, 5_000);
  const states = groupOutcomes(samples, 0.9).map(({ state }) => state);
  expect(states.filter((state) => state === "holds_up").length).toBeGreaterThanOrEqual(2);
  expect(states).toContain("worse");
  expect(states.filter((state) => state === "too_few").length).toBeLessThan(states.length / 2);
});
