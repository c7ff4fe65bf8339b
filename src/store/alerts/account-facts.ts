// Money and traffic of all accounts, for the watch: the wallets, and the totals by hour and day.

import type { BillingMode } from "../../core/accounts.ts";
import type { AccountFacts, AccountFactsStore, HourFacts } from "../../core/alerts/events.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import { ALL_KEYS, SPAN_MS } from "../requests/totals.ts";

/** `reader` sees the database and the request log. */
export function createAccountFactsStore(
  reader: Db,
  billingModeOf: (accountId: string) => BillingMode,
): AccountFactsStore {
  return {
    async read(nowMs) {
      const today = Math.floor(nowMs / SPAN_MS.day) * SPAN_MS.day;
      const thisHour = Math.floor(nowMs / SPAN_MS.hour) * SPAN_MS.hour;
      const wallets = await reader.query(WALLETS);
      const hours = hoursOf(await reader.query(HOURS, [ALL_KEYS.hour, thisHour - SPAN_MS.day]));
      const weeks = await reader.query(WEEKS, [ALL_KEYS.day, today - 7 * SPAN_MS.day, today]);
      const charges = new Map(weeks.map((row) => [String(row.account_id), BigInt(row.charge as number)]));
      return wallets.map((row): AccountFacts => {
        const id = String(row.id);
        return {
          id,
          name: String(row.name),
          isPrepaid: billingModeOf(id) === "prepaid",
          available: row.available === null ? null : BigInt(row.available as number),
          hours: hours.get(id) ?? new Map(),
          weekCharge: charges.get(id) ?? 0n,
        };
      });
    },
  };
}

const WALLETS = `SELECT a.id, a.name, CAST(w.posted - w.held AS BIGINT) AS available
  FROM accounts a LEFT JOIN wallets w ON w.account_id = a.id ORDER BY a.id`;

/** Statuses below 500 are faults of the client, unless an answer that had begun well broke off. */
const HOURS = `SELECT r.account_id, r.start_at, CAST(SUM(r.requests) AS BIGINT) AS requests,
  CAST(SUM(CASE WHEN r.status >= 500 OR r.status < 400 THEN r.errors ELSE 0 END) AS BIGINT) AS failures,
  CAST(SUM(r.fallbacks) AS BIGINT) AS fallbacks, CAST(SUM(r.charge) AS BIGINT) AS charge
  FROM accounts a JOIN request_rollups r ON r.account_id = a.id AND r.span = $1 AND r.start_at >= $2
  GROUP BY r.account_id, r.start_at`;

const WEEKS = `SELECT r.account_id, CAST(SUM(r.charge) AS BIGINT) AS charge
  FROM accounts a JOIN request_rollups r ON r.account_id = a.id AND r.span = $1 AND r.start_at >= $2 AND r.start_at < $3
  GROUP BY r.account_id`;

function hoursOf(rows: readonly SqlRow[]): ReadonlyMap<string, ReadonlyMap<number, HourFacts>> {
  const byAccount = new Map<string, Map<number, HourFacts>>();
  for (const row of rows) {
    const id = String(row.account_id);
    const hours = byAccount.get(id) ?? new Map<number, HourFacts>();
    byAccount.set(id, hours);
    hours.set(Number(row.start_at), {
      requests: Number(row.requests),
      failures: Number(row.failures),
      fallbacks: Number(row.fallbacks),
      charge: BigInt(row.charge as number),
    });
  }
  return byAccount;
}
