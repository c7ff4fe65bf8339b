// npm run eval: measures our router and the baselines on our own corpus, with --data DIR on the labelled rows there, or
// with --fresh DIR on rows that play no part in any choice. Prints the stability of the tiers too. With --left-out 1 it
// learns again without each group of sources instead, and judges the rows of that group (--data, --packages, --checkouts);
// --left-out tools does so for requests with tools alone. With
// --translations DIR it prints how often a task gets the same tier in two languages instead.

import { buildCatalog } from "../src/catalog/build.ts";
import { readWeights } from "../src/catalog/weights.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import { isFresh, readFresh } from "./fresh/fresh.ts";
import { measureAgreement, writeAgreement } from "./languages/agreement.ts";
import { readTranslations } from "./languages/translations.ts";
import { writeLeftOut, writeLeftOutTools } from "./left-out.ts";
import { writeConfusion, writeMistakes, writeSources, writeTable } from "./report.ts";
import { makeRouters, type Router } from "./routers.ts";
import { type Row, readRows } from "./rows.ts";
import { measureStability, writeStability } from "./stability/measure.ts";

const { catalog } = buildCatalog();
if (catalog === null) throw new Error("the catalogue that ships is broken");
const data = readOption("data");
const fresh = readOption("fresh");
const leftOut = readOption("left-out");
if (leftOut !== null) {
  console.log((leftOut === "tools" ? writeLeftOutTools : writeLeftOut)(process.cwd(), readWeights()));
  process.exit();
}
const routers = makeRouters(catalog);
const translations = readOption("translations");
if (translations !== null) {
  console.log(writeAgreement(measureAgreement(routers.ours as Router, readTranslations(translations))));
  process.exit();
}
const rows = loadRows();

const evaluations: Record<string, Evaluation> = {};
for (const [name, router] of Object.entries(routers)) evaluations[name] = evaluate(router, rows);
const ours = evaluations.ours as Evaluation;
console.log(`${rows.length} rows from ${fresh ?? data ?? "our own corpus"}\n\n${writeTable(evaluations)}\n`);
if (ours.category !== null) console.log(`categories:\n${writeConfusion(ours.category)}\n`);
if (ours.scenario !== null) console.log(`tool scenarios:\n${writeConfusion(ours.scenario)}\n`);
console.log(`by source:\n${writeSources(ours)}\n`);
console.log(`${writeStability(measureStability(routers.ours as Router, rows, process.cwd()))}\n`);
// What is printed of the fresh set must not be read row by row, or choices would be made on it.
if (fresh === null) console.log(`worst mistakes:\n${writeMistakes(ours, Number(readOption("mistakes") ?? 20))}`);

/** Without options our own corpus is generated, so that a fresh clone can run this. */
function loadRows(): readonly Row[] {
  const known = data === null ? [] : readRows(data);
  if (fresh !== null) return [...readFresh(fresh), ...known.filter(isFresh)];
  return data === null ? generateCorpus(process.cwd()) : known.filter((row) => !isFresh(row));
}
