// The last comparison of prices in the database, so that every process shows the same one.

import type { PriceCheck, PriceCheckStore } from "../../catalog/prices/check.ts";
import type { Db } from "../../core/db.ts";

export function createPriceCheckStore(db: Db): PriceCheckStore {
  return {
    async read() {
      const [row] = await db.query("SELECT check_json FROM price_checks WHERE id = 1");
      return row === undefined ? null : (JSON.parse(String(row.check_json)) as PriceCheck);
    },
    async write(check) {
      await db.query(WRITE, [JSON.stringify(check)]);
    },
  };
}

const WRITE =
  "INSERT INTO price_checks (id, check_json) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET check_json = excluded.check_json";
