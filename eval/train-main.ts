// npm run train: learns the router's weights from our own corpus and, with --data DIR, from those public sets in DIR
// whose licences allow it. Writes the weights and the model card.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeWeights, type Weights } from "../src/catalog/weights.ts";
import { withConfidence } from "./calibrate.ts";
import { readOption } from "./command.ts";
import { writeCorpus } from "./corpus/generate.ts";
import { type Example, makeExamples } from "./examples.ts";
import { isLearnable, judgeUnseen, learnAll } from "./folds.ts";
import { DEFAULT_SETTINGS, type LearnSettings } from "./learn.ts";
import { writeModelCard } from "./model-card.ts";
import { parseRows, type Row, readRows } from "./rows.ts";

const WEIGHTS = "src/catalog/weights.bin";
const CORPUS = "eval/corpus/corpus.jsonl";

const root = process.cwd();
const settings: LearnSettings = { ...DEFAULT_SETTINGS, seed: Number(readOption("seed") ?? DEFAULT_SETTINGS.seed) };

writeCorpus(root);
const examples = makeExamples(loadRows());
const weights = train(examples);
writeFileSync(join(root, WEIGHTS), encodeWeights(weights));
console.log(`wrote ${WEIGHTS}`);
if (existsSync(join(root, "docs"))) writeModelCard({ root, examples, weights, settings });

function loadRows(): readonly Row[] {
  const own = parseRows(readFileSync(join(root, CORPUS), "utf8"));
  const folder = readOption("data");
  return folder === null ? own : [...own, ...readRows(folder)];
}

function train(all: readonly Example[]): Weights {
  const progress = (text: string) => console.log(text);
  const unseen = judgeUnseen({ examples: all, settings, progress });
  progress("learning from everything that may be learned from");
  const learned = learnAll(all.filter(isLearnable), settings);
  return withConfidence(learned, unseen);
}
