// Which models may be called now. Each model, each provider and each provider's key has a breaker of its own; what a
// failure says about which of them is decided here. A model that is not well is tried last, so it still serves when nothing else does.

import type { Log } from "../core/log.ts";
import type { BreakerRules, Pulse } from "./breaker.ts";
import {
  admitsAtMs,
  blockerOf,
  type Host,
  isTroubled,
  type ModelHealth,
  newHost,
  type ProviderHealth,
  reasonOf,
  type Scope,
  stateOf,
  type Watched,
  type WatchedModel,
  watch,
} from "./breaker.ts";

/** A wrong key or an unknown model shows itself sooner than an outage. */
const REFUSALS_IN_ROW = 3;
/** No provider keeps a model away for longer, whatever it asks for. */
const REST_MS_MAX = 300_000;
/** When all are open, so many requests at once may still try a model; a provider that hangs holds up no more than these. */
const LAST_TRIES_AT_ONCE = 10;
const NEVER = Number.POSITIVE_INFINITY;
const NONE: ReadonlyMap<string, string> = new Map();

/** `dropped`: it says nothing about the model, since the fault was the client's or the client has disconnected. */
export type Outcome = "answered" | "began" | "dropped" | Trouble;

/** A failure that counts against somebody. */
export interface Trouble {
  readonly kind: "unreachable" | "failing" | "limited" | "refused-key" | "refused-model";
  /** How long the provider asked us to stay away. */
  readonly waitMs: number | null;
  /** In words of ours: what the provider said may hold anything. */
  readonly error: string;
}

/** Asked before an attempt, told after it. */
export interface Health {
  /** The models to try last, each with the reason. */
  resting(): ReadonlyMap<string, string>;
  /** The ticket of an attempt on the model; 0 when it must not be called now. Each ticket is reported on. */
  admit(modelId: string): number;
  /** When nothing else is left: a ticket though the model is cooling down; 0 when enough others are trying that. */
  admitResting(modelId: string): number;
  report(modelId: string, ticket: number, outcome: Outcome): void;
  /** Whether the provider's retry budget allows one more; it is then counted. */
  mayRetry(modelId: string): boolean;
  stateOf(modelId: string): ModelHealth;
  overview(): readonly ProviderHealth[];
  /** These are watched from now on. What is known of them stays, except of providers that have changed. */
  watch(models: Iterable<WatchedRow>, changedProviders: ReadonlySet<string>): void;
}

/** What health needs to know of a model. */
interface WatchedRow {
  readonly id: string;
  readonly provider: string;
}

export interface HealthInput {
  readonly models: Iterable<WatchedRow>;
  readonly rules: BreakerRules;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  /** Told of each opening and of each retry that was asked for. */
  readonly onOpened?: (opened: { scope: Scope; provider: string; model: string }) => void;
  readonly onRetry?: (retry: { provider: string; isAllowed: boolean }) => void;
}

export function createHealth(input: HealthInput): Health {
  return new Watch(input);
}

class Watch implements Health {
  readonly #input: HealthInput;
  readonly #pulse: Pulse;
  #hosts: ReadonlyMap<string, Host> = new Map();
  #entries: ReadonlyMap<string, WatchedModel> = new Map();
  /** No longer in the catalogue, but requests that began before may still try them. */
  readonly #former = new Map<string, WatchedModel>();
  #resting = NONE;
  /** Whether every breaker is closed, so that nothing changes until a failure. */
  #isWell = true;
  #hasChanged = false;
  #nextChangeMs = NEVER;

  constructor(input: HealthInput) {
    const { models, now, random } = input;
    this.#input = input;
    this.#pulse = { now, random, lastTicket: 0 };
    this.watch(models, new Set());
  }

  watch(models: Iterable<WatchedRow>, changedProviders: ReadonlySet<string>): void {
    const hosts = new Map<string, Host>();
    const entries = new Map<string, WatchedModel>();
    for (const { id, provider } of models) {
      const host = hosts.get(provider) ?? this.#hostOf(provider, changedProviders.has(provider));
      const known = this.#entries.get(id);
      const entry = known?.host === host ? known : this.#newEntry(id, host);
      hosts.set(provider, host);
      host.models.push(entry);
      entries.set(id, entry);
    }
    for (const [id, entry] of this.#entries) if (!entries.has(id)) this.#former.set(id, entry);
    this.#hosts = hosts;
    this.#entries = entries;
    this.#hasChanged = true;
  }

  /** Without models: the catalogue says which it has now. */
  #hostOf(provider: string, isChanged: boolean): Host {
    const known = isChanged ? undefined : this.#hosts.get(provider);
    if (known === undefined) return newHost(provider, this.#input.rules, this.#pulse);
    known.models.length = 0;
    return known;
  }

  #newEntry(id: string, host: Host): WatchedModel {
    const model = watch({ scope: "model", name: `model ${id}` }, this.#input.rules, this.#pulse);
    return { id, host, model, lastTries: new Set<number>(), sinceTicket: this.#pulse.lastTicket };
  }

  resting(): ReadonlyMap<string, string> {
    if (this.#isWell) return NONE;
    if (this.#hasChanged || this.#pulse.now() >= this.#nextChangeMs) this.#lookAround();
    return this.#resting;
  }

  admit(modelId: string): number {
    const entry = this.#entry(modelId);
    return blockerOf(entry) === null ? this.#enter(entry) : 0;
  }

  admitResting(modelId: string): number {
    const entry = this.#entry(modelId);
    if (entry.lastTries.size >= LAST_TRIES_AT_ONCE) return 0;
    const ticket = this.#enter(entry);
    entry.lastTries.add(ticket);
    return ticket;
  }

  report(modelId: string, ticket: number, outcome: Outcome): void {
    const entry = this.#entry(modelId);
    const { host, model } = entry;
    // The attempt was made with what the provider or the model was before.
    if (ticket <= entry.sinceTicket) return;
    if (entry.lastTries.size > 0) entry.lastTries.delete(ticket);
    if (!this.#isWell && isTroubled(entry)) this.#hasChanged = true;
    if (outcome === "answered") {
      host.hasFailed = false;
      model.breaker.succeeded(ticket);
      host.provider.breaker.succeeded(ticket);
      host.credential.breaker.succeeded(ticket);
    } else if (outcome === "began" || outcome === "dropped") {
      model.breaker[outcome](ticket);
      host.provider.breaker[outcome](ticket);
      host.credential.breaker[outcome](ticket);
    } else this.#count(entry, ticket, outcome);
  }

  mayRetry(modelId: string): boolean {
    const { host, model } = this.#entry(modelId);
    if (model.breaker.state === "open" || host.provider.breaker.state === "open") return false;
    const isAllowed = host.retries.take();
    this.#input.onRetry?.({ provider: host.id, isAllowed });
    return isAllowed;
  }

  stateOf(modelId: string): ModelHealth {
    const entry = this.#entry(modelId);
    const blocker = blockerOf(entry);
    return { isResting: blocker !== null, ...stateOf(blocker ?? entry.model, this.#pulse.now()) };
  }

  overview(): readonly ProviderHealth[] {
    const nowMs = this.#pulse.now();
    const describe = (entry: WatchedModel) => ({
      id: entry.id,
      isResting: blockerOf(entry) !== null,
      ...stateOf(entry.model, nowMs),
    });
    return [...this.#hosts.values()].map(({ id, provider, credential, models }) => ({
      id,
      provider: stateOf(provider, nowMs),
      credential: stateOf(credential, nowMs),
      models: models.map(describe),
    }));
  }

  #enter(entry: WatchedModel): number {
    const { host, model } = entry;
    this.#pulse.lastTicket += 1;
    const ticket = this.#pulse.lastTicket;
    host.retries.noteCall();
    if (this.#isWell) return ticket;
    if (isTroubled(entry)) this.#hasChanged = true;
    model.breaker.enter(ticket);
    host.provider.breaker.enter(ticket);
    host.credential.breaker.enter(ticket);
    return ticket;
  }

  #count(entry: WatchedModel, ticket: number, trouble: Trouble): void {
    const { host, model } = entry;
    const { failuresInRow } = this.#input.rules;
    const { kind, waitMs } = trouble;
    this.#isWell = false;
    this.#hasChanged = true;
    if (kind === "unreachable" || kind === "failing") {
      this.#note(entry, model, trouble, () => model.breaker.failed(ticket, failuresInRow));
      this.#note(entry, host.provider, trouble, () => this.#countForProvider(entry, ticket, kind));
      host.credential.breaker.dropped(ticket);
    } else {
      host.hasFailed = false;
      host.provider.breaker.succeeded(ticket);
      this.#note(entry, model, trouble, () => this.#countRefusal(model, ticket, trouble));
      if (kind !== "refused-key") host.credential.breaker.dropped(ticket);
      else this.#note(entry, host.credential, trouble, () => host.credential.breaker.failed(ticket, REFUSALS_IN_ROW));
    }
    if (waitMs !== null) model.breaker.rest(Math.min(waitMs, REST_MS_MAX));
  }

  /** One that names the time to come back is not failing; it only wants that pause. */
  #countRefusal({ breaker }: Watched, ticket: number, { kind, waitMs }: Trouble): void {
    if (kind !== "limited") breaker.failed(ticket, REFUSALS_IN_ROW);
    else if (waitMs === null) breaker.failed(ticket, this.#input.rules.failuresInRow);
    else breaker.dropped(ticket);
  }

  // A host that cannot be reached is away for all its models. When it answers but fails, that may be the one model's
  // trouble, so it takes the failures of two, with no success of any between, to suspect the host.
  #countForProvider(entry: WatchedModel, ticket: number, kind: "unreachable" | "failing"): void {
    const { host } = entry;
    host.failing = !host.hasFailed || host.failing === entry ? entry : null;
    host.hasFailed = true;
    const isWide = kind === "unreachable" || host.failing === null;
    const opensAt = isWide ? this.#input.rules.failuresInRow : NEVER;
    host.provider.breaker.failed(ticket, opensAt, kind === "unreachable");
  }

  #note({ host, id }: WatchedModel, watched: Watched, { error }: Trouble, count: () => void): void {
    const { scope, name, breaker } = watched;
    const openUntilMs = breaker.admitsAtMs;
    watched.lastError = error;
    watched.lastErrorAtMs = this.#pulse.now();
    count();
    if (breaker.state !== "open" || breaker.admitsAtMs === openUntilMs) return;
    const model = scope === "model" ? id : "";
    const openMs = Math.round(breaker.admitsAtMs - this.#pulse.now());
    const event = "breaker.opened" as const;
    const fields = { event, scope, provider: host.id, model, failures: breaker.failuresInRow, openMs, error };
    this.#input.log.warn(fields, `${name} is cooling down after failures`);
    this.#input.onOpened?.({ scope, provider: host.id, model });
  }

  /** Works out which models are cooling down, and when that changes by the clock alone. */
  #lookAround(): void {
    const resting = new Map<string, string>();
    const nowMs = this.#pulse.now();
    this.#isWell = true;
    this.#hasChanged = false;
    this.#nextChangeMs = NEVER;
    for (const entry of this.#entries.values()) {
      if (!isTroubled(entry)) continue;
      this.#isWell = false;
      const blocker = blockerOf(entry);
      if (blocker !== null) resting.set(entry.id, reasonOf(blocker));
      const changesAtMs = admitsAtMs(entry);
      if (changesAtMs > nowMs) this.#nextChangeMs = Math.min(this.#nextChangeMs, changesAtMs);
    }
    this.#resting = resting.size === 0 ? NONE : resting;
  }

  #entry(modelId: string): WatchedModel {
    const entry = this.#entries.get(modelId) ?? this.#former.get(modelId);
    if (entry === undefined) throw new Error(`model ${modelId} is not in the catalogue`);
    return entry;
  }
}
