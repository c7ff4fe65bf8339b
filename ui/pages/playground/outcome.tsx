// What was decided for a draft, or why nothing was.

import type { ComponentChildren } from "preact";
import { Empty, Problem } from "../../kit/states.tsx";
import { DecisionPanel } from "../../parts/decision.tsx";
import type { Answer, Asked } from "./use-decision.ts";

export function Outcome({
  title,
  asked,
  children,
}: {
  readonly title: string;
  readonly asked: Asked;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class={asked.isStale ? "card stale" : "card"} aria-label={title} aria-live="polite">
      <h2>{title}</h2>
      <Problem error={asked.error} />
      {asked.answer === null ? (
        <Empty title="Type a prompt">The decision appears here as you type.</Empty>
      ) : (
        <Told answer={asked.answer} />
      )}
      {children}
    </section>
  );
}

function Told({ answer }: { readonly answer: Answer }) {
  const { decision, estimate, candidates, classifiedTier, tookMs } = answer;
  const changes = [...(decision.conversions ?? []), ...(decision.droppedFields ?? []).map((field) => `drops ${field}`)];
  return (
    <>
      <DecisionPanel
        routedMs={tookMs}
        decision={{
          ...decision,
          classifiedTier,
          chain: decision.filteredChain,
          candidates,
          costEstimateUsd: estimate.costUsd,
          baselineCostUsd: estimate.baselineCostUsd,
          estimatedTokens: { input: estimate.inputTokens, output: estimate.outputTokens },
        }}
      />
      {changes.length > 0 && <p class="faint">Written for this model: {changes.join(", ")}</p>}
    </>
  );
}
