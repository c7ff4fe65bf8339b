// The demo on every store: its bookings have the times of its requests, and the audit finds nothing.

import { expect, test } from "vitest";
import { verifyLedger } from "../../src/billing/verify.ts";
import { fillWithDemo } from "../../src/demo/fill.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerList } from "../../src/store/ledger/list.ts";
import { describeStores } from "../support/stores/stores.ts";

const NOW = Date.UTC(2026, 4, 20, 15, 30);
const DAY_MS = 24 * 60 * 60 * 1000;

await describeStores("the demo", ({ url }) => {
  test("books in order, at the time of the requests", async () => {
    const db = await openDb(url);
    try {
      await db.migrate();
      const { booked } = await fillWithDemo(
        { db, log: db },
        {
          ...{ requests: 120, days: 30, seed: 1, nowMs: NOW, bookedMax: 60 },
          onProgress: () => undefined,
        },
      );
      expect(booked).toBeGreaterThan(40);
      expect(await verifyLedger(createLedgerAudit(db))).toMatchObject({ ok: true, openHolds: 0 });
      const lines = await createLedgerList(db).list("default", { limit: 500, after: null });
      const times = lines.map(({ createdAtMs }) => createdAtMs).toReversed();
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]).toBe(NOW - 30 * DAY_MS);
      expect(times.at(-1)).toBeLessThan(NOW);
      const months = await createLedgerList(db).months("default", { limit: 5, after: null });
      expect(months.map(({ id, topUps }) => [id, topUps > 0n])).toEqual([
        ["2026-05", true],
        ["2026-04", true],
      ]);
    } finally {
      await db.close();
    }
  });
});
