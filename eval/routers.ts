// The routers that are compared: ours, and baselines that know nothing.

import type { Catalog } from "../src/catalog/catalog.ts";
import { NO_CONSTRAINTS, NO_CONTROLS } from "../src/core/decision.ts";
import { TIERS, type Tier } from "../src/core/tiers.ts";
import { decide } from "../src/routing/decide.ts";
import { makeRandom } from "./random.ts";
import { chatOf, type Row } from "./rows.ts";

/** Answer of a router to a row, in the terms that are measured. */
export interface Answer {
  readonly tier: Tier;
  readonly score: number;
  readonly confidence: number;
  readonly category: string;
  readonly scenario: string | null;
  readonly reasoning: string;
}

export type Router = (row: Row) => Answer;

/** By the name they have in the table. A useful router must beat the length of the prompt. */
export function makeRouters(catalog: Catalog): Readonly<Record<string, Router>> {
  return {
    ours: (row) => askOurs(row, catalog),
    length: ({ prompt }) => plain(Math.min(0.999, Math.log1p(prompt.length) / 9), "length of the prompt"),
    "always STANDARD": () => plain(0.7, "always STANDARD"),
    random: makeRandomRouter(),
  };
}

function askOurs(row: Row, catalog: Catalog): Answer {
  const restingModels = new Map<string, string>();
  const question = { chat: chatOf(row), controls: NO_CONTROLS, constraints: NO_CONSTRAINTS, restingModels };
  const { tier, score = 0, confidence, category, toolScenario, reasoning } = decide(question, catalog);
  return { tier, score, confidence, category, scenario: toolScenario, reasoning };
}

function makeRandomRouter(): Router {
  const random = makeRandom(7);
  return () => plain(random(), "random");
}

/** A router that knows a score only; everything else is the commonest answer. */
function plain(score: number, reasoning: string): Answer {
  const tier = TIERS[Math.floor(score * TIERS.length)] as Tier;
  return { tier, score, confidence: 0.5, category: "general", scenario: "single", reasoning };
}
