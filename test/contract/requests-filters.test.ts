// Filters of the log on every store: pages and histogram are what plain filtering and counting give, whatever is combined,
// near and far back, and requests from before the counters are counted too.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { RequestFilter, RequestLog } from "../../src/core/requests/log.ts";
import { isFailed, type RequestRecord } from "../../src/core/requests/records.ts";
import { TIERS } from "../../src/core/tiers.ts";
import { openDb } from "../../src/store/db.ts";
import { splitStatements } from "../../src/store/migrate.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { fc } from "../support/property.ts";
import { FILTER_CASES } from "../support/stores/filters.ts";
import { createRecordStore, makeRecord, NOON, variedRecord, type WholeRecordStore } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const COUNT = 600;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Over twelve days, with a gap of three in between. */
const timeOf = (n: number): number => NOON + n * Math.floor((9 * DAY) / COUNT) + (n > COUNT / 2 ? 3 * DAY : 0);
const RANGE = { fromMs: NOON, toMs: NOON + 13 * DAY };

/** What the counters had at first, in its order. */
const COUNTED =
  "account_id, span, start_at, key_id, model, category, tier, status, cost_step, is_adjusted, is_fallback, is_error, profile, provider, profile_id, requests";

await describeStores("filters of the log", ({ url }) => {
  let db: Db;
  let store: WholeRecordStore;
  let log: RequestLog;
  const varied = Array.from({ length: COUNT }, (_, n) => ({ ...variedRecord(n, timeOf(n) - n * 1_000), id: "" })).map(
    (record, n) => ({ ...record, id: makeRecord({ atMs: timeOf(n) }).id }),
  );
  const own = varied.filter(({ accountId }) => accountId === "default");
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createRecordStore(db);
    log = createRequestLog(db);
    for (let at = 0; at < COUNT; at += 150) await store.write(varied.slice(at, at + 150));
  });
  afterAll(() => db.close());

  const idsOf = (matches: (record: RequestRecord) => boolean): readonly string[] =>
    own
      .filter(matches)
      .map(({ id }) => id)
      .reverse();
  const allPages = async (filter: Omit<RequestFilter, "accountId">, limit: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    let after: string | null = null;
    do {
      const page = await log.list({ accountId: "default", ...filter }, { limit, after });
      ids.push(...page.map(({ id }) => id));
      after = page.length < limit ? null : (page.at(-1)?.id ?? null);
    } while (after !== null);
    return ids;
  };
  const sumsOf = (records: readonly RequestRecord[]): object => ({
    requests: records.length,
    errors: records.filter(isFailed).length,
    charge: records.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n),
    baseline: records.reduce(
      (sum, record) => sum + ((isFailed(record) ? record.cost?.charge : record.cost?.baseline) ?? 0n),
      0n,
    ),
    tokens: records.reduce((sum, { cost }) => sum + (cost === null ? 0 : 35), 0),
  });
  const bars = (records: readonly RequestRecord[], unitMs: number): readonly object[] => {
    const starts = [...new Set(records.map(({ atMs }) => Math.floor(atMs / unitMs) * unitMs))].sort((a, b) => a - b);
    return starts.map((startMs) => {
      const some = records.filter(({ atMs }) => Math.floor(atMs / unitMs) * unitMs === startMs);
      return { startMs, requests: some.length, errors: some.filter(isFailed).length };
    });
  };

  test.each(FILTER_CASES)("%s: pages and histogram are what plain filtering gives", async (_what, filter, matches) => {
    const expected = idsOf(matches);
    expect(await allPages(filter, 37)).toEqual(expected);
    expect(await allPages({ ...filter, ...RANGE }, 500)).toEqual(expected);
    for (const [step, unitMs] of [["hour", HOUR] as const, ["day", DAY] as const]) {
      const { bars: found } = await log.histogram({ accountId: "default", ...filter }, { ...RANGE, step });
      expect(found).toEqual(bars(own.filter(matches), unitMs));
    }
    expect(await log.sums({ accountId: "default", ...filter })).toEqual(sumsOf(own.filter(matches)));
  });

  test("any two of them together, too, in any range and page size", async () => {
    const cases = FILTER_CASES.filter(([, filter]) => filter.requestIdStart === undefined);
    const span = fc.tuple(fc.integer({ min: -DAY, max: 13 * DAY }), fc.integer({ min: 1, max: 13 * DAY }));
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...cases], { minLength: 1, maxLength: 2 }),
        span,
        fc.integer({ min: 1, max: 60 }),
        async (chosen, [from, length], limit) => {
          const filter = Object.assign({}, ...chosen.map(([, each]) => each)) as Omit<RequestFilter, "accountId">;
          const fields = chosen.flatMap(([, each]) => Object.keys(each));
          fc.pre(new Set(fields).size === fields.length);
          const range = { fromMs: NOON + from, toMs: NOON + from + length };
          const matches = (record: RequestRecord): boolean =>
            chosen.every(([, , isIt]) => isIt(record)) && record.atMs >= range.fromMs && record.atMs < range.toMs;
          expect(await allPages({ ...filter, ...range }, limit)).toEqual(idsOf(matches));
          expect(await log.sums({ accountId: "default", ...filter, ...range })).toEqual(sumsOf(own.filter(matches)));
        },
      ),
      { numRuns: 25 },
    );
  });

  test("a histogram says which whole hours it covers", async () => {
    const span = { fromMs: NOON + 90_000, toMs: NOON + HOUR + 1, step: "hour" as const };
    expect(await log.histogram({ accountId: "default", tier: "NANO" }, span)).toMatchObject({
      fromMs: NOON,
      toMs: NOON + 2 * HOUR,
    });
    expect((await log.histogram({ accountId: "nobody" }, span)).bars).toEqual([]);
  });

  test("a line says what it was filtered by", async () => {
    const [line] = await log.list(
      { accountId: "default", profileId: "profile_1", isAdjusted: true },
      { limit: 1, after: null },
    );
    expect(line).toMatchObject({ profileId: "profile_1", isAdjusted: true });
  });

  test("requests from before the counters are counted by the migration as by the writer", async () => {
    const folder = new URL("../../src/store/migrations/", import.meta.url);
    const name = readdirSync(folder).find((each) => each.endsWith("_request_counts.log.sql")) as string;
    const statements = splitStatements(readFileSync(new URL(name, folder), "utf8"));
    const backfill = statements.find((statement) => statement.startsWith("INSERT INTO request_counts")) as string;
    const all =
      "SELECT * FROM request_counts ORDER BY account_id, span, start_at, key_id, model, category, tier, status, cost_step, is_adjusted, is_fallback, is_error, profile, provider";
    const written = await db.query(all);
    await db.query("DELETE FROM request_counts");
    await db.query(backfill.replace("request_counts SELECT", `request_counts (${COUNTED}) SELECT`));
    const sums = readFileSync(new URL("0028_request_sums.log.sql", folder), "utf8");
    await db.query(splitStatements(sums).find((each) => each.startsWith("UPDATE request_counts")) as string);
    expect(await db.query(all)).toEqual(written);
  });

  test("totals of all keys are summed by the migration as by the writer", async () => {
    const file = new URL("../../src/store/migrations/0031_all_keys.log.sql", import.meta.url);
    const [backfill = ""] = splitStatements(readFileSync(file, "utf8"));
    const all = "SELECT * FROM request_rollups ORDER BY account_id, span, start_at, model, tier, key_id, status";
    const written = await db.query(all);
    await db.query("DELETE FROM request_rollups WHERE span LIKE 'all-%'");
    expect((await db.query(all)).length).toBeLessThan(written.length);
    await db.query(backfill);
    expect(await db.query(all)).toEqual(written);
  });

  test("counters go with the requests, a whole day at a time", async () => {
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)", ["old", "old", 1]);
    const times = [NOON - 90 * DAY, NOON - 80 * DAY, NOON];
    await store.write(times.map((atMs) => makeRecord({ accountId: "old", atMs })));
    expect(await store.deleteBefore(NOON - 78 * DAY, 500)).toBe(2);
    const span = { fromMs: NOON - 100 * DAY, toMs: NOON + DAY, step: "day" as const };
    const { bars: left } = await log.histogram({ accountId: "old", tier: TIERS[2] }, span);
    expect(left).toEqual([{ startMs: Math.floor(NOON / DAY) * DAY, requests: 1, errors: 0 }]);
    expect(await db.query("SELECT start_at FROM request_counts WHERE account_id = 'old'")).toHaveLength(2);
  });
});
