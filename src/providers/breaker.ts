// A circuit breaker as a pure state machine: closed, open after failures, half-open for one probe at a time. Beside it
// stands the pause a provider asked for. It owns no timer; time, chance and tickets come from outside.

import { RetryBudget, Tally } from "./tally.ts";

/** Rules for opening a breaker, and for how long. */
export interface BreakerRules {
  readonly failuresInRow: number;
  /** From this share of failed calls on it opens, when the window has seen enough of them. */
  readonly failureShare: number;
  readonly callsMin: number;
  readonly windowMs: number;
  readonly openMs: number;
  readonly openMsMax: number;
}

/** State that all breakers share. Tickets number the attempts: an attempt that began before a breaker opened says nothing about
 * the time after. */
export interface Pulse {
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  lastTicket: number;
}

/** `resting`: the provider asked for a pause. */
export type BreakerState = "closed" | "open" | "half-open" | "resting";

/** Open times vary by this share of themselves, so that processes do not probe in step. */
const JITTER = 0.2;

/** Closed, open or half-open. It has no timers: it is asked. */
export class Breaker {
  readonly #rules: BreakerRules;
  readonly #pulse: Pulse;
  /** Calls that count towards the share. */
  readonly #calls: Tally;
  readonly #failures: Tally;
  #failuresInRow = 0;
  #isOpen = false;
  #changedAtMs: number;
  #openUntilMs = 0;
  #openings = 0;
  #openedAfterTicket = 0;
  #probe = 0;
  #restUntilMs = 0;
  #restedAtMs = 0;
  #restedAfterTicket = 0;

  constructor(rules: BreakerRules, pulse: Pulse) {
    this.#rules = rules;
    this.#pulse = pulse;
    this.#calls = new Tally(rules.windowMs);
    this.#failures = new Tally(rules.windowMs);
    this.#changedAtMs = pulse.now();
  }

  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  /** Since when it is in its state; open and half-open are one. */
  get sinceMs(): number {
    return this.#pulse.now() < this.#restUntilMs ? this.#restedAtMs : this.#changedAtMs;
  }

  get state(): BreakerState {
    const nowMs = this.#pulse.now();
    if (nowMs < this.#restUntilMs) return "resting";
    if (!this.#isOpen) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half-open";
  }

  /** Time at which the breaker lets a call through again. A past time means that it does so already, or that a probe is out. */
  get admitsAtMs(): number {
    return Math.max(this.#restUntilMs, this.#isOpen ? this.#openUntilMs : 0);
  }

  admits(): boolean {
    if (!this.#isOpen && this.#restUntilMs === 0) return true;
    const nowMs = this.#pulse.now();
    if (nowMs < this.#restUntilMs) return false;
    return !this.#isOpen || (nowMs >= this.#openUntilMs && this.#probe === 0);
  }

  /** A call sets out. The first after the open time is the probe. */
  enter(ticket: number): void {
    if (this.#isOpen && this.#probe === 0 && this.#pulse.now() >= this.#openUntilMs) this.#probe = ticket;
  }

  /** A stream has begun. That closes it, but on probation: the next failure opens it again, for longer. */
  began(ticket: number): void {
    const isNews = this.#isOpen && ticket > this.#openedAfterTicket;
    this.dropped(ticket);
    if (!isNews) return;
    this.#close();
    this.#failuresInRow = this.#rules.failuresInRow - 1;
  }

  succeeded(ticket: number): void {
    this.dropped(ticket);
    if (ticket > this.#restedAfterTicket) this.#restUntilMs = 0;
    if (ticket <= this.#openedAfterTicket) return;
    if (this.#isOpen) this.#close();
    this.#failuresInRow = 0;
    this.#calls.add(this.#pulse.now());
  }

  /** Opens at this many failures in a row; `isRated` failures count towards the share as well. */
  failed(ticket: number, opensAt: number, isRated = true): void {
    const wasProbe = ticket === this.#probe;
    this.dropped(ticket);
    if (ticket <= this.#openedAfterTicket) return;
    // A last try while it is open tells nothing new.
    if (this.#isOpen && !wasProbe) return;
    this.#failuresInRow += 1;
    if (isRated) this.#rateFailure();
    if (this.#isOpen || this.#failuresInRow >= opensAt || (isRated && this.#isShareReached())) this.#open();
  }

  /** Says nothing about health: the client's own fault, or it disconnected. */
  dropped(ticket: number): void {
    if (this.#probe === ticket) this.#probe = 0;
  }

  /** The later of two ends counts. */
  rest(waitMs: number): void {
    if (waitMs <= 0) return;
    const nowMs = this.#pulse.now();
    if (nowMs >= this.#restUntilMs) this.#restedAtMs = nowMs;
    this.#restUntilMs = Math.max(this.#restUntilMs, nowMs + waitMs);
    this.#restedAfterTicket = this.#pulse.lastTicket;
  }

  #rateFailure(): void {
    const nowMs = this.#pulse.now();
    this.#calls.add(nowMs);
    this.#failures.add(nowMs);
  }

  #isShareReached(): boolean {
    const nowMs = this.#pulse.now();
    const calls = this.#calls.count(nowMs);
    return calls >= this.#rules.callsMin && this.#failures.count(nowMs) >= this.#rules.failureShare * calls;
  }

  // One that has just closed and opens again was not well: it goes on from the open time it had.
  #open(): void {
    const { openMs, openMsMax, windowMs } = this.#rules;
    const nowMs = this.#pulse.now();
    if (!this.#isOpen && nowMs - this.#changedAtMs > windowMs) this.#openings = 0;
    const plainMs = Math.min(openMsMax, openMs * 2 ** this.#openings);
    this.#openings = Math.min(this.#openings + 1, 30);
    this.#openUntilMs = nowMs + plainMs * (1 - JITTER + 2 * JITTER * this.#pulse.random());
    this.#openedAfterTicket = this.#pulse.lastTicket;
    if (!this.#isOpen) this.#changedAtMs = nowMs;
    this.#isOpen = true;
  }

  #close(): void {
    this.#isOpen = false;
    this.#probe = 0;
    this.#changedAtMs = this.#pulse.now();
    this.#failuresInRow = 0;
    this.#calls.clear();
    this.#failures.clear();
  }
}

// The breakers that stand before a call: those of the model, of its provider, of the provider's key, and of the model
// with that key. What is read of them: whether they let a call through, since when, until when, and why.

/** Kinds of things that a breaker guards. */
export type Scope = "provider" | "model" | "credential";

/** A breaker with its name and the last thing that went wrong. */
export interface Watched {
  readonly scope: Scope;
  readonly name: string;
  readonly breaker: Breaker;
  lastError: string | null;
  lastErrorAtMs: number | null;
}

/** A provider as health sees it. */
export interface WatchedProvider {
  readonly id: string;
  readonly provider: Watched;
  /** By the key's id; a single one has none. */
  readonly credentials: ReadonlyMap<string, Watched>;
  readonly retries: RetryBudget;
  readonly models: WatchedModel[];
  /** True if the last call failed. */
  hasFailed: boolean;
  /** The model of the failures in a row; null when they are of several. */
  failing: WatchedModel | null;
}

/** A model at one of its hosts. */
export interface WatchedModel {
  /** Name shown among the models of the provider. */
  readonly id: string;
  readonly hostKey: string;
  readonly upstream: string | undefined;
  readonly host: WatchedProvider;
  readonly model: Watched;
  /** One for each key of the provider. */
  readonly lanes: readonly Lane[];
  /** The newest ticket when it was watched first: what older ones report is not about it. */
  readonly sinceTicket: number;
}

/** A model at a host with one of the keys, and everything that may stand in the way of a call. */
export interface Lane {
  readonly keyId: string;
  readonly host: WatchedProvider;
  readonly model: Watched;
  readonly credential: Watched;
  /** Rate limits belong to a key. Of a single key they are told of the model itself. */
  readonly limit: Watched;
  readonly lastTries: Set<number>;
}

/** State of a breaker in the dashboard and the API. */
export interface HealthState {
  readonly state: BreakerState;
  readonly sinceMs: number;
  /** Time at which a call is let through again; null if calls get through now, or a probe is out. */
  readonly nextTryAtMs: number | null;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  readonly lastErrorAtMs: number | null;
}

export interface ModelHealth extends HealthState {
  /** True if the model is tried last, for its own sake or its provider's. */
  readonly isResting: boolean;
}

/** A provider with everything that depends on it. */
export interface ProviderHealth {
  readonly id: string;
  readonly provider: HealthState;
  /** State of the healthiest key. */
  readonly credential: HealthState;
  /** State of each key, if there are several. */
  readonly keys: readonly ({ readonly id: string } & HealthState)[];
  readonly models: readonly ({ readonly id: string } & ModelHealth)[];
}

interface Kind {
  readonly scope: Scope;
  readonly name: string;
}

function watch({ scope, name }: Kind, rules: BreakerRules, pulse: Pulse): Watched {
  return { scope, name, breaker: new Breaker(rules, pulse), lastError: null, lastErrorAtMs: null };
}

export function newProvider(id: string, keyIds: readonly string[], { rules, pulse }: BreakerContext): WatchedProvider {
  const keyName = (keyId: string): string => (keyId === SINGLE_KEY ? `the key of ${id}` : `key ${keyId} of ${id}`);
  const newKey = (keyId: string): Watched => watch({ scope: "credential", name: keyName(keyId) }, rules, pulse);
  return {
    id,
    provider: watch({ scope: "provider", name: `provider ${id}` }, rules, pulse),
    credentials: new Map(keyIds.map((keyId) => [keyId, newKey(keyId)])),
    retries: new RetryBudget(pulse.now),
    models: [],
    hasFailed: false,
    failing: null,
  };
}

interface BreakerContext {
  readonly rules: BreakerRules;
  readonly pulse: Pulse;
}

/** The id of a key that needs none, because it is the only one. */
export const SINGLE_KEY = "";

export function newModel(
  { id, hostKey = id, upstream }: { readonly id: string; readonly hostKey?: string; readonly upstream?: string },
  host: WatchedProvider,
  { rules, pulse }: BreakerContext,
): WatchedModel {
  const model = watch({ scope: "model", name: `model ${hostKey}` }, rules, pulse);
  const lanes = [...host.credentials].map(([keyId, credential]): Lane => {
    const name = `model ${hostKey} with key ${keyId}`;
    const limit = keyId === SINGLE_KEY ? model : watch({ scope: "model", name }, rules, pulse);
    return { keyId, host, model, credential, limit, lastTries: new Set() };
  });
  return { id, hostKey, upstream, host, model, lanes, sinceTicket: pulse.lastTicket };
}

/** The first of those before a lane that lets no call through now. */
export function blockerOf({ host, model, credential, limit }: Lane): Watched | null {
  if (!credential.breaker.admits()) return credential;
  if (!host.provider.breaker.admits()) return host.provider;
  if (!model.breaker.admits()) return model;
  return limit.breaker.admits() ? null : limit;
}

/** Any of the breakers before a lane is not closed. */
export function isTroubled({ host, model, credential, limit }: Lane): boolean {
  return (
    model.breaker.state !== "closed" ||
    host.provider.breaker.state !== "closed" ||
    credential.breaker.state !== "closed" ||
    limit.breaker.state !== "closed"
  );
}

/** Time at which all breakers of the lane let a call through again. */
export function admitsAtMs({ host, model, credential, limit }: Lane): number {
  const { admitsAtMs: providerAtMs } = host.provider.breaker;
  return Math.max(model.breaker.admitsAtMs, providerAtMs, credential.breaker.admitsAtMs, limit.breaker.admitsAtMs);
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

/** Explains why a model is tried last. The times are absolute, so that the words stay true. */
export function reasonOf({ name, breaker, lastError }: Watched): string {
  const because = lastError === null ? "" : ` (${lastError})`;
  const { state } = breaker;
  if (state === "half-open") return `${name} is being probed after failures${because}`;
  const until = new Date(breaker.admitsAtMs).toISOString();
  if (state === "resting") return `${name} is cooling down until ${until}, as the provider asked${because}`;
  return `${name} is cooling down until ${until} after failures${because}`;
}

/** Finds what blocks a model with every key; null when a call gets through with one of them. */
export function blockerOfAll({ lanes }: WatchedModel): Watched | null {
  let first: Watched | null = null;
  for (const lane of lanes) {
    const blocker = blockerOf(lane);
    if (blocker === null) return null;
    first ??= blocker;
  }
  return first;
}
