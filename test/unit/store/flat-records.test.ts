// A record that waits to be written: whatever waits is copied by the garbage collector, so it must be little.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../../src/core/db.ts";
import { openDb } from "../../../src/store/db.ts";
import { createRecordStore } from "../../../src/store/requests/write.ts";
import { makeRecord } from "../../support/stores/records.ts";

let db: Db;
beforeAll(async () => {
  db = await openDb("sqlite::memory:");
});
afterAll(() => db.close());

test("keeps alive nothing of what the request was made of", () => {
  const record = makeRecord();
  const reached = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || reached.has(value)) return;
    reached.add(value);
    if (!ArrayBuffer.isView(value)) Object.values(value).forEach(visit);
  };
  visit(createRecordStore(db).flatten(record));
  const { decision, attempts, features, cost } = record;
  expect([decision, attempts, features, cost].filter((part) => reached.has(part))).toEqual([]);
  // The record itself, its summary, the detail's bytes, the tokens, and what is shared where there are none.
  expect(reached.size).toBeLessThanOrEqual(6);
});

test("a batch that was written gives its memory back, and harms no other", () => {
  const store = createRecordStore(db);
  const fill = () => {
    const batch = store.newBatch();
    batch.add(Array.from({ length: 50 }, () => store.flatten(makeRecord())));
    return batch;
  };
  const bytesOf = ({ statements }: ReturnType<typeof fill>) =>
    statements
      .flatMap(({ packed }) => packed?.values ?? [])
      .reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0);
  const [written, waiting] = [fill(), fill()];
  const records = waiting.records();
  const bytes = bytesOf(waiting);
  expect(bytes).toBeGreaterThan(20_000);
  written.free();
  // A few small parts share their memory with other buffers.
  expect(bytesOf(written)).toBeLessThan(bytes / 3);
  expect(bytesOf(waiting)).toBe(bytes);
  expect(waiting.records()).toEqual(records);
});
