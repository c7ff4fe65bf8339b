// The last price check in the database, so that every process shows the same one, and the turn to make the next.

import { NO_CHECK, type PriceCheck, type PriceCheckStore } from "../../catalog/prices/check.ts";
import type { Db } from "../../core/db.ts";

export function createPriceCheckStore(db: Db): PriceCheckStore {
  return {
    async read() {
      const [row] = await db.query("SELECT check_json FROM price_checks WHERE id = 2");
      return row === undefined ? NO_CHECK : (JSON.parse(String(row.check_json)) as PriceCheck);
    },
    async write(check) {
      await db.query(WRITE, [JSON.stringify(check)]);
    },
    async claim(nowMs, untilMs) {
      return (await db.query(CLAIM, [nowMs, untilMs])).length > 0;
    },
  };
}

/** Row 1 is of version 0.1.0, which compared with one list. */
const WRITE =
  "INSERT INTO price_checks (id, check_json) VALUES (2, $1) ON CONFLICT (id) DO UPDATE SET check_json = excluded.check_json";

const CLAIM =
  "INSERT INTO price_turns (id, next_at) VALUES (1, $2) ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at WHERE price_turns.next_at <= $1 RETURNING id";
