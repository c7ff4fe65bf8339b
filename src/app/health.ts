// Wiring of what watches providers: the breakers, and what the metrics show of them.

import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Services } from "../gateway/services.ts";
import type { BreakerRules, ProviderHealth } from "../providers/breaker.ts";
import { createHealth } from "../providers/health.ts";
import type { Registry } from "../providers/registry.ts";
import type { BreakerReading, Metrics } from "../telemetry/metrics.ts";

/** The part of the services that this file makes. */
type Watching = Pick<Services, "health" | "answerWithinMs">;

interface HealthContext {
  readonly registry: Registry;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Breakers for every model, provider and credential, shown in the metrics. */
export function openHealth(settings: Settings, { registry, log, metrics }: HealthContext): Watching {
  const { catalog, routing } = settings;
  const health = createHealth({
    models: catalog.models.values(),
    rules: breakerRules(settings.health),
    now: steadyNow,
    random: Math.random,
    log,
    onOpened: metrics.breakerOpened,
    onRetry: metrics.retried,
  });
  const present = () => health.overview().filter(({ id }) => catalog.providers.has(id));
  metrics.watchProviders({
    breakers: () => present().flatMap(breakersOf),
    models() {
      const models = present().flatMap((host) => host.models);
      const coolingDown = models.filter(({ isResting }) => isResting).length;
      return { usable: models.length - coolingDown, resting: coolingDown };
    },
    calls: registry.calls,
  });
  return { health, answerWithinMs: routing.answerWithinMs };
}

/** The settings in the words of the breaker. */
function breakerRules({ failuresInRow, failureShare, ...health }: Settings["health"]): BreakerRules {
  const { failureCallsMin: callsMin, healthWindowMs: windowMs, healthOpenMs: openMs, healthOpenMsMax } = health;
  return { failuresInRow, failureShare, callsMin, windowMs, openMs, openMsMax: Math.max(openMs, healthOpenMsMax) };
}

/** A provider has a breaker for its host, one for its credential and one for each model. */
function breakersOf({ id, provider, credential, models }: ProviderHealth): readonly BreakerReading[] {
  return [
    { scope: "provider", provider: id, model: "", state: provider.state },
    { scope: "credential", provider: id, model: "", state: credential.state },
    ...models.map(({ id: model, state }) => ({ scope: "model", provider: id, model, state })),
  ];
}

/** The time of day as it was at the start, running on evenly: a clock that is set back must not prolong a cooldown. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
