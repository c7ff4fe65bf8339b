// The layout of the weights: which number of the file means what, by name. Training and routing share it. The check at
// the end compares it with the weights that were read, so that a file made for other code is refused at start.

import type { Weights } from "../../catalog/weights.ts";
import { CATEGORIES } from "../../core/decision.ts";
import { TIERS } from "../../core/tiers.ts";
import { BUCKETS, SHAPE_NAMES } from "./features.ts";

/** The outputs of the net: one per category, in the order of CATEGORIES, and these. */
export const OUTPUT = {
  /** Grows with the tier the request belongs to. */
  ladder: CATEGORIES.length,
  /** Grows with the difficulty among requests of one category. */
  difficulty: CATEGORIES.length + 1,
  /** The logit of coding or not. */
  coding: CATEGORIES.length + 2,
  /** Two without a meaning of their own: the net uses them inside. */
  spare: CATEGORIES.length + 3,
} as const;

const OUTPUT_NAMES: readonly string[] = [...CATEGORIES, "ladder", "difficulty", "coding", "spare 1", "spare 2"];
export const OUTPUTS = OUTPUT_NAMES.length;

/** Bounds between the tiers. */
export const TIER_CUTS = TIERS.length - 1;

/** The tool scenarios that a fitted model tells apart; the others show in tools and history. */
export const FITTED_SCENARIOS = ["single", "parallel", "optional"] as const;

/** The measures that model reads, in the order of its coefficients. tools/fit.ts computes them. */
export const TOOL_MEASURES = [
  "constant",
  "name share",
  "log hits",
  "conjunctions",
  "separators",
  "joining words",
  "sentences",
  "values per parameter",
  "takes list",
  "asking words",
  "joined clauses",
  "repeated words",
  "lacks values",
  "verb fits",
  "verb offered by none",
  "covered words",
  "takes anything",
  "names choice",
  "second own share",
  "quotes per field",
  "proper names",
  "gives address",
  "further orders",
  "another one",
  "required given",
  "required named",
  "same unit",
  "numbers beyond fields",
  "tools of the parts",
  "repeated frames",
  "further questions",
  "list beyond fields",
  "slot filled again",
  "ordinals",
  "groups beyond fields",
  "identifiers alike",
  "further asks",
  "covers nothing",
  "names nothing",
  "best covers",
  "second covers",
] as const;

export type ToolMeasure = (typeof TOOL_MEASURES)[number];

/** The parts of the calibration in their order, each with the names of its numbers. */
const CALIBRATION_PARTS = {
  /** Bounds that cut the ladder output into tiers. */
  cuts: TIERS.slice(1),
  /** The mean load of each category. */
  loads: CATEGORIES,
  /** The mean of the difficulty output over each category. */
  difficulties: CATEGORIES,
  /** Offset, slope by distance to the nearest bound, slope by the share of the likeliest category. */
  confidence: ["offset", "distance", "share"],
  /** Addition of each category: tiers of mathematics are harder to tell than tiers of code. */
  sureness: CATEGORIES,
  /** Coefficients of the tool scenarios, one row of measures for each. */
  scenarios: FITTED_SCENARIOS.flatMap((scenario) => TOOL_MEASURES.map((measure) => `${scenario} ${measure}`)),
  /** Distance that feedback on wrong tiers has moved each category; zero without feedback. */
  shifts: CATEGORIES,
  /** One more output, the logit that a weak model fails: an offset, and a coefficient for each output of the net. */
  failing: ["offset", ...OUTPUT_NAMES],
  /** The mean of that probability over each category. */
  failures: CATEGORIES,
} as const satisfies Readonly<Record<string, readonly string[]>>;

type CalibrationPart = keyof typeof CALIBRATION_PARTS;

/** Start of each part of the calibration. */
export const CALIBRATION = offsetsOf(Object.entries(CALIBRATION_PARTS));
export const CALIBRATION_SIZE = Object.values(CALIBRATION_PARTS).reduce((sum, names) => sum + names.length, 0);

function offsetsOf(
  parts: readonly (readonly [string, readonly string[]])[],
): Readonly<Record<CalibrationPart, number>> {
  let offset = 0;
  const offsets: Record<string, number> = {};
  for (const [part, names] of parts) {
    offsets[part] = offset;
    offset += names.length;
  }
  return offsets as Record<CalibrationPart, number>;
}

/** A number for all names in their order. Training writes it into the weights; another order gives another number. */
export const LAYOUT_FINGERPRINT = fingerprintOf([
  ...SHAPE_NAMES.map((name) => `measure ${name}`),
  ...OUTPUT_NAMES.map((name) => `output ${name}`),
  ...Object.entries(CALIBRATION_PARTS).flatMap(([part, names]) => names.map((name) => `${part} ${name}`)),
]);

/** FNV-1a over the names. Never 0, which stands for weights that carry no fingerprint. */
function fingerprintOf(names: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const character of names.join("\n")) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return hash >>> 0 || 1;
}

/** Throws where the weights were made for another layout: every number would be read as something it is not. */
export function checkLayout(weights: Weights): void {
  const expected = { buckets: BUCKETS, outputs: OUTPUTS, measures: SHAPE_NAMES.length, calibration: CALIBRATION_SIZE };
  const { buckets, outputs, measures } = weights;
  const actual = { buckets, outputs, measures, calibration: weights.calibration.length };
  for (const part of Object.keys(expected) as (keyof typeof expected)[]) {
    if (actual[part] !== expected[part]) refuse(`${part}: ${actual[part]} in the file, ${expected[part]} in the code`);
  }
  // Weights from before fingerprints carry 0; then the sizes are all that can be compared.
  if (weights.fingerprint !== 0 && weights.fingerprint !== LAYOUT_FINGERPRINT) {
    refuse("its measures or outputs have other names or another order");
  }
}

function refuse(reason: string): never {
  throw new Error(`The router weights do not fit this version (${reason}). Train them again with \`npm run train\`.`);
}
