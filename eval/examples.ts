// Training examples from labelled rows: features once, labels on common scales, and weights that keep any one source from
// outweighing the others.

import { CATEGORIES } from "../src/core/decision.ts";
import { newestAsk } from "../src/routing/ask.ts";
import { USUAL_TIER } from "../src/routing/classifier/constants.ts";
import { shapeOf } from "../src/routing/classifier/features.ts";
import { readPrompt, type Signals } from "../src/routing/classifier/signals.ts";
import { categoryOf, chatOf, type Label, type Row } from "./rows.ts";

export interface Example {
  readonly row: Row;
  readonly signals: Signals;
  /** The text whose words are read. */
  readonly asked: string;
  readonly shape: Float32Array;
  /** The place among CATEGORIES; -1 where unknown. */
  readonly category: number;
  readonly categoryWeight: number;
  readonly coding: boolean | null;
  readonly ladder: number | null;
  readonly ladderWeight: number;
  /** About -1 to 1, comparable across sources. */
  readonly difficulty: number | null;
  readonly weight: number;
  /** Judgement of a teacher on a prompt without labels. */
  readonly taught?: Taught;
}

/** Judgement of a teacher on one prompt: shares of the categories, of being above each cut, of coding; and its difficulty. */
export interface Taught {
  readonly categories: Float32Array;
  readonly cuts: Float32Array;
  readonly coding: number;
  readonly difficulty: number;
}

/** Our own prompts cover every category, so they count in full whatever their number. */
const OWN_WEIGHT = 1;
/** Graded tasks come in many wordings, so that chance says less; each wording says less too. */
const GRADED_WEIGHT = 0.5;

/** Place of a tier of four among five. Such a place is a judgement, so it counts less than a label. */
const LADDER_OF_FOUR = { SIMPLE: 1, MEDIUM: 2, COMPLEX: 3, REASONING: 4 } as const;

export function makeExamples(rows: readonly Row[]): readonly Example[] {
  const ranks = rankDifficulties(rows);
  const counts = new Map<string, number>();
  for (const { source } of rows) counts.set(source, (counts.get(source) ?? 0) + 1);
  return rows.map((row, at) => {
    const weight = weightOf(row.source, counts.get(row.source) ?? 1);
    return makeExample(row, { difficulty: ranks[at] ?? null, weight });
  });
}

function makeExample(row: Row, ranked: Pick<Example, "difficulty" | "weight">): Example {
  const { asked, signals } = readPrompt(newestAsk(chatOf(row).messages).text);
  const { label } = row;
  const category = label.category === undefined ? null : categoryOf(label.category);
  const usual = category === null || row.tools !== undefined ? null : USUAL_TIER[category];
  return {
    row,
    asked: asked.slice(signals.questionAt),
    signals,
    shape: shapeOf(signals).slice(),
    category: category === null ? -1 : CATEGORIES.indexOf(category),
    categoryWeight: label.category_alt === undefined ? 1 : 0.6,
    coding: label.coding ?? null,
    // Where a source says nothing of the tier, the usual tier of its category counts, with less weight.
    ladder: label.ladder ?? (label.tier4 === undefined ? usual : LADDER_OF_FOUR[label.tier4]),
    ladderWeight: label.ladder !== undefined ? 1 : label.tier4 === undefined ? 0.3 : 0.6,
    ...ranked,
  };
}

function weightOf(source: string, count: number): number {
  if (source.startsWith("own-graded-")) return GRADED_WEIGHT;
  return source.startsWith("own-") ? OWN_WEIGHT : Math.min(2, Math.sqrt(600 / count));
}

/**
 * Ranks from -1 to 1 among the prompts of one category in one source; null where nothing is known. Categories are ranked
 * apart because the category is what the other outputs know already.
 */
function rankDifficulties(rows: readonly Row[]): readonly (number | null)[] {
  const bySource = new Map<string, number[]>();
  rows.forEach((row, at) => {
    if (hardness(row.label) === null) return;
    const group = `${row.source} ${row.label.category}`;
    const list = bySource.get(group);
    if (list === undefined) bySource.set(group, [at]);
    else list.push(at);
  });
  const ranks: (number | null)[] = rows.map(() => null);
  for (const places of bySource.values()) {
    const values = places.map((at) => hardness((rows[at] as Row).label) as number);
    const sorted = Float64Array.from(values).sort();
    values.forEach((value, at) => {
      const middle = (lowerBound(sorted, value) + lowerBound(sorted, value + 1e-9)) / 2;
      ranks[places[at] as number] = (middle / sorted.length) * 2 - 1;
    });
  }
  return ranks;
}

/** The source's own scale; else how much a strong model is better at it than weak ones. */
function hardness({ difficulty, weak_correct, strong_correct, tier4 }: Label): number | null {
  // Four tiers say what kind of request it is rather than how hard among its kind.
  if (tier4 !== undefined) return null;
  if (difficulty !== undefined) return difficulty;
  if (weak_correct === undefined) return null;
  if (strong_correct !== undefined) return strong_correct - weak_correct;
  return -weak_correct;
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
