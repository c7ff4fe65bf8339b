// Wiring of what watches providers: the breakers, and what the metrics show of them.

import type { Settings } from "./config/settings.ts";
import type { Log } from "./core/ports.ts";
import type { Services } from "./gateway/services.ts";
import { createHealth } from "./providers/health.ts";
import type { BreakerReading, Metrics } from "./telemetry/metrics.ts";

type Watching = Pick<Services, "health" | "answerWithinMs">;

export function openHealth({ catalog, health: rules, answerWithinMs }: Settings, log: Log, metrics: Metrics): Watching {
  const health = createHealth({
    models: catalog.models.values(),
    rules,
    now: steadyNow,
    random: Math.random,
    log,
    onOpened: metrics.breakerOpened,
    onRetry: metrics.retried,
  });
  metrics.watchBreakers(() =>
    health
      .overview()
      .flatMap(({ id, provider, credential, models }): readonly BreakerReading[] =>
        catalog.providers.has(id)
          ? [
              { scope: "provider", provider: id, model: "", state: provider.state },
              { scope: "credential", provider: id, model: "", state: credential.state },
              ...models.map(({ id: model, state }) => ({ scope: "model", provider: id, model, state })),
            ]
          : [],
      ),
  );
  return { health, answerWithinMs };
}

/** The time of day as it was at the start, running on evenly: a clock that is set back must not prolong a rest. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
