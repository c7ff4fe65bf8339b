// How many tool calls of each model and scenario could be used, by account, counted as requests are recorded.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { ToolScenario } from "../../core/model.ts";
import type { ToolCallLog } from "../../core/requests/log.ts";
import type { RequestRecord, ToolCallTally } from "../../core/requests/records.ts";
import { createInsert } from "../dialect.ts";

const TABLE = "request_tool_calls";
const NAMES = ["account_id", "model", "scenario"] as const;
const SUMS = ["calls", "parsed", "known", "valid"] as const;

/** Beyond so many calls all counts are halved: what a model did long ago fades, good or bad. */
export const CALLS_KEPT = 400;

export interface TallyWriter {
  statements(records: readonly RequestRecord[]): readonly Statement[];
}

export function createTallyWriter(kind: Db["kind"]): TallyWriter {
  const columns = [
    ...NAMES.map((name) => ({ name, type: "TEXT" as const })),
    ...SUMS.map((name) => ({ name, type: "BIGINT" as const })),
  ];
  const sum = (name: string) => `${TABLE}.${name} + excluded.${name}`;
  const faded = (name: string) => `(${sum(name)}) / (CASE WHEN ${sum("calls")} > ${CALLS_KEPT} THEN 2 ELSE 1 END)`;
  const insert = createInsert(
    kind,
    TABLE,
    columns,
    `ON CONFLICT (${NAMES.join(", ")}) DO UPDATE SET ${SUMS.map((name) => `${name} = ${faded(name)}`).join(", ")}`,
  );
  return {
    statements(records) {
      const rows = tally(records).map(({ accountId, model, scenario, ...check }) => [
        accountId,
        model,
        scenario,
        ...SUMS.map((name) => check[name]),
      ]);
      return rows.length === 0 ? [] : [insert(rows)];
    },
  };
}

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

function tally(records: readonly RequestRecord[]): readonly ToolCallTally[] {
  const tallies = new Map<string, ToolCallTally>();
  for (const { accountId, toolCalls, answeredBy, decision } of records) {
    const scenario = decision?.toolScenario ?? null;
    if (toolCalls === null || toolCalls.calls === 0 || answeredBy === null || scenario === null) continue;
    const name = `${accountId}\n${answeredBy.model}\n${scenario}`;
    const before = tallies.get(name);
    tallies.set(name, {
      accountId,
      model: answeredBy.model,
      scenario,
      calls: toolCalls.calls + (before?.calls ?? 0),
      parsed: toolCalls.parsed + (before?.parsed ?? 0),
      known: toolCalls.known + (before?.known ?? 0),
      valid: toolCalls.valid + (before?.valid ?? 0),
    });
  }
  return [...tallies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
