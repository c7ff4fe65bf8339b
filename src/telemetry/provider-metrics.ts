// The metrics of providers: their breakers, second tries, how many models could be called now, and how many calls are out.
// What is a state is read when the metrics are, not kept up to date.

import { Counter, Gauge, type Registry } from "prom-client";

export interface BreakerReading {
  readonly scope: string;
  readonly provider: string;
  /** Empty where the breaker is not a model's. */
  readonly model: string;
  readonly state: "closed" | "half-open" | "open" | "resting";
}

/** What is seen of providers at one moment. */
export interface ProviderReadings {
  breakers(): readonly BreakerReading[];
  /** Models of the catalogue that have a provider: those that may be called now, and those that rest. */
  models(): { readonly usable: number; readonly resting: number };
  /** Calls under way, by provider. */
  calls(): readonly { readonly provider: string; readonly count: number }[];
}

export interface ProviderMetrics {
  breakerOpened(opened: Omit<BreakerReading, "state">): void;
  retried(retry: { readonly provider: string; readonly isAllowed: boolean }): void;
  watchProviders(readings: ProviderReadings): void;
}

const BREAKER_VALUES = { closed: 0, "half-open": 1, open: 2, resting: 3 } as const;
const BREAKER_LABELS = ["scope", "provider", "model"] as const;

export function providerMetrics(registry: Registry): ProviderMetrics {
  const registers = [registry];
  const opened = new Counter({
    name: "switchyard_breaker_openings_total",
    help: "How often a breaker opened.",
    labelNames: BREAKER_LABELS,
    registers,
  });
  const retries = new Counter({
    name: "switchyard_retries_total",
    help: "Second tries on the same model; refused ones were over the provider's share.",
    labelNames: ["provider", "outcome"],
    registers,
  });
  return {
    breakerOpened: ({ scope, provider, model }) => opened.inc({ scope, provider, model }),
    retried: ({ provider, isAllowed }) => retries.inc({ provider, outcome: isAllowed ? "made" : "refused" }),
    watchProviders: (readings) => watch(readings, registers),
  };
}

function watch({ breakers, models, calls }: ProviderReadings, registers: Registry[]): void {
  new Gauge({
    name: "switchyard_breaker_state",
    help: "0 closed, 1 half-open, 2 open, 3 resting as the provider asked.",
    labelNames: BREAKER_LABELS,
    registers,
    collect() {
      for (const { state, ...labels } of breakers()) this.set(labels, BREAKER_VALUES[state]);
    },
  });
  new Gauge({
    name: "switchyard_models",
    help: "Models with a provider: usable now, or resting because a breaker before them lets no call through.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(models())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: "switchyard_provider_calls_in_flight",
    help: "Calls to providers under way, streams until their end.",
    labelNames: ["provider"],
    registers,
    collect() {
      for (const { provider, count } of calls()) this.set({ provider }, count);
    },
  });
}
