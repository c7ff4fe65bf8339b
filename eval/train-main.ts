// npm run train: learns the router's weights from our own corpus and, with --data DIR, from those public sets in DIR
// whose licences allow it; --packages DIR and --checkouts DIR add tool requests
// of a package and of repositories (eval/calls); --feedback FILE adds feedback on wrong tiers. Writes the weights and the model card.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeWeights, type Weights } from "../src/catalog/weights.ts";
import { withConfidence, withScenarios } from "./calibrate.ts";
import { readOption } from "./command.ts";
import { makeExamples } from "./examples.ts";
import { parseFeedback, withFeedback } from "./feedback.ts";
import { isLearnable, judgeUnseen, learnAll } from "./folds.ts";
import { DEFAULT_SETTINGS, type LearnSettings } from "./learn.ts";
import { writeModelCard } from "./model-card.ts";
import { fitScenarios } from "./scenarios.ts";
import { sourceOf } from "./sources.ts";
import { readTaught } from "./teacher/teacher.ts";
import { readTrainingRows } from "./training-rows.ts";

const WEIGHTS = "src/catalog/weights.bin";

const root = process.cwd();
const settings: LearnSettings = {
  ...DEFAULT_SETTINGS,
  seed: Number(readOption("seed") ?? DEFAULT_SETTINGS.seed),
};

const progress = (text: string) => console.log(text);
const examples = makeExamples(readTrainingRows(root));
const taught = readTaught(root);
const unseen = judgeUnseen({ examples, taught, settings, progress });
const weights = train();
writeFileSync(join(root, WEIGHTS), encodeWeights(weights));
writeModelCard({ root, examples, taught: taught(0).length, unseen, weights, settings });
progress(`wrote ${WEIGHTS} and docs/contribute/model-card.md`);

/** The confidence is fitted on rows judged without their source, or it would promise too much. */
function train(): Weights {
  progress("learning from everything that may be learned from");
  const learned = learnAll(examples.filter(isLearnable), taught(0), settings);
  const tooled = examples.filter(({ row }) => sourceOf(row.source).isShippable).map(({ row }) => row);
  const feedback = readOption("feedback");
  const fitted = withScenarios(withConfidence(learned, unseen), fitScenarios(tooled));
  return feedback === null ? fitted : withFeedback(fitted, parseFeedback(readFileSync(feedback, "utf8")));
}
