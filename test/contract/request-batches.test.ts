// Batches of request records on every store: a batch keeps only what it writes, and that is enough to take it apart.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { RequestRecord } from "../../src/core/requests/records.ts";
import type { RecordStore, WaitingRecord } from "../../src/core/requests/waiting.ts";
import { openDb } from "../../src/store/db.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { createToolCallLog } from "../../src/store/requests/tool-call-tallies.ts";
import { createRecordStore } from "../../src/store/requests/write.ts";
import { SILENT_LOG } from "../../src/telemetry/log.ts";
import { createRecorder } from "../../src/telemetry/recorder.ts";
import { makeRecord, NOON, variedRecord } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const TOOL_CALLS = { calls: 3, parsed: 3, known: 2, valid: 1 };
const DAY = 24 * 3_600_000;

await describeStores("batches of request records", ({ url }) => {
  let db: Db;
  let store: RecordStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createRecordStore(db);
  });
  afterAll(() => db.close());

  function batchOf(...parts: readonly (readonly WaitingRecord[])[]) {
    const batch = store.newBatch();
    for (const part of parts) batch.add(part);
    return batch;
  }

  test("give back what was added, before and after they are written", async () => {
    const flat = Array.from({ length: 120 }, (_, n) =>
      store.flatten({ ...variedRecord(n), toolCalls: n % 5 === 0 ? TOOL_CALLS : null }),
    );
    const batch = batchOf(flat.slice(0, 50), flat.slice(50, 53), flat.slice(53, 54), flat.slice(54));
    expect(batch.count).toBe(120);
    expect(batch.contents.length).toBe(60);
    const plain = (records: readonly WaitingRecord[]) =>
      records.map((record) => ({ ...record, detail: Buffer.from(record.detail).toString() }));
    expect(plain(batch.records())).toEqual(plain(flat));
    expect(batch.written()).toEqual(flat.map(({ accountId, summary }) => ({ accountId, summary })));
    await store.write(batch);
    expect(plain(batch.records())).toEqual(plain(flat));
    batch.free();
  });

  /** Everything that pages and totals say of an account, but for what two equal requests differ in. */
  async function shownOf(accountId: string) {
    const log = createRequestLog(db);
    const listed = await log.list({ accountId }, { limit: 200, after: null });
    const range = { accountId, fromMs: NOON, toMs: NOON + DAY } as const;
    const usage = createUsageLog(db);
    const found = await log.list({ accountId, words: "thunderstorms" }, { limit: 200, after: null });
    return {
      listed: listed.map((summary) => ({ ...summary, id: "", requestId: "" })),
      found: found.length,
      histogram: await log.histogram({ accountId }, { fromMs: NOON, toMs: NOON + DAY, step: "hour" }),
      usage: (await usage.read({ ...range, step: "hour", group: "model" })).rows,
      failures: (await usage.failures({ ...range, step: "total" })).rows,
      toolCalls: (await createToolCallLog(db).ofAccount(accountId)).map((tally) => ({ ...tally, accountId: "" })),
    };
  }

  /** The same for each account. */
  function recordsOf(accountId: string): readonly RequestRecord[] {
    return Array.from({ length: 90 }, (_, n) => {
      const record = variedRecord(n);
      const { decision } = record;
      if (n % 5 > 0 || decision === null) return { ...record, accountId };
      return { ...record, accountId, decision: { ...decision, toolScenario: "single" }, toolCalls: TOOL_CALLS };
    });
  }

  test("that the database refuses are written record by record, and count as before", async () => {
    const bad = makeRecord({ accountId: "apart" });
    const dropped: unknown[] = [];
    const picky: RecordStore = {
      ...store,
      write: (batch) =>
        batch.count > 1 || batch.records()[0]?.summary.id === bad.id
          ? Promise.reject(new Error("refused"))
          : store.write(batch),
    };
    const recorder = createRecorder({
      store: picky,
      log: SILENT_LOG,
      onDrop: (reason, count) => void dropped.push([reason, count]),
    });
    const apart = recordsOf("apart");
    for (const record of [...apart.slice(0, 40), bad, ...apart.slice(40)]) recorder.add(record);
    await recorder.flush();
    await store.write(batchOf(recordsOf("whole").map(store.flatten)));
    expect(dropped).toEqual([["refused", 1]]);
    const whole = await shownOf("whole");
    expect([whole.listed.length, whole.found > 0, whole.failures.length, whole.toolCalls.length]).not.toContain(0);
    expect(await shownOf("apart")).toEqual(whole);
  });

  test("that come twice are refused as a whole", async () => {
    const flat = Array.from({ length: 60 }, () => store.flatten(makeRecord({ accountId: "twice" })));
    const batch = batchOf(flat.slice(0, 50), flat.slice(50));
    await store.write(batch);
    await expect(store.write(batch)).rejects.toThrow();
    expect((await shownOf("twice")).usage.map(({ requests }) => requests)).toEqual([60]);
  });
});
