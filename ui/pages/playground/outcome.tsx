// The decision for a draft, or the reason why there is none.

import type { ComponentChildren } from "preact";
import { Empty, Problem } from "../../kit/states.tsx";
import { DecisionPanel } from "../../parts/decision.tsx";
import { baselineNamed } from "../../parts/text.ts";
import * as TEXT from "./text.ts";
import type { DecisionPreview, PreviewState } from "./use-decision.ts";

/** The children stand below the decision. */
interface OutcomeProps {
  readonly title: string;
  readonly state: PreviewState;
  readonly children?: ComponentChildren;
}

/** Has every change read out, since the focus stays in the prompt. */
export function Outcome({ title, state, children }: OutcomeProps) {
  return (
    <section
      class={state.isStale ? "card stale" : "card"}
      aria-busy={state.isStale}
      aria-label={title}
      aria-live="polite"
    >
      <h2>{title}</h2>
      <Problem error={state.error} />
      {state.preview === null ? (
        <Empty title={TEXT.typeAPrompt}>{TEXT.emptyHint}</Empty>
      ) : (
        <PreviewDetails preview={state.preview} />
      )}
      {children}
    </section>
  );
}

/** A preview in the shape of a recorded decision, so that one panel shows both. */
function PreviewDetails({ preview }: { readonly preview: DecisionPreview }) {
  const { decision, estimate, candidates, classifiedTier, tookMs } = preview;
  const changes = [
    ...(decision.conversions ?? []),
    ...(decision.droppedFields ?? []).map((field) => TEXT.drops(field)),
  ];
  return (
    <>
      <DecisionPanel
        routedMs={tookMs}
        baseline={baselineNamed(estimate.baselineModel, estimate.baselinePrice)}
        decision={{
          ...decision,
          classifiedTier,
          chain: decision.filteredChain,
          candidates,
          savings: estimate.savings,
          costEstimateUsd: estimate.costUsd,
          baselineCostUsd: estimate.baselineCostUsd,
          estimatedTokens: { input: estimate.inputTokens, output: estimate.outputTokens },
        }}
      />
      {decision.cascade !== undefined && <p class="faint">{cascadeText(decision.cascade)}</p>}
      {changes.length > 0 && <p class="faint">{TEXT.adapted(changes.join(", "))}</p>}
    </>
  );
}

/** The answers that a cascade may ask for, or the reason why there is none. */
function cascadeText({ checks = [], attempts = [], unusedBecause }: Cascade): string {
  if (unusedBecause !== undefined) return TEXT.noCascade(unusedBecause);
  return TEXT.cascadeOf(
    attempts.map(({ tier, model }) => `${tier} (${model})`),
    checks,
  );
}

type Cascade = NonNullable<DecisionPreview["decision"]["cascade"]>;
