// Facts about a model that the table, the sheet and the comparison all show.

import { ago, percent, plural } from "../../format.ts";
import type { HealthState, Model, Usage } from "../../types.ts";
import * as TEXT from "./text.ts";

/** A model with its usage of the last 24 hours. */
export interface SeenModel extends Model {
  readonly usage: Usage | null;
  /** Share of all requests that this model got, from 0 to 1. */
  readonly share: number;
}

/** Prices are per token in the API and per million tokens for people. */
export function perMillion(perToken: string | null): number | null {
  return perToken === null ? null : Number(perToken) * 1e6;
}

/** A dash where there was nothing to fail. */
export function errorRate({ usage }: SeenModel): string {
  return usage === null || usage.requests === 0 ? "–" : percent(usage.errors / usage.requests);
}

/** A model whose provider has no key has no health to speak of. */
export function Health({ model }: { readonly model: Pick<Model, "isRoutable" | "health"> }) {
  if (!model.isRoutable) return <span class="faint">{TEXT.noProviderKey}</span>;
  return <HealthBadge health={model.health} />;
}

/** One word for a circuit breaker. The tooltip says what the breaker saw, and when it lets calls through again. */
function HealthBadge({ health }: { readonly health: HealthState }) {
  const { state, consecutiveFailures } = health;
  const description = describeHealth(health);
  if (state === "open" || state === "resting") {
    return (
      <span class="status bad" title={description}>
        {TEXT.coolingDown}
      </span>
    );
  }
  if (state === "half-open") {
    return (
      <span class="status caution" title={description}>
        {TEXT.testing}
      </span>
    );
  }
  if (consecutiveFailures === 0) return <span class="status good">{TEXT.healthy}</span>;
  return (
    <span class="status caution" title={description}>
      {TEXT.failedTimes(consecutiveFailures)}
    </span>
  );
}

/** The state in a sentence: why, since when, what next, and the last error. */
export function describeHealth(health: HealthState): string {
  const { state, since, nextTryAt, consecutiveFailures, lastError, lastErrorAt } = health;
  const error = lastError === null ? "" : TEXT.lastErrorWas(ago(lastErrorAt), lastError);
  if (state === "closed") return `Healthy${error}`;
  const next = nextTryAt === null ? TEXT.nextIsTest : TEXT.retryWhen(ago(nextTryAt));
  const failures = plural(consecutiveFailures, TEXT.consecutiveFailure);
  const why = state === "resting" ? TEXT.rateLimitedByProvider : failures;
  return TEXT.healthSummary(why, ago(since), next, error);
}
