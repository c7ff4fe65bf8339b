// The writer of docs/contribute/model-card.md, run after training: what the weights are, what they learned from and how well they do,
// on sources they have seen and on sources they have not.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeWeights, type Weights } from "../src/catalog/weights.ts";
import { CATEGORIES } from "../src/core/decision.ts";
import { TIERS, type Tier } from "../src/core/tiers.ts";
import { confidenceOf } from "../src/routing/classifier/scale.ts";
import { writeBySource } from "./by-source.ts";
import { type Judged, judge, judgeConfidence } from "./calibrate.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import type { Example } from "./examples.ts";
import { isLearnable } from "./folds.ts";
import type { LearnSettings } from "./learn.ts";
import { writeTable } from "./report.ts";
import type { Answer } from "./routers.ts";
import type { Row } from "./rows.ts";
import { sourceOf } from "./sources.ts";

export interface ModelCardInput {
  readonly root: string;
  readonly examples: readonly Example[];
  /** Prompts that a teacher has labelled. */
  readonly taught: number;
  readonly unseen: readonly Judged[];
  readonly weights: Weights;
  readonly settings: LearnSettings;
}

/** Without public rows there are no left-out figures, and their tables are left out. */
export function writeModelCard({ root, examples, taught, unseen, weights, settings }: ModelCardInput): void {
  const evaluations: Record<string, Evaluation> = {};
  if (unseen.length > 0) {
    const foreign = unseen.map(({ example }) => example);
    evaluations["source left out"] = rateJudged(unseen, weights);
    evaluations["shipped weights, same rows (seen sources included)"] = rateJudged(judge(weights, foreign), weights);
  }
  const own = examples.filter(({ row }) => row.source.startsWith("own-") && row.tools === undefined);
  evaluations["our own corpus (seen)"] = rateJudged(judge(weights, own), weights);
  const card = [
    "# Model card: the router's weights",
    "Written by `npm run train`. [Routing](../concepts/routing.md) explains how a decision is made with them. [The lab notebook](routing-experiments.md) has the experiments.",
    describeForm(weights, settings),
    "## What it learned from",
    listSources(examples),
    ...(taught === 0 ? [] : [writeTaught(taught)]),
    ...writeScored(examples.filter(isLearnable)),
    "## How well it does",
    "“Source left out” judges every row of a public set by weights that were trained without that set and all sets that share prompts with it. Rules and word lists were made while looking at these sets, so these figures are optimistic. Outside reviewers measured 0.693 / 0.576 for the category on sources of their own. [Routing](../concepts/routing.md#numbers) has figures on rows that play no part in any choice.",
    writeTable(evaluations),
    ...(unseen.length === 0 ? [] : [writeConfidence(unseen)]),
    ...(unseen.length === 0 ? [] : ["### Source by source, left out", BY_SOURCE, writeBySource(unseen)]),
    "## Known weaknesses",
    WEAKNESSES,
  ];
  writeFileSync(join(root, "docs/contribute/model-card.md"), `${card.join("\n\n")}\n`);
}

/** The figures of rows that are judged already. */
export function rateJudged(judged: readonly Judged[], weights: Weights): Evaluation {
  const answers = new Map<Row, Answer>(judged.map((each) => [each.example.row, answerOf(each, weights)]));
  // What is timed here is a look-up, which says nothing.
  const untimed = { p50Ms: Number.NaN, p99Ms: Number.NaN };
  return { ...evaluate((row) => answers.get(row) as Answer, [...answers.keys()]), ...untimed };
}

function answerOf({ scaled }: Judged, weights: Weights): Answer {
  const tier = TIERS[Math.min(TIERS.length - 1, Math.floor(scaled.score * TIERS.length))] as Tier;
  const confidence = confidenceOf(scaled, weights.calibration);
  return { tier, score: scaled.score, confidence, category: scaled.category, scenario: null, reasoning: "" };
}

function describeForm(weights: Weights, settings: LearnSettings): string {
  const { buckets, outputs, measures, hidden } = weights;
  const bytes = encodeWeights(weights).length;
  return [
    `- words: a table of ${buckets} × ${outputs} eight-bit integers for hashed words, word pairs, beginnings and endings of words, with a mark for each row`,
    `- net: ${hidden} units over ${measures} named measures of the request's shape`,
    `- outputs: ${CATEGORIES.length} categories, place on the tier ladder, difficulty within a category, coding or not; from all of these, the probability that a weak model fails`,
    `- size: ${(bytes / 1e6).toFixed(2)} MB (\`src/catalog/weights.bin\`)`,
    "- layout: the header carries a fingerprint of the names of all measures, outputs and calibration numbers in their order. Weights for another layout are refused at start (`src/routing/classifier/layout.ts`)",
    `- training: AdaGrad, ${settings.epochs} passes, seed ${settings.seed}; the same data and seed give the same bytes`,
  ].join("\n");
}

/** Every source with its licence, and whether the weights learned from it. */
function listSources(examples: readonly Example[]): string {
  const counts = new Map<string, number>();
  for (const { row } of examples) counts.set(row.source, (counts.get(row.source) ?? 0) + 1);
  const learnable = new Set(examples.filter(isLearnable).map(({ row }) => row.source));
  const lines = [...counts].map(([name, count]) => {
    const { origin, licence, isShippable } = sourceOf(name);
    const use = learnable.has(name) ? "learned" : isShippable ? "tool scenarios only" : "measured only";
    return `| ${name} | ${count} | ${origin} | ${licence} | ${use} |`;
  });
  return ["| source | rows | origin | licence | use |", "|---|---|---|---|---|", ...lines].join("\n");
}

function writeTaught(count: number): string {
  return `It also learned from ${count} prompts without labels of teknium1/GPTeacher (MIT) and yizhongw/self-instruct (Apache-2.0). An encoder, all-mpnet-base-v2 (Apache-2.0), was fine-tuned on the sources learned above and labelled them (experiment E16). In each left-out figure the teacher had not seen the source either.`;
}

/** Says which rows taught the probability that a weak model fails; empty where no row has scores of models. */
function writeScored(examples: readonly Example[]): readonly string[] {
  const scored = examples.filter(({ row }) => row.label.models !== undefined);
  if (scored.length === 0) return [];
  const sources = [...new Set(scored.map(({ row }) => row.source))].join(", ");
  return [
    `The probability that a weak model fails was learned from the scores of several models at ${scored.length} prompts (${sources}; experiment E23).`,
  ];
}

/** The calibration error of the table is of rows that the confidence was fitted on; this is not. */
function writeConfidence(unseen: readonly Judged[]): string {
  const { sources, gap, distance } = judgeConfidence(unseen);
  return `The confidence was also fitted without each of the ${sources} sources that say a tier, and compared with the right tiers of that source. It is off by ${distance.toFixed(3)} on average over the sources, and by ${gap.toFixed(3)} with its sign.`;
}

const BY_SOURCE =
  "The rank is Spearman's, against the source's own scale or, without one, against how often weak models fail. APGR is 0.5 for chance. The last column ranks by how often all the other models in the source fail at the prompt. That is about the best anyone could do who knows how hard a prompt is in general, but not for these two models.";

const WEAKNESSES = [
  "- Category labels are conventions: where “advice” ends and “a question” begins differs between sources, and `general` and `creative_writing` are the least reliable ones.",
  "- Difficulty within one category is ranked only a little better than by length; no classifier this small knows which trivia question is obscure.",
  "- Languages outside the corpus are classified by shape and shared words; expect LIGHT or the unsure tier more often.",
  "- The tier labels of the ladder are editorial judgements, not measurements.",
  "- The constants of load and scale (`src/routing/classifier/constants.ts`) were set by hand on the left-out figures of difficulty, ladder and APGR. Those three may be a little optimistic; experiment E5 of the lab notebook measures how much.",
  "- A tool of the field that does something else is still often taken for a fitting one (experiments E15, E18, E19 and E25).",
  "- The teacher knows English only (E16, E20).",
  "- The probability that a weak model fails was learned from tests, competition problems and short programs only. What it adds to the order by difficulty is less than chance moves it (E17, E23).",
  "- Our corpus is made from templates, so numbers on it are floors for the tests and not estimates.",
].join("\n");
