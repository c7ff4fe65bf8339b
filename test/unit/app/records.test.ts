// Records of a busy gateway: SQLite's thread collects what it commits, and must get enough to collect.

import { expect, test, vi } from "vitest";
import { openRecords } from "../../../src/app/records.ts";
import { inOne } from "../../../src/app/worker.ts";
import type { Db } from "../../../src/core/db.ts";
import { openDb } from "../../../src/store/db.ts";
import { makeRecord } from "../../support/stores/records.ts";

/** As the recorder writes them together. */
const BATCH = 500;

test("gives SQLite four batches before it commits the first", async () => {
  const db = await openDb("sqlite::memory:");
  await db.migrate();
  const ends: (() => void)[] = [];
  const slow: Db = { ...db, batch: () => new Promise((resolve) => void ends.push(() => resolve([]))) };
  const metrics = { recordsDropped: vi.fn(), recordsWaiting: vi.fn(), storeError: vi.fn() };
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const logging = () => ({ logLevel: "silent", logContent: false, retentionDays: 0, auditRetentionDays: 365 }) as const;
  const records = await openRecords(
    { ...inOne(db), log: slow },
    { logging, log, metrics, now: Date.now, worker: null },
  );
  for (let count = 0; count < 4 * BATCH; count += 1) records.recorder.add(makeRecord());
  await vi.waitFor(() => expect(ends).toHaveLength(4), 120_000);
  for (const end of ends) end();
  await records.close();
  expect(metrics.recordsDropped).not.toHaveBeenCalled();
  await db.close();
});
