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
