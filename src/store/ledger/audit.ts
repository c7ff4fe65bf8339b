// Reads the ledger for an audit, page by page, without locking anything.

import type { AuditedTransaction, LedgerAudit } from "../../core/audit/ledger.ts";
import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import type { Charge } from "../../core/ledger.ts";
import type { Price } from "../../core/money.ts";
import { toTransaction, toWallet } from "./ledger.ts";

/** Transactions per query, so that an audit of millions of rows does not fill the memory. */
const PAGE = 1_000;
/** Reported examples. This many are enough to find the cause. */
const STRAYS_MAX = 20;

/** Queries that find wrong rows. The first column names them. */
const STRAYS: readonly (readonly [string, string])[] = [
  [
    "hold has no wallet",
    "SELECT h.id FROM holds h LEFT JOIN wallets w ON w.account_id = h.account_id WHERE w.account_id IS NULL",
  ],
  [
    "lease has no wallet",
    "SELECT l.owner || ' ' || l.account_id AS name FROM leases l LEFT JOIN wallets w ON w.account_id = l.account_id WHERE w.account_id IS NULL",
  ],
  [
    "hold is settled without a charge",
    "SELECT h.id FROM holds h LEFT JOIN charges c ON c.hold_id = h.id WHERE h.state = 'settled' AND c.hold_id IS NULL",
  ],
  [
    "transaction charges a hold that is not settled",
    `SELECT t.id FROM ledger_transactions t LEFT JOIN holds h ON h.id = t.hold_id LEFT JOIN charges c ON c.hold_id = t.hold_id
     WHERE t.hold_id IS NOT NULL AND CASE WHEN c.is_reserved = 1 THEN h.id IS NOT NULL ELSE COALESCE(h.state, '') <> 'settled' END`,
  ],
  [
    "charge has no transaction",
    "SELECT c.hold_id FROM charges c LEFT JOIN ledger_transactions t ON t.id = 'charge:' || c.hold_id WHERE t.id IS NULL",
  ],
  [
    "entry has no transaction",
    "SELECT e.account_id || ' ' || CAST(e.sequence AS TEXT) AS name FROM ledger_entries e LEFT JOIN ledger_transactions t ON t.account_id = e.account_id AND t.sequence = e.sequence WHERE t.id IS NULL",
  ],
  [
    "key has spent more before its period than ever",
    "SELECT key_id FROM key_spends WHERE spent_before < 0 OR spent_before > spent",
  ],
  [
    "actor of a transaction that is not there",
    "SELECT a.transaction_id FROM ledger_actors a LEFT JOIN ledger_transactions t ON t.id = a.transaction_id WHERE t.id IS NULL",
  ],
  [
    "transaction is beyond the end of its wallet",
    "SELECT t.id FROM ledger_transactions t LEFT JOIN wallets w ON w.account_id = t.account_id WHERE w.account_id IS NULL OR t.sequence > w.sequence",
  ],
  [
    "budget has other leases than its counter says",
    `SELECT id FROM (
       SELECT id, leased FROM budget_counters UNION ALL SELECT counter_id, -amount FROM budget_leases
     ) AS sums GROUP BY id HAVING SUM(leased) <> 0`,
  ],
  [
    "budget has other holds than its counter says",
    `SELECT id FROM (
       SELECT id, held FROM budget_counters
       UNION ALL SELECT b.counter_id, -b.amount FROM hold_budgets b JOIN holds h ON h.id = b.hold_id WHERE h.state = 'open'
     ) AS sums GROUP BY id HAVING SUM(held) <> 0`,
  ],
  [
    "key has other holds or spending than its record says",
    `SELECT key_id FROM (
       SELECT key_id, spent, held FROM key_spends
       UNION ALL SELECT h.key_id, -COALESCE(c.paid, 0), CASE WHEN h.state = 'open' THEN -h.amount ELSE 0 END
       FROM holds h LEFT JOIN charges c ON c.hold_id = h.id WHERE h.is_limited = 1
     ) AS sums GROUP BY key_id HAVING SUM(spent) <> 0 OR SUM(held) <> 0`,
  ],
];

/** Reads without locks, so that requests go on. */
export function createLedgerAudit(db: Db): LedgerAudit {
  return {
    async wallets() {
      const rows = await db.query(
        `SELECT w.*, COALESCE(h.total, 0) AS open_holds, COALESCE(h.number, 0) AS open_hold_count,
           CAST(COALESCE(l.total, 0) AS BIGINT) AS leases FROM wallets w
         LEFT JOIN (SELECT account_id, CAST(SUM(CASE WHEN is_metered = 1 THEN 0 ELSE amount END) AS BIGINT) AS total, COUNT(*) AS number FROM holds
                    WHERE state = 'open' GROUP BY account_id) h ON h.account_id = w.account_id
         LEFT JOIN (SELECT account_id, SUM(amount) AS total FROM leases GROUP BY account_id) l ON l.account_id = w.account_id
         ORDER BY w.account_id`,
      );
      return rows.map((row) => ({
        wallet: toWallet(row),
        openHolds: BigInt(row.open_holds as number),
        openHoldCount: Number(row.open_hold_count),
        leases: BigInt(row.leases as number),
      }));
    },
    async transactions(accountId, afterSequence, upToSequence) {
      const last = Math.min(upToSequence, afterSequence + PAGE);
      const range = [accountId, afterSequence, last];
      const where = "t.account_id = $1 AND t.sequence > $2 AND t.sequence <= $3";
      const rows = await db.query(
        `SELECT t.*, h.state AS hold_state FROM ledger_transactions t LEFT JOIN holds h ON h.id = t.hold_id
         WHERE ${where} ORDER BY t.sequence`,
        range,
      );
      const entries = await db.query(`SELECT t.* FROM ledger_entries t WHERE ${where}`, range);
      const charges = await db.query(
        `SELECT c.* FROM charges c JOIN ledger_transactions t ON t.hold_id = c.hold_id WHERE ${where}`,
        range,
      );
      return join(rows, entries, charges);
    },
    async strays() {
      const found: string[] = [...(await db.problems())];
      for (const [what, sql] of STRAYS) {
        const rows = await db.query(`${sql} LIMIT ${STRAYS_MAX}`);
        found.push(...rows.map((row) => `${what}: ${String(Object.values(row)[0])}`));
      }
      return found;
    },
  };
}

/** Joins transactions with their entries and charges. */
function join(
  rows: readonly SqlRow[],
  entries: readonly SqlRow[],
  charges: readonly SqlRow[],
): readonly AuditedTransaction[] {
  const entriesBySequence = new Map<SqlValue | undefined, SqlRow[]>(rows.map((row) => [row.sequence, []]));
  for (const entry of entries) entriesBySequence.get(entry.sequence)?.push(entry);
  const chargeByHold = new Map(charges.map((charge) => [charge.hold_id, charge]));
  return rows.map((row) => {
    const charge = chargeByHold.get(row.hold_id ?? "");
    return {
      transaction: toTransaction(row, entriesBySequence.get(row.sequence) ?? []),
      charge: charge === undefined ? null : readCharge(charge),
      holdState: row.hold_state === null ? null : String(row.hold_state),
    };
  });
}

/** Reads a charge. Returns null for a malformed one, which the audit reports. */
function readCharge(row: SqlRow): Charge | null {
  try {
    return toCharge(row);
  } catch {
    return null;
  }
}

function toCharge(row: SqlRow): Charge {
  return {
    holdId: String(row.hold_id),
    accountId: String(row.account_id),
    keyId: String(row.key_id),
    charge: BigInt(row.charge as number),
    paid: BigInt(row.paid as number),
    absorbed: BigInt(row.absorbed as number),
    isReserved: Number(row.is_reserved) === 1,
    usage: {
      requestId: String(row.request_id),
      model: String(row.model),
      provider: String(row.provider),
      buckets: {
        input: Number(row.input_tokens),
        cacheRead: Number(row.cache_read_tokens),
        cacheWrite: Number(row.cache_write_tokens),
        output: Number(row.output_tokens),
      },
      isEstimated: Number(row.is_estimated) === 1,
      price: JSON.parse(String(row.price_json)) as Price,
      markupPpm: Number(row.markup_ppm),
      outcome: row.outcome as Charge["usage"]["outcome"],
    },
  };
}
