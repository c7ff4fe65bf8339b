// The last price check and the turn to make the next, on both databases.

import { afterAll, beforeAll, expect, it } from "vitest";
import { NO_CHECK, type PriceCheckStore } from "../../src/catalog/prices/check.ts";
import type { Db } from "../../src/core/db.ts";
import { openDb } from "../../src/store/db.ts";
import { createPriceCheckStore } from "../../src/store/versions/price-checks.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("price checks", ({ url }) => {
  let db: Db;
  let checks: PriceCheckStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    checks = createPriceCheckStore(db);
  });
  afterAll(() => db.close());

  it("one of several processes gets the turn, and the next one when it is over", async () => {
    const claims = await Promise.all(Array.from({ length: 5 }, () => checks.claim(1_000, 2_000)));
    expect(claims.filter(Boolean)).toEqual([true]);
    expect(await checks.claim(1_999, 3_000)).toBe(false);
    expect(await checks.claim(2_000, 3_000)).toBe(true);
    // The process that has the turn says how long it lasts.
    expect(await checks.claim(Number.MAX_SAFE_INTEGER, 9_000)).toBe(true);
    expect(await checks.claim(8_999, 9_500)).toBe(false);
  });

  it("the last check is kept", async () => {
    expect(await checks.read()).toEqual(NO_CHECK);
    for (const atMs of [1, 2]) {
      await checks.write({ ...NO_CHECK, atMs });
      expect(await checks.read()).toEqual({ ...NO_CHECK, atMs });
    }
  });
});
