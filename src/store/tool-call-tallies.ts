// How many tool calls of each model and scenario could be used, counted as requests are recorded.

import type { ToolScenario } from "../core/model.ts";
import type { Db, Statement } from "../core/ports.ts";
import type { RequestRecord, ToolCallTally } from "../core/records.ts";
import type { ToolCallLog } from "../core/request-log.ts";
import { createInsert } from "./dialect.ts";

const SUMS = ["calls", "parsed", "known", "valid"] as const;

export interface TallyWriter {
  statements(records: readonly RequestRecord[]): readonly Statement[];
}

export function createTallyWriter(kind: Db["kind"]): TallyWriter {
  const columns = [
    ...["model", "scenario"].map((name) => ({ name, type: "TEXT" as const })),
    ...SUMS.map((name) => ({ name, type: "BIGINT" as const })),
  ];
  const insert = createInsert(
    kind,
    "tool_call_tallies",
    columns,
    `ON CONFLICT (model, scenario) DO UPDATE SET
     ${SUMS.map((name) => `${name} = tool_call_tallies.${name} + excluded.${name}`).join(", ")}`,
  );
  return {
    statements(records) {
      const rows = tally(records).map(({ model, scenario, ...check }) => [
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
    async tallies() {
      const rows = await db.query("SELECT * FROM tool_call_tallies ORDER BY model, scenario");
      return rows.map((row) => ({
        model: String(row.model),
        scenario: row.scenario as ToolScenario,
        calls: Number(row.calls),
        parsed: Number(row.parsed),
        known: Number(row.known),
        valid: Number(row.valid),
      }));
    },
  };
}

function tally(records: readonly RequestRecord[]): readonly ToolCallTally[] {
  const tallies = new Map<string, ToolCallTally>();
  for (const { toolCalls, answeredBy, decision } of records) {
    const scenario = decision?.toolScenario ?? null;
    if (toolCalls === null || toolCalls.calls === 0 || answeredBy === null || scenario === null) continue;
    const name = `${answeredBy.model}\n${scenario}`;
    const before = tallies.get(name);
    tallies.set(name, {
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
