// The three breakers that stand before a model: its own, its provider's, and that of the provider's key. What is read of
// them: whether they let a call through, since when, until when, and why.

import { Breaker, type BreakerRules, type BreakerState, type Pulse } from "./breaker.ts";
import { RetryBudget } from "./retry-budget.ts";

export type Scope = "provider" | "model" | "credential";

export interface Watched {
  readonly scope: Scope;
  readonly name: string;
  readonly breaker: Breaker;
  lastError: string | null;
  lastErrorAtMs: number | null;
}

export interface Host {
  readonly id: string;
  readonly provider: Watched;
  readonly credential: Watched;
  readonly retries: RetryBudget;
  readonly models: Entry[];
  /** Whether its last call failed, and of which model these failures in a row are; null when of several. */
  hasFailed: boolean;
  failing: Entry | null;
}

export interface Entry {
  readonly id: string;
  readonly host: Host;
  readonly model: Watched;
  readonly lastTries: Set<number>;
}

export interface HealthState {
  readonly state: BreakerState;
  readonly sinceMs: number;
  /** When a call is let through again; null when it is now, or when a probe is out. */
  readonly nextTryAtMs: number | null;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  readonly lastErrorAtMs: number | null;
}

export interface ModelHealth extends HealthState {
  /** Whether it is tried last, for its own sake or its provider's. */
  readonly isResting: boolean;
}

export interface ProviderHealth {
  readonly id: string;
  readonly provider: HealthState;
  readonly credential: HealthState;
  readonly models: readonly ({ readonly id: string } & ModelHealth)[];
}

interface Kind {
  readonly scope: Scope;
  readonly name: string;
}

export function watch({ scope, name }: Kind, rules: BreakerRules, pulse: Pulse): Watched {
  return { scope, name, breaker: new Breaker(rules, pulse), lastError: null, lastErrorAtMs: null };
}

export function newHost(id: string, rules: BreakerRules, pulse: Pulse): Host {
  return {
    id,
    provider: watch({ scope: "provider", name: `provider ${id}` }, rules, pulse),
    credential: watch({ scope: "credential", name: `the key of ${id}` }, rules, pulse),
    retries: new RetryBudget(pulse.now),
    models: [],
    hasFailed: false,
    failing: null,
  };
}

/** The first of the three that lets no call through now. */
export function blockerOf({ host, model }: Entry): Watched | null {
  if (!host.credential.breaker.admits()) return host.credential;
  if (!host.provider.breaker.admits()) return host.provider;
  return model.breaker.admits() ? null : model;
}

export function isTroubled({ host, model }: Entry): boolean {
  const { credential, provider } = host;
  return (
    model.breaker.state !== "closed" || provider.breaker.state !== "closed" || credential.breaker.state !== "closed"
  );
}

export function admitsAtMs({ host, model }: Entry): number {
  return Math.max(model.breaker.admitsAtMs, host.provider.breaker.admitsAtMs, host.credential.breaker.admitsAtMs);
}

export function stateOf({ breaker, lastError, lastErrorAtMs }: Watched, nowMs: number): HealthState {
  return {
    state: breaker.state,
    sinceMs: breaker.sinceMs,
    nextTryAtMs: breaker.admitsAtMs > nowMs ? breaker.admitsAtMs : null,
    consecutiveFailures: breaker.failuresInRow,
    lastError,
    lastErrorAtMs,
  };
}

/** Why a model is tried last, in words; times are absolute, so that the words stay true. */
export function reasonOf({ name, breaker, lastError }: Watched): string {
  const because = lastError === null ? "" : ` (${lastError})`;
  const { state } = breaker;
  if (state === "half-open") return `${name} is being probed after failures${because}`;
  const until = new Date(breaker.admitsAtMs).toISOString();
  if (state === "resting") return `${name} rests until ${until}, as the provider asked${because}`;
  return `${name} rests until ${until} after failures${because}`;
}
