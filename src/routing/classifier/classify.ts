// Puts a request on the ladder: the learned net and the rules together where weights are given, the rules alone
// where not. A pure function of the text, what was measured of it, and the weights.

import type { Weights } from "../../catalog/weights.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import type { Classification } from "./classification.ts";
import { CODING, findCategory } from "./evidence.ts";
import { runNetwork } from "./network.ts";
import { hashText } from "./ngrams.ts";
import { OUTPUT } from "./outputs.ts";
import { classifyByRules, KIND } from "./rules.ts";
import { confidenceOf, type Scaled, scale } from "./scale.ts";
import { shapeOf } from "./shape.ts";
import type { Signals } from "./signals.ts";

export interface ClassifierInput {
  readonly text: string;
  readonly signals: Signals;
  readonly weights?: Weights | null;
}

export function classify({ text, signals, weights = null }: ClassifierInput): Classification {
  if (weights === null || isTooShort(signals)) return classifyByRules(signals);
  // Solved examples before the question are not what is asked.
  const asked = text.toLowerCase().slice(signals.questionAt);
  const outputs = runNetwork(weights, { buckets: hashText(asked), shape: shapeOf(signals) });
  const scaled = scale(outputs, weights.calibration, signals);
  const { category, score } = scaled;
  const confidence = confidenceOf(scaled, weights.calibration);
  const ruled = findCategory(signals).category;
  return {
    tier: TIERS[Math.min(TIERS.length - 1, Math.floor(score * TIERS.length))] as Tier,
    score,
    confidence,
    isSure: confidence >= SURE_FROM,
    category,
    isCoding: category === CODING || (outputs[OUTPUT.coding] as number) > 1.5,
    signals: describe(scaled, signals),
    method: ruled === category ? "hybrid" : "model",
  };
}

/** One or two letters, or none, say nothing the net could have learned. */
function isTooShort({ letters, foreignLetters, numbers }: Signals): boolean {
  return letters < 2 && foreignLetters === 0 && numbers < 2;
}

/** Below this the tier is wrong more often than right. */
const SURE_FROM = 0.5;

const WORTH_NAMING = 0.12;

function describe({ category, moves }: Scaled, signals: Signals): readonly string[] {
  const heard = moves.heard + moves.difficulty;
  const reasons: [number, string][] = [
    [heard, heard > 0 ? "wording of harder requests" : "wording of easier requests"],
    [moves.load, moves.load > 0 ? "much to keep in mind" : "little to keep in mind"],
    [moves.hard, hardReason(signals)],
  ];
  const named = reasons.filter(([move]) => Math.abs(move) >= WORTH_NAMING);
  named.sort(([a], [b]) => Math.abs(b) - Math.abs(a));
  return [KIND[category], ...named.map(([, reason]) => reason)];
}

function hardReason({ cues }: Signals): string {
  if (cues.proof * 2 >= cues.design && cues.proof > 0) return "asks for a proof or derivation";
  if (cues.design >= cues.expert && cues.design > 0) return "system design";
  return cues.expert > 0 ? "specialist field" : "several constraints";
}
