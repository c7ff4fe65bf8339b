// The reasons of a decision: the ladder of tiers, the signals in the prompt, the adjustments, and every model
// considered. Used by the request log and the playground.

import type { ComponentChildren } from "preact";
import { isTier, scoreRangeOf } from "../../src/core/tiers.ts";
import { categoryName, duration, percent, usd } from "../format.ts";
import { TierLadder } from "../kit/tier.tsx";
import { hrefTo } from "../router.ts";
import type { Candidate, Decision } from "../types.ts";
import { parseReasoning, type Reasoning } from "./reasoning.ts";
import * as TEXT from "./text.ts";

/** A decision that was recorded, or one that was just previewed. */
interface DecisionPanelProps {
  readonly decision: Decision;
  /** The model that answered in the end, where that is known. */
  readonly answeredBy?: string | null;
  readonly routedMs?: number | null;
  /** Amounts of a finished request. Its share saved belongs to these, not to the estimate. */
  readonly charged?: Charged | null;
  /** The model that the saving is counted against, with price and date. */
  readonly baseline?: string | null;
}

interface Charged {
  readonly chargeUsd: string | null;
  readonly baselineUsd: string | null;
  /** Share saved; null when nothing was saved, as by a request that failed. */
  readonly saved: number | null;
}

/** Shows the result, then its reasons. Older records have no classified tier, so the reasoning tells the tier. */
export function DecisionPanel({ decision, answeredBy, routedMs, charged = null, baseline = null }: DecisionPanelProps) {
  const saved = charged === null ? decision.savings : charged.saved;
  const reasoning = parseReasoning(decision.reasoning);
  const classified = decision.classifiedTier ?? reasoning.tier;
  return (
    <div class="decision">
      <TierLadder classified={classified} final={decision.tier} />
      <p class="verdict">
        <b class="model">{decision.model}</b>
        <span class="faint">
          {charged === null || charged.saved === null
            ? TEXT.estimates(usd(decision.costEstimateUsd), usd(decision.baselineCostUsd))
            : TEXT.charges(usd(charged.chargeUsd), usd(charged.baselineUsd))}
        </span>
        {saved !== null && <b class={saved > 0 ? "good" : "faint"}>{TEXT.saved(percent(saved))}</b>}
      </p>
      {baseline !== null && <p class="small faint">{TEXT.baselineIs(baseline)}</p>}
      <DecisionFacts decision={decision} reasoning={reasoning} routedMs={routedMs ?? null} />
      <ReasoningSteps reasoning={reasoning} />
      <Chain decision={decision} answeredBy={answeredBy ?? null} />
    </div>
  );
}

interface DecisionFactsProps {
  readonly decision: Decision;
  readonly reasoning: Reasoning;
  readonly routedMs: number | null;
}

/** The score only where the prompt decided: a tier or model that was asked for has none that matters. */
function DecisionFacts({ decision, reasoning, routedMs }: DecisionFactsProps) {
  return (
    <dl class="facts">
      <Fact name={TEXT.decidedBy}>{METHODS[decision.method] ?? decision.method}</Fact>
      <Fact name={TEXT.category}>{categoryName(decision.category)}</Fact>
      <Fact name={TEXT.confidence}>{percent(decision.confidence)}</Fact>
      {reasoning.score !== null && decision.profile === "auto" && (
        <Fact name={TEXT.score}>
          {reasoning.score} <span class="faint">({tierOfScoreText(reasoning.tier, decision.method)})</span>
        </Fact>
      )}
      <Fact name={TEXT.estimatedTokens}>
        {TEXT.tokensInOut(decision.estimatedTokens.input, decision.estimatedTokens.output)}
      </Fact>
      {decision.toolScenario !== null && (
        <Fact name={TEXT.tools}>
          {TEXT.bfclScore(decision.toolScenario.replaceAll("_", " "))} {decision.bfclScore ?? "unknown"}
        </Fact>
      )}
      {decision.historyFloor !== null && <Fact name={TEXT.conversation}>{TEXT.orHigher(decision.historyFloor)}</Fact>}
      {routedMs !== null && <Fact name={TEXT.routedIn}>{duration(routedMs)}</Fact>}
    </dl>
  );
}

/** The rules alone have bounds of their own, which are not shown. */
function tierOfScoreText(tier: string | null, method: string): string | null {
  if (!isTier(tier) || method === "rules") return tier;
  const [from, to] = scoreRangeOf(tier);
  return TEXT.scoreRange(tier, from.toFixed(2), to.toFixed(2));
}

/** The signals that the classifier found, and the adjustments that followed in their order. */
function ReasoningSteps({ reasoning: { signals, steps } }: { readonly reasoning: Reasoning }) {
  return (
    <>
      {signals.length > 0 && (
        <ul class="chips" aria-label={TEXT.signals}>
          {signals.map((signal) => (
            <li key={signal} class="chip">
              {signal}
            </li>
          ))}
        </ul>
      )}
      {steps.length > 0 && (
        <ol class="steps" aria-label={TEXT.adjustmentsInOrder}>
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
    </>
  );
}

/** Methods of deciding, in words. */
const METHODS: Readonly<Record<string, string>> = {
  rules: TEXT.rules,
  model: TEXT.classifier,
  hybrid: TEXT.classifierRules,
  tier: TEXT.requestFixedTier,
  direct: TEXT.requestFixedModel,
};

/** One line of a list of facts. */
function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The models in the order of asking, and below them those that were removed with the reason. */
function Chain({ decision, answeredBy }: { readonly decision: Decision; readonly answeredBy: string | null }) {
  const removed = decision.candidates.filter(({ removedBecause }) => removedBecause !== null);
  return (
    <div class="chain">
      <h3>{TEXT.fallbackChain}</h3>
      <ol>
        {decision.chain.map((model) => (
          <li key={model}>
            <a href={hrefTo("/models", { model })}>{model}</a>
            <Estimate usd={decision.candidates.find((candidate) => candidate.model === model)?.costUsd} />
            {model === answeredBy && <span class="chip good">{TEXT.answered}</span>}
            <CoolingDown candidate={decision.candidates.find((candidate) => candidate.model === model)} />
          </li>
        ))}
      </ol>
      {removed.length > 0 && <Removed removed={removed} />}
    </div>
  );
}

/** A model that is cooling down is asked last; its reason stands beside it. */
function CoolingDown({ candidate }: { readonly candidate: Candidate | undefined }) {
  if (candidate?.restingBecause === undefined) return null;
  return <span class="faint"> {candidate.restingBecause}</span>;
}

/** Shows the estimated cost of a model, where there is an estimate. */
function Estimate({ usd: amount }: { readonly usd: string | undefined }) {
  return amount === undefined ? null : <span class="faint"> {usd(amount)}</span>;
}

/** Models that were considered but may not answer. */
function Removed({ removed }: { readonly removed: readonly Candidate[] }) {
  return (
    <>
      <h3>{TEXT.excludedModels}</h3>
      <ul class="removed">
        {removed.map(({ model, removedBecause }) => (
          <li key={model}>
            <s>{model}</s> <span class="faint">{removedBecause}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
