// A page of a long log opens in time on every store. Small by default; SWITCHYARD_TEST_SCALE=50 makes 100,000 requests of it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { RequestFilter, UsageQuery } from "../../src/core/requests/log.ts";
import { openDb } from "../../src/store/db.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { promisedMs } from "../support/random.ts";
import { createRecordStore, makeRecord, NOON, variedRecord } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const SCALE = Number(process.env.SWITCHYARD_TEST_SCALE ?? 1);
const COUNT = 2_000 * SCALE;
const DAY = 24 * 3_600_000;
/** A month, however many there are. */
const STEP_MS = Math.floor((30 * DAY) / COUNT);
const PAGE_MS = promisedMs(300);

await describeStores(`${COUNT} request records`, ({ url }) => {
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    const store = createRecordStore(db);
    for (let n = 0; n < COUNT; n += 500) {
      await store.write(
        Array.from({ length: Math.min(500, COUNT - n) }, (_, index) =>
          variedRecord(n + index, NOON + (n + index) * (STEP_MS - 1_000)),
        ),
      );
    }
    const { content } = variedRecord(2);
    await store.write([1, 2, 3].map((n) => makeRecord({ accountId: "few", atMs: NOON + n * 9 * DAY, content })));
    if (db.kind === "postgres") await db.query("VACUUM ANALYZE");
  }, 600_000);
  afterAll(() => db.close());

  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    await work();
    let bestMs = Number.POSITIVE_INFINITY;
    // The best of several: a slow query is slow every time, a busy machine is not.
    for (let tries = 0; tries < 20 && bestMs >= PAGE_MS; tries += 1) {
      const begin = performance.now();
      await work();
      bestMs = Math.min(bestMs, performance.now() - begin);
    }
    return bestMs;
  };

  describe("a page of the log", () => {
    const filters: readonly [string, Partial<RequestFilter>][] = [
      ["all", {}],
      ["a tier", { tier: "COMPLEX" }],
      ["a model", { model: "model-3" }],
      ["a model that never answered", { model: "model-x" }],
      ["a key", { keyId: "key_7" }],
      ["a category", { category: "translation" }],
      ["one status", { status: { kind: "exact", statuses: [402] } }],
      ["a status that never was", { status: { kind: "exact", statuses: [418] } }],
      ["a class", { status: { kind: "class", hundreds: 4 } }],
      ["errors", { status: { kind: "error" } }],
      ["fallbacks", { isFallback: true }],
      ["fallbacks of a key and tier that have none", { isFallback: true, keyId: "key_1", tier: "NANO" }],
      ["a later try", { answeredAt: ["second", "later"] }],
      ["the first try", { answeredAt: ["first"] }],
      ["a provider that failed", { failedProvider: "mill" }],
      ["a week in the middle", { fromMs: NOON + 10 * DAY, toMs: NOON + 17 * DAY }],
      ["a request id", { requestIdStart: "req_00000000000000000000007b" }],
      ["a word that every second request has", { words: "weather" }],
      ["such a word, of an account with few requests", { words: "weather", accountId: "few" }],
      ["the beginning of every request id", { requestIdStart: "req" }],
      ["the beginning of none", { requestIdStart: "none" }],
    ];
    test.each(filters)("filtered by %s opens in time", async (what, filter) => {
      const log = createRequestLog(db);
      const tookMs = await timed(() => log.list({ accountId: "default", ...filter }, { limit: 51, after: null }));
      if (SCALE > 1) console.log(`${db.kind} ${what}: ${tookMs.toFixed(1)} ms`);
      expect(tookMs).toBeLessThan(PAGE_MS);
    });
  });

  test.each([
    ["a month by day", { step: "day", group: null }],
    ["a month by day and model", { step: "day", group: "model" }],
    ["a week by hour and tier", { step: "hour", group: "tier", toMs: NOON + 7 * DAY }],
    ["a month in one", { step: "total", group: null }],
  ] as const)("totals over %s come in time", async (what, query) => {
    const usage = createUsageLog(db);
    const range: UsageQuery = { accountId: "default", fromMs: NOON, toMs: NOON + 30 * DAY, ...query };
    const tookMs = await timed(() => usage.read(range));
    if (SCALE > 1) console.log(`${db.kind} ${what}: ${tookMs.toFixed(1)} ms`);
    expect(tookMs).toBeLessThan(PAGE_MS);
  });
});
