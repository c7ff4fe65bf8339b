// Reads how many tool calls of each model and scenario were usable, by account.

import type { Db, SqlRow } from "../../core/db.ts";
import type { ToolScenario } from "../../core/model.ts";
import type { ToolCallLog } from "../../core/requests/log.ts";
import type { ToolCallTally } from "../../core/requests/records.ts";

const TABLE = "request_tool_calls";

/** Written with the records (totals.ts); read for routing and for the dashboard. */
export function createToolCallLog(db: Db): ToolCallLog {
  return {
    async ofAccount(accountId) {
      const sql = `SELECT * FROM ${TABLE} WHERE account_id = $1 ORDER BY model, scenario`;
      return (await db.query(sql, [accountId])).map(readTally);
    },
    async withAtLeast(calls) {
      const sql = `SELECT * FROM ${TABLE} WHERE calls >= $1 ORDER BY account_id, model, scenario`;
      return (await db.query(sql, [calls])).map(readTally);
    },
    async shared(mostPerAccount) {
      // Whole numbers, in doubt for the model: of many calls hardly any bad one is left.
      const share = (count: string) => `CASE WHEN calls > $1 THEN (${count}) * $1 / calls ELSE ${count} END`;
      const rows = await db.query(
        `SELECT model, scenario, SUM(made) AS calls, SUM(made) - SUM(bad) + MAX(bad) AS valid
         FROM (SELECT model, scenario, ${share("calls")} AS made, ${share("calls - valid")} AS bad FROM ${TABLE}) AS shares
         GROUP BY model, scenario ORDER BY model, scenario`,
        [mostPerAccount],
      );
      return rows.map((row) => ({ ...readName(row), calls: Number(row.calls), valid: Number(row.valid) }));
    },
  };
}

function readName(row: SqlRow): Pick<ToolCallTally, "model" | "scenario"> {
  return { model: String(row.model), scenario: row.scenario as ToolScenario };
}

function readTally(row: SqlRow): ToolCallTally {
  return {
    accountId: String(row.account_id),
    ...readName(row),
    calls: Number(row.calls),
    parsed: Number(row.parsed),
    known: Number(row.known),
    valid: Number(row.valid),
  };
}
