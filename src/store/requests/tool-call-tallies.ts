// Usable tool calls of each model and scenario, by account: summed from the records of a batch when it is
// written, and read for routing and for the dashboard.

import type { Db, SqlRow } from "../../core/db.ts";
import type { ToolScenario } from "../../core/model.ts";
import type { ToolCallLog } from "../../core/requests/log.ts";
import type { ToolCallTally } from "../../core/requests/records.ts";
import type { WaitingRecord } from "../../core/requests/waiting.ts";
import { type InsertShape, integer, text } from "../dialect.ts";

const TABLE = "request_tool_calls";

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
      // Rounds in favour of the model: of many calls hardly any bad one remains.
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

/** Calls after which all counts are halved, so that old calls matter less. */
const CALLS_KEPT = 400;

const TALLY_SUMS = ["calls", "parsed", "known", "valid"] as const;

export const TOOL_CALLS: InsertShape<ToolCallTally> = {
  table: TABLE,
  columns: {
    account_id: text((tally) => tally.accountId),
    model: text((tally) => tally.model),
    scenario: text((tally) => tally.scenario),
    calls: integer((tally) => tally.calls),
    parsed: integer((tally) => tally.parsed),
    known: integer((tally) => tally.known),
    valid: integer((tally) => tally.valid),
  },
  onConflict: `ON CONFLICT (account_id, model, scenario)
    DO UPDATE SET ${TALLY_SUMS.map((name) => `${name} = ${fadedSql(name)}`).join(", ")}`,
};

function fadedSql(name: string): string {
  const sum = (column: string): string => `${TABLE}.${column} + excluded.${column}`;
  return `(${sum(name)}) / (CASE WHEN ${sum("calls")} > ${CALLS_KEPT} THEN 2 ELSE 1 END)`;
}

export function tallyToolCalls(
  tallies: Map<string, ToolCallTally>,
  { accountId, toolCalls, summary }: WaitingRecord,
): void {
  const { model, toolScenario } = summary;
  if (toolCalls === null || toolCalls.calls === 0 || model === null || toolScenario === null) return;
  const name = `${accountId}\n${model}\n${toolScenario}`;
  const before = tallies.get(name);
  tallies.set(name, {
    accountId,
    model,
    scenario: toolScenario as ToolScenario,
    calls: toolCalls.calls + (before?.calls ?? 0),
    parsed: toolCalls.parsed + (before?.parsed ?? 0),
    known: toolCalls.known + (before?.known ?? 0),
    valid: toolCalls.valid + (before?.valid ?? 0),
  });
}
