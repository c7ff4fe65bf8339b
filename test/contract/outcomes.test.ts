// Shadow samples on every store: one budget for all processes, and samples with the marks of their requests.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { OutcomeStore, ShadowSample } from "../../src/core/requests/outcomes.ts";
import { openDb } from "../../src/store/db.ts";
import { createOutcomeStore } from "../../src/store/requests/outcomes.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createRecordStore, makeRecord, NOON } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("outcomes", ({ url }) => {
  let dbs: readonly Db[];
  let stores: readonly OutcomeStore[];
  beforeAll(async () => {
    const first = await openDb(url);
    await first.migrate();
    // Another process has connections of its own; a database in memory has but one.
    dbs = url.endsWith(":memory:") ? [first] : [first, await openDb(url)];
    stores = dbs.map((db) => createOutcomeStore({ db, log: db, reader: db }));
  });
  afterAll(() => Promise.all(dbs.map((db) => db.close())));
  const store = (): OutcomeStore => stores[0] as OutcomeStore;

  test("the budget of a day is one, however many processes take from it", async () => {
    const day = { profileId: "p", day: "2026-01-31" };
    const asked = Array.from({ length: 40 }, (_, at) =>
      (stores[at % stores.length] as OutcomeStore).take(day, 3n, 30n),
    );
    const taken = (await Promise.all(asked)).filter((isTaken) => isTaken);
    expect(taken).toHaveLength(10);
    expect((await store().spentOn("2026-01-31")).get("p")).toBe(30n);
    await store().settle(day, 3n, 1n);
    expect((await store().spentOn("2026-01-31")).get("p")).toBe(28n);
    expect(await store().take(day, 3n, 30n)).toBe(false);
    expect(await store().take(day, 2n, 30n)).toBe(true);
    expect(await store().take({ ...day, day: "2026-02-01" }, 30n, 30n)).toBe(true);
    expect(await store().take({ ...day, profileId: "other" }, 31n, 30n)).toBe(false);
  });

  test("a sample comes back with its marks, and goes with its request", async () => {
    const db = dbs[0] as Db;
    const records = createRecordStore(db);
    const log = createRequestLog(db);
    const record = makeRecord({ accountId: "sampled", atMs: NOON });
    await records.write([record]);
    const sample: ShadowSample = {
      ...{ id: record.id, accountId: "sampled", profileId: "p", atMs: NOON, tier: "LIGHT", category: "math" },
      live: { model: "small", outputTokens: 5, latencyMs: 100, cost: 10n },
      second: { model: "large", outputTokens: 7, latencyMs: 300, cost: 2n ** 60n },
      verdict: "unclear",
      similarity: 0.25,
      answer: "a\u0000b",
    };
    await store().add(sample);
    await log.rate("sampled", record.id, { score: 0.5, tier: null, comment: null, keyId: "k", atMs: 1 });
    const { accountId, answer, ...kept } = sample;
    const [read] = await store().samples(accountId, NOON, 10);
    expect(read).toEqual({ ...kept, requestId: record.requestId, markedTier: null, score: 0.5 });
    expect(await store().samples(accountId, NOON + 1, 10)).toEqual([]);
    expect(await store().samples("another", 0, 10)).toEqual([]);
    const { second, verdict, similarity } = sample;
    const shown = { second, verdict, similarity, answer: answer?.replace("\u0000", "\ufffd") };
    expect((await log.find(accountId, record.id))?.sample).toEqual(shown);
    await records.deleteBefore(NOON + 1, 500);
    expect(await store().samples(accountId, 0, 10)).toEqual([]);
  });
});
