// Wiring of what watches providers: the breakers, and what the metrics show of them.

import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Snapshot } from "../gateway/services.ts";
import type { BreakerRules, ProviderHealth } from "../providers/breaker.ts";
import { createHealth, type Health } from "../providers/health.ts";
import type { BreakerReading, Metrics } from "../telemetry/metrics.ts";

interface HealthContext {
  readonly current: () => Snapshot;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Breakers for every model, provider and credential, shown in the metrics. */
export function openHealth(settings: Pick<Settings, "health">, { current, log, metrics }: HealthContext): Health {
  const health = createHealth({
    models: current().catalog.models.values(),
    rules: breakerRules(settings.health),
    now: steadyNow,
    random: Math.random,
    log,
    onOpened: metrics.breakerOpened,
    onRetry: metrics.retried,
  });
  const present = () => health.overview().filter(({ id }) => current().catalog.providers.has(id));
  metrics.watchProviders({
    breakers: () => present().flatMap(breakersOf),
    models() {
      const models = present().flatMap((host) => host.models);
      const coolingDown = models.filter(({ isResting }) => isResting).length;
      return { usable: models.length - coolingDown, resting: coolingDown };
    },
    calls: () => current().registry.calls(),
  });
  return health;
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
