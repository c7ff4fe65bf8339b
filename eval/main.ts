// npm run eval: measures our router and the baselines on our own corpus or, with --data DIR, on the labelled rows there.

import { buildCatalog } from "../src/catalog/build.ts";
import { readOption } from "./command.ts";
import { generateCorpus } from "./corpus/generate.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import { writeConfusion, writeMistakes, writeTable } from "./report.ts";
import { makeRouters } from "./routers.ts";
import { readRows } from "./rows.ts";

// Without --data our own corpus is generated, so that a fresh clone can run this.
const folder = readOption("data");
const rows = folder === null ? generateCorpus(process.cwd()) : readRows(folder);
const { catalog } = buildCatalog();
if (catalog === null) throw new Error("the catalogue that ships is broken");

const evaluations: Record<string, Evaluation> = {};
for (const [name, router] of Object.entries(makeRouters(catalog))) evaluations[name] = evaluate(router, rows);
const ours = evaluations.ours as Evaluation;
console.log(`${rows.length} rows from ${folder ?? "our own corpus"}\n\n${writeTable(evaluations)}\n`);
if (ours.category !== null) console.log(`categories:\n${writeConfusion(ours.category)}\n`);
if (ours.scenario !== null) console.log(`tool scenarios:\n${writeConfusion(ours.scenario)}\n`);
console.log(`worst mistakes:\n${writeMistakes(ours, Number(readOption("mistakes") ?? 20))}`);
