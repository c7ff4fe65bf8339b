// The left-out figures: every public row is judged by weights that saw neither its source nor one that shares prompts with
// it. Rules and word lists were made while looking at these sources, so differences count here, not levels.

import type { Weights } from "../src/catalog/weights.ts";
import { newestAsk } from "../src/routing/ask.ts";
import { classify } from "../src/routing/classifier/classify.ts";
import { readPrompt } from "../src/routing/classifier/signals.ts";
import { detectScenario } from "../src/routing/tools/scenario.ts";
import { withScenarios } from "./calibrate.ts";
import { type Evaluation, evaluate, type Judgement } from "./evaluate.ts";
import { makeExamples } from "./examples.ts";
import { judgeUnseen } from "./folds.ts";
import { DEFAULT_SETTINGS } from "./learn.ts";
import { rateJudged } from "./model-card.ts";
import { writeConfusion, writeScenarios, writeSources, writeTable } from "./report.ts";
import type { Answer } from "./routers.ts";
import { chatOf, type Row } from "./rows.ts";
import { fitScenarios, scenarioFamilyOf } from "./scenarios.ts";
import { sourceOf } from "./sources.ts";
import { readTaught } from "./teacher/teacher.ts";
import { readTrainingRows } from "./training-rows.ts";

/** Learns once for each group of sources, which takes minutes. */
export function writeLeftOut(root: string, weights: Weights): string {
  const examples = makeExamples(readTrainingRows(root));
  const taught = readTaught(root);
  const unseen = judgeUnseen({ examples, taught, settings: DEFAULT_SETTINGS, progress: console.log });
  const plain = rateJudged(unseen, weights);
  return [
    `left out: ${plain.judgements.length} prompts`,
    writeTable({ "prompts, source left out": plain }),
    `by source:\n${writeSources(plain)}`,
    writeLeftOutTools(root, weights),
  ].join("\n\n");
}

/** The part about requests with tools alone, which takes seconds. */
export function writeLeftOutTools(root: string, weights: Weights): string {
  const tooled = judgeScenarios(readTrainingRows(root), weights);
  const isPublic = ({ row }: Judgement) => !row.source.startsWith("own-");
  const publicRows = tooled.judgements.filter(isPublic).map(({ row }) => row);
  const answers = new Map(tooled.judgements.map(({ row, answer }) => [row, answer]));
  const scenarios = evaluate((row) => answers.get(row) as Answer, publicRows);
  return [
    `left out: ${publicRows.length} public requests with tools`,
    writeTable({ "tool requests, source left out": scenarios }),
    scenarios.scenario === null ? "" : `tool scenarios, public sources:\n${writeConfusion(scenarios.scenario)}`,
    `tool scenarios by source (ours included):\n${writeScenarios(tooled.judgements)}`,
  ].join("\n\n");
}

/** Every request with tools by coefficients that were fitted without its family. */
function judgeScenarios(rows: readonly Row[], weights: Weights): Evaluation {
  const tooled = rows.filter(({ label }) => label.scenario !== undefined);
  const families = [...new Set(tooled.map(({ source }) => scenarioFamilyOf(source)))];
  const fitted = new Map(
    families.map((family) => {
      const others = tooled.filter(({ source }) => scenarioFamilyOf(source) !== family && sourceOf(source).isShippable);
      return [family, withScenarios(weights, fitScenarios(others))] as const;
    }),
  );
  return evaluate((row) => askScenario(row, fitted.get(scenarioFamilyOf(row.source)) ?? weights), tooled);
}

function askScenario(row: Row, weights: Weights): Answer {
  const chat = chatOf(row);
  const prompt = readPrompt(newestAsk(chat.messages).text);
  const { tier, score, confidence, category } = classify(prompt, weights);
  const scenario = detectScenario({ chat, prompt, category, weights });
  return { tier, score, confidence, category, scenario, reasoning: "" };
}
