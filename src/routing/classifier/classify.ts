// The classifier: a request's place on the ladder of tiers. Net and rules decide together where weights are given, the
// rules alone where not. The same text and weights always give the same result.

import type { Weights } from "../../catalog/weights.ts";
import type { Category } from "../../core/decision.ts";
import { scoreRangeOf, tierOfScore } from "../../core/tiers.ts";
import * as TEXT from "../text.ts";
import { VERDICT } from "./constants.ts";
import { createRowFinder, createWordHasher, shapeOf } from "./features.ts";
import { checkLayout, OUTPUT } from "./layout.ts";
import { createNetwork } from "./network.ts";
import { type Classification, CODING, classifyByRules, isIdentifier, isUnknown } from "./rules.ts";
import { confidenceOf, type Scaled, scale } from "./scale.ts";
import type { PromptText, Signals } from "./signals.ts";
import { categoryAtStake, isAtStake } from "./stakes.ts";

export function classify(prompt: PromptText, weights: Weights | null): Classification {
  if (weights === null || isTooShort(prompt.signals)) return classifyByRules(prompt.signals);
  return classifierOf(weights)(prompt);
}

/** Emoji are no words that somebody might know. */
const LETTERS = /\p{L}/u;

/** Just inside STANDARD. */
const STAKES_SCORE = scoreRangeOf("STANDARD")[0] + 0.01;

type Classifier = (prompt: PromptText) => Classification;

/** Laying the weights out takes milliseconds, so each set of weights has one classifier for as long as it is used. */
const CLASSIFIERS = new WeakMap<Weights, Classifier>();

function classifierOf(weights: Weights): Classifier {
  const known = CLASSIFIERS.get(weights);
  if (known !== undefined) return known;
  const made = createClassifier(weights);
  CLASSIFIERS.set(weights, made);
  return made;
}

/** Throws where the weights were made for another layout. */
export function createClassifier(weights: Weights): Classifier {
  checkLayout(weights);
  const run = createNetwork(weights);
  const hashWords = createWordHasher(createRowFinder(weights.marks));
  return ({ asked, signals }) => {
    // Solved examples before the question are not what is asked.
    const { buckets, isKnown } = hashWords(asked.slice(signals.questionAt));
    if (isIdentifier(asked) || (!isKnown && isUnknown(signals) && LETTERS.test(asked))) return classifyByRules(signals);
    const outputs = run({ buckets, shape: shapeOf(signals) });
    const scaled = scale(outputs, weights.calibration, signals);
    const { ruledCategory } = scaled;
    const confidence = confidenceOf(scaled, weights.calibration);
    const atStake = isAtStake(signals);
    const category = atStake ? categoryAtStake(scaled.category) : scaled.category;
    const score = atStake ? Math.max(scaled.score, STAKES_SCORE) : scaled.score;
    return {
      tier: tierOfScore(score),
      score,
      confidence,
      isSure: confidence >= VERDICT.sureFrom,
      category,
      isCoding: category === CODING || (!atStake && (outputs[OUTPUT.coding] as number) > VERDICT.codingFrom),
      weakModelFails: Math.round(scaled.weakModelFails * 100) / 100,
      signals: describe(scaled, category, signals, atStake),
      method: ruledCategory === category ? "hybrid" : "model",
    };
  };
}

/** One or two letters, or none, say nothing the net could have learned. */
function isTooShort({ letters, foreignLetters, numbers }: Signals): boolean {
  return letters < 2 && foreignLetters === 0 && numbers < 2;
}

const { signals: SIGNALS } = TEXT;

function describe({ moves }: Scaled, category: Category, signals: Signals, atStake: boolean): readonly string[] {
  const wording = moves.wording + moves.difficulty + moves.failing;
  const reasons: [number, string][] = [
    [wording, wording > 0 ? SIGNALS.expertWords : SIGNALS.everydayWords],
    [moves.load, moves.load > 0 ? SIGNALS.manyDetails : SIGNALS.fewDetails],
    [moves.hard, hardReason(signals)],
  ];
  const named = reasons.filter(([move]) => Math.abs(move) >= VERDICT.worthNaming);
  named.sort(([a], [b]) => Math.abs(b) - Math.abs(a));
  const others = named.map(([, reason]) => reason);
  return [TEXT.categories[category], ...(atStake ? [SIGNALS.stakes] : []), ...others];
}

function hardReason({ cues }: Signals): string {
  if (cues.proof * 2 >= cues.design && cues.proof > 0) return SIGNALS.proof;
  if (cues.design >= cues.expert && cues.design > 0) return SIGNALS.design;
  return cues.expert > 0 ? SIGNALS.expert : SIGNALS.constraint;
}
