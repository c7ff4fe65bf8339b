// Wiring of circuit breakers and their metrics.

import type { Catalog } from "../catalog/catalog.ts";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Snapshot } from "../gateway/services.ts";
import type { BreakerRules, ProviderHealth } from "../providers/breaker.ts";
import {
  type BreakerOpening,
  createHealth,
  type Health,
  type TestPassed,
  type WatchedRow,
} from "../providers/health.ts";
import type { BreakerReading, Metrics } from "../telemetry/metrics.ts";
import type { WorkerSlot } from "./worker.ts";

interface HealthContext {
  readonly current: () => Snapshot;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly worker: WorkerSlot | null;
  readonly now?: (() => number) | undefined;
}

/** Topic of messages about a breaker that opened in one worker. */
const BREAKER_OPENED = "breaker-opened";
/** Topic of messages about an operator's test that one worker made. */
const TEST_PASSED = "provider-test-passed";

/** Breakers for every model, provider and credential, shown in the metrics. */
export function openHealth(
  settings: Pick<Settings, "health">,
  { current, log, metrics, worker, now }: HealthContext,
): Health {
  const health = createHealth({
    models: watchedRows(current().catalog),
    rules: breakerRules(settings.health),
    now,
    random: Math.random,
    log,
    onOpened(opened) {
      metrics.breakerOpened(opened);
      worker?.link.publish(BREAKER_OPENED, opened);
    },
    onPassed: (passed) => worker?.link.publish(TEST_PASSED, passed),
    onRetry: metrics.retried,
  });
  worker?.link.on(BREAKER_OPENED, (opened) => health.follow(opened as BreakerOpening));
  worker?.link.on(TEST_PASSED, (passed) => health.follow(passed as TestPassed));
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

/** Lists every model at every host. The dashboard also shows providers that are not configured. */
export function watchedRows({ models, providers }: Catalog): readonly WatchedRow[] {
  return [...models.values()].flatMap(({ hosts }) =>
    hosts.map(({ id, host, hostKey, provider, upstream }) => ({
      // A provider may serve the model under several names, each with its own entry.
      id: host === provider ? id : hostKey,
      hostKey,
      provider,
      upstream,
      keyIds: providers.get(provider)?.apiKeys?.map((key) => key.id),
    })),
  );
}

/** Translates settings into rules of the breaker. */
function breakerRules({ failuresInRow, failureShare, ...health }: Settings["health"]): BreakerRules {
  const { failureCallsMin: callsMin, healthWindowMs: windowMs, healthOpenMs: openMs, healthOpenMsMax } = health;
  return { failuresInRow, failureShare, callsMin, windowMs, openMs, openMsMax: Math.max(openMs, healthOpenMsMax) };
}

/** Reads the breakers of a provider: its own, one per key (the worst is shown) and one per model. */
function breakersOf({ id, provider, credential, keys, models }: ProviderHealth): readonly BreakerReading[] {
  const worstKey = keys.find(({ state }) => state !== "closed") ?? credential;
  return [
    { scope: "provider", provider: id, model: "", state: provider.state },
    { scope: "credential", provider: id, model: "", state: worstKey.state },
    ...models.map(({ id: model, state }) => ({ scope: "model", provider: id, model, state })),
  ];
}
