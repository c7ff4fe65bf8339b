// An evaluation as text: the table of metrics, the confusion of categories, the worst mistakes with reasons.

import { TOOL_SCENARIOS } from "../src/core/model.ts";
import { tierRank } from "../src/core/tiers.ts";
import { type Evaluation, groupBySource, type Judgement, summarise } from "./evaluate.ts";
import type { Classes } from "./metrics.ts";

/** The rows of the table, in the order of docs/contribute/model-card.md. */
const METRICS: readonly (readonly [string, (evaluation: Evaluation) => string])[] = [
  ["category accuracy / macro-F1", ({ category }) => pair(category?.accuracy, category?.macroF1)],
  ["coding F1", ({ codingF1 }) => number(codingF1)],
  ["tool scenario accuracy / macro-F1", ({ scenario }) => pair(scenario?.accuracy, scenario?.macroF1)],
  ["difficulty, Spearman", ({ difficultyRank }) => number(difficultyRank)],
  ["gap recovered (APGR) by score / by tier", ({ gapByScore, gapByTier }) => pair(gapByScore, gapByTier)],
  ["tier ladder exact / within one", ({ ladder }) => pair(ladder?.exact, ladder?.withinOne)],
  ["calibration error", ({ calibrationError }) => number(calibrationError)],
  ["classification p50 / p99, ms", ({ p50Ms, p99Ms }) => pair(p50Ms, p99Ms)],
];

/** Rows that say nothing for any of the evaluations are left out. */
export function writeTable(evaluations: Readonly<Record<string, Evaluation>>): string {
  const names = Object.keys(evaluations);
  const lines = [`| metric | ${names.join(" | ")} |`, `|---|${names.map(() => "---|").join("")}`];
  for (const [metric, write] of METRICS) {
    const cells = names.map((name) => write(evaluations[name] as Evaluation));
    if (cells.some((cell) => /\d/.test(cell))) lines.push(`| ${metric} | ${cells.join(" | ")} |`);
  }
  return lines.join("\n");
}

/** By truth and answer; names are cut to fit a terminal. */
export function writeConfusion({ confusion }: Classes): string {
  const names = Object.keys(confusion).sort();
  const head = ["truth \\ answer", ...names.map((name) => name.slice(0, 8))];
  const rows = names.map((truth) => [
    truth.slice(0, 13),
    ...names.map((answer) => String(confusion[truth]?.[answer] ?? 0)),
  ]);
  return [head, ...rows].map((row) => row.map((cell, at) => cell.padEnd(at === 0 ? 15 : 9)).join("")).join("\n");
}

/** Right answers source by source: categories, scenarios, and the rank of difficulty. */
export function writeSources({ judgements }: Evaluation): string {
  const sources = groupBySource(judgements);
  const lines = [...sources].map(([source, list]) => {
    const { category, scenario, difficultyRank } = summarise(list);
    const cells = [number(category?.accuracy), number(scenario?.accuracy), number(difficultyRank)];
    return `| ${source} | ${list.length} | ${cells.join(" | ")} |`;
  });
  return ["| source | rows | category | scenario | difficulty, Spearman |", "|---|---|---|---|---|", ...lines].join(
    "\n",
  );
}

/** The rows whose tier is farthest from what was expected, those the router was surest of first. */
/** Results for the requests with tools, by source. */
export function writeScenarios(judgements: readonly Judgement[]): string {
  const lines = [...groupBySource(judgements)].flatMap(([source, list]) => {
    const scenarios = [...new Set(list.map(({ row }) => row.label.scenario))];
    return scenarios.map((scenario) => {
      const asked = list.filter(({ row }) => row.label.scenario === scenario);
      const cells = TOOL_SCENARIOS.map((name) => asked.filter(({ answer }) => answer.scenario === name).length);
      const right = asked.filter(({ answer }) => answer.scenario === scenario).length / asked.length;
      return `| ${source} | ${scenario} | ${cells.join(" | ")} | ${right.toFixed(2)} |`;
    });
  });
  const head = ["source", "scenario", ...TOOL_SCENARIOS.map((name) => `said ${name}`), "right"];
  return [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...lines].join("\n");
}

export function writeMistakes({ judgements }: Evaluation, count: number): string {
  const wrong = judgements.filter((judgement) => missOf(judgement) > 0);
  wrong.sort((a, b) => missOf(b) - missOf(a) || b.answer.confidence - a.answer.confidence);
  return wrong.slice(0, count).map(writeMistake).join("\n");
}

function missOf({ row, answer }: Judgement): number {
  return row.label.ladder === undefined ? 0 : Math.abs(tierRank(answer.tier) - row.label.ladder);
}

function writeMistake({ row, answer }: Judgement): string {
  const prompt = row.prompt.replace(/\s+/g, " ").slice(0, 90);
  return `${row.source}: "${prompt}" expected rung ${row.label.ladder}, got ${answer.tier}: ${answer.reasoning}`;
}

function pair(first: number | null | undefined, second: number | null | undefined): string {
  return `${number(first)} / ${number(second)}`;
}

function number(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(3);
}
