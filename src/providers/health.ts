// Decides which models may be called now. Each model at each host, each provider and each key has a breaker of its own, and
// this file decides which of them a failure counts against. A model that is cooling down is tried last, so it still serves
// when nothing else does.

import type { Log } from "../core/log.ts";
import type { BreakerRules, Pulse } from "./breaker.ts";
import {
  admitsAtMs,
  blockerOf,
  blockerOfAll,
  isTroubled,
  type Lane,
  type ModelHealth,
  newModel,
  newProvider,
  type ProviderHealth,
  reasonOf,
  type Scope,
  SINGLE_KEY,
  stateOf,
  type Watched,
  type WatchedModel,
  type WatchedProvider,
} from "./breaker.ts";

/** A wrong key or an unknown model shows itself sooner than an outage. */
const REFUSALS_IN_ROW = 3;
/** No provider keeps a model away for longer, whatever it asks for. */
const REST_MS_MAX = 300_000;
/** Requests that may try a model at once when all breakers are open. A provider that hangs holds up no more than these. */
const LAST_TRIES_AT_ONCE = 10;
const NEVER = Number.POSITIVE_INFINITY;
const NONE: ReadonlyMap<string, string> = new Map();

/** `dropped`: it says nothing about the model, since the fault was the client's or the client has disconnected. */
export type Outcome = "answered" | "began" | "dropped" | Trouble;

/** A failure that counts against somebody. */
export interface Trouble {
  readonly kind: "unreachable" | "failing" | "limited" | "refused-key" | "refused-model";
  /** Wait that the provider asked for. */
  readonly waitMs: number | null;
  /** In words of ours: what the provider said may hold anything. */
  readonly error: string;
}

/** Admits attempts and learns their outcomes. Names a model by its host key, and a provider key by its id. */
export interface Health {
  /** Host keys to try last, each with the reason. */
  resting(): ReadonlyMap<string, string>;
  /** The ticket of an attempt on the model; 0 when it must not be called now. Each ticket is reported on. */
  admit(hostKey: string, keyId?: string): number;
  /** Gives a ticket although the model is cooling down, for when nothing else is left; 0 when enough others are trying. */
  admitResting(hostKey: string, keyId?: string): number;
  report(hostKey: string, ticket: number, outcome: Outcome, keyId?: string): void;
  /** An operator's test was answered, which closes breakers as a live answer does. */
  passed(hostKey: string): void;
  /** True if the provider's retry budget allows one more retry, which is then counted. */
  mayRetry(hostKey: string): boolean;
  /** With any of its keys, or with one. Asking changes nothing. */
  stateOf(hostKey: string, keyId?: string): ModelHealth;
  /** Until a call is let through with one of its keys; 0 for now. */
  waitMs(hostKey: string): number;
  overview(): readonly ProviderHealth[];
  /** Another process has seen this fail: it is tried last here too, for as long. Or it has seen a test answered. */
  follow(news: BreakerOpening | TestPassed): void;
  /** These are watched from now on. What is known of them stays, except of providers that have changed. */
  watch(models: Iterable<WatchedRow>, changedProviders: ReadonlySet<string>): void;
}

/** Parts of a model at one of its hosts that health needs. */
export interface WatchedRow {
  /** Name shown among the models of its provider. */
  readonly id: string;
  readonly provider: string;
  /** The id where left out. */
  readonly hostKey?: string;
  /** Name of the model at the provider. Under another name, the provider has another model. */
  readonly upstream?: string;
  /** The keys of the provider, where there are several. */
  readonly keyIds?: readonly string[] | undefined;
}

export interface HealthInput {
  readonly models: Iterable<WatchedRow>;
  readonly rules: BreakerRules;
  /** The time of day, running on evenly. */
  readonly now?: (() => number) | undefined;
  readonly random: () => number;
  readonly log: Log;
  /** Told of each opening and of each retry that was asked for. */
  readonly onOpened?: (opened: BreakerOpening) => void;
  readonly onPassed?: (passed: TestPassed) => void;
  readonly onRetry?: (retry: { provider: string; isAllowed: boolean }) => void;
}

/** A breaker that has opened, and for how long. */
export interface BreakerOpening {
  readonly scope: Scope;
  readonly provider: string;
  /** Empty where the breaker is not a model's. */
  readonly model: string;
  /** Name of the model among those of the provider. */
  readonly name: string;
  readonly openMs: number;
  readonly error: string;
}

/** The host key of a model that answered an operator's test. */
export interface TestPassed {
  readonly passed: string;
}

export function createHealth(input: HealthInput): Health {
  return new Watch(input);
}

/** The time of day as it was at the start, running on evenly: a clock that is set back must not prolong a cooldown. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

class Watch implements Health {
  readonly #input: HealthInput;
  readonly #pulse: Pulse;
  #hosts: ReadonlyMap<string, WatchedProvider> = new Map();
  #entries: ReadonlyMap<string, WatchedModel> = new Map();
  /** No longer in the catalogue, but requests that began before may still try them. */
  readonly #former = new Map<string, WatchedModel>();
  #resting = NONE;
  /** True while every breaker is closed, so that nothing changes until a failure. */
  #isWell = true;
  #hasChanged = false;
  #nextChangeMs = NEVER;

  constructor(input: HealthInput) {
    const { models, now = steadyNow, random } = input;
    this.#input = input;
    this.#pulse = { now, random, lastTicket: 0 };
    this.watch(models, new Set());
  }

  watch(models: Iterable<WatchedRow>, changedProviders: ReadonlySet<string>): void {
    const hosts = new Map<string, WatchedProvider>();
    const entries = new Map<string, WatchedModel>();
    for (const row of models) {
      const { id, provider, hostKey = id } = row;
      const host = hosts.get(provider) ?? this.#hostOf(row, changedProviders.has(provider));
      const known = this.#entries.get(hostKey);
      const isSame = known?.host === host && known.upstream === row.upstream;
      const entry = isSame ? known : newModel(row, host, this.#context());
      hosts.set(provider, host);
      host.models.push(entry);
      entries.set(hostKey, entry);
    }
    for (const [hostKey, entry] of this.#entries) if (!entries.has(hostKey)) this.#former.set(hostKey, entry);
    this.#hosts = hosts;
    this.#entries = entries;
    this.#hasChanged = true;
  }

  /** Without models: the catalogue says which it has now. */
  #hostOf({ provider, keyIds = [SINGLE_KEY] }: WatchedRow, isChanged: boolean): WatchedProvider {
    const known = isChanged ? undefined : this.#hosts.get(provider);
    if (known === undefined) return newProvider(provider, keyIds, this.#context());
    known.models.length = 0;
    return known;
  }

  #context() {
    return { rules: this.#input.rules, pulse: this.#pulse };
  }

  resting(): ReadonlyMap<string, string> {
    if (this.#isWell) return NONE;
    if (this.#hasChanged || this.#pulse.now() >= this.#nextChangeMs) this.#lookAround();
    return this.#resting;
  }

  admit(hostKey: string, keyId?: string): number {
    const lane = this.#lane(hostKey, keyId);
    return blockerOf(lane) === null ? this.#enter(lane) : 0;
  }

  admitResting(hostKey: string, keyId?: string): number {
    const lane = this.#lane(hostKey, keyId);
    if (lane.lastTries.size >= LAST_TRIES_AT_ONCE) return 0;
    const ticket = this.#enter(lane);
    lane.lastTries.add(ticket);
    return ticket;
  }

  report(hostKey: string, ticket: number, outcome: Outcome, keyId?: string): void {
    const entry = this.#entry(hostKey);
    // The attempt was made with what the provider or the model was before.
    if (ticket <= entry.sinceTicket) return;
    const lane = this.#lane(hostKey, keyId);
    const { host, model, credential, limit } = lane;
    if (lane.lastTries.size > 0) lane.lastTries.delete(ticket);
    if (!this.#isWell && isTroubled(lane)) this.#hasChanged = true;
    if (outcome === "answered") {
      host.hasFailed = false;
      model.breaker.succeeded(ticket);
      host.provider.breaker.succeeded(ticket);
      credential.breaker.succeeded(ticket);
      if (limit !== model) limit.breaker.succeeded(ticket);
    } else if (outcome === "began" || outcome === "dropped") {
      model.breaker[outcome](ticket);
      host.provider.breaker[outcome](ticket);
      credential.breaker[outcome](ticket);
      if (limit !== model) limit.breaker[outcome](ticket);
    } else this.#count(entry, lane, { ticket, trouble: outcome });
  }

  passed(hostKey: string): void {
    this.follow({ passed: hostKey });
    this.#input.onPassed?.({ passed: hostKey });
  }

  mayRetry(hostKey: string): boolean {
    const { host, model } = this.#entry(hostKey);
    if (model.breaker.state === "open" || host.provider.breaker.state === "open") return false;
    const isAllowed = host.retries.take();
    this.#input.onRetry?.({ provider: host.id, isAllowed });
    return isAllowed;
  }

  stateOf(hostKey: string, keyId?: string): ModelHealth {
    const entry = this.#entry(hostKey);
    const blocker = keyId === undefined ? blockerOfAll(entry) : blockerOf(this.#lane(hostKey, keyId));
    return { isResting: blocker !== null, ...stateOf(blocker ?? entry.model, this.#pulse.now()) };
  }

  waitMs(hostKey: string): number {
    const admittedAtMs = Math.min(...this.#entry(hostKey).lanes.map(admitsAtMs));
    return Math.max(0, admittedAtMs - this.#pulse.now());
  }

  overview(): readonly ProviderHealth[] {
    const nowMs = this.#pulse.now();
    const describe = (entry: WatchedModel) => ({
      id: entry.id,
      isResting: blockerOfAll(entry) !== null,
      ...stateOf(entry.model, nowMs),
    });
    return [...this.#hosts.values()].map(({ id, provider, credentials, models }) => {
      const keys = [...credentials].map(([keyId, credential]) => ({ id: keyId, ...stateOf(credential, nowMs) }));
      const { id: _, ...credential } = keys.find(({ state }) => state === "closed") ?? (keys[0] as (typeof keys)[0]);
      return {
        id,
        provider: stateOf(provider, nowMs),
        credential,
        keys: keys.length === 1 ? [] : keys,
        models: models.map(describe),
      };
    });
  }

  follow(news: BreakerOpening | TestPassed): void {
    if ("passed" in news) this.#close(news.passed);
    else this.#followOpening(news);
  }

  #followOpening({ provider, name, openMs, error }: BreakerOpening): void {
    const host = this.#hosts.get(provider);
    if (host === undefined) return;
    const ofModels = host.models.flatMap(({ model, lanes }) => [model, ...lanes.map(({ limit }) => limit)]);
    const watched = [host.provider, ...host.credentials.values(), ...ofModels].find((one) => one.name === name);
    if (watched === undefined) return;
    watched.breaker.rest(Math.min(openMs, REST_MS_MAX));
    watched.lastError = error;
    watched.lastErrorAtMs = this.#pulse.now();
    this.#isWell = false;
    this.#hasChanged = true;
  }

  /** The test was sent with the first key, as requests without a choice are. */
  #close(hostKey: string): void {
    if (!this.#entries.has(hostKey)) return;
    const ticket = this.admit(hostKey) || this.admitResting(hostKey);
    // Without a ticket, so many try the model that one of them will tell.
    if (ticket !== 0) this.report(hostKey, ticket, "answered");
  }

  #enter(lane: Lane): number {
    const { host, model, credential, limit } = lane;
    this.#pulse.lastTicket += 1;
    const ticket = this.#pulse.lastTicket;
    host.retries.noteCall();
    if (this.#isWell) return ticket;
    if (isTroubled(lane)) this.#hasChanged = true;
    model.breaker.enter(ticket);
    host.provider.breaker.enter(ticket);
    credential.breaker.enter(ticket);
    if (limit !== model) limit.breaker.enter(ticket);
    return ticket;
  }

  #count(entry: WatchedModel, lane: Lane, { ticket, trouble }: Failed): void {
    const { host, model, credential } = lane;
    const { failuresInRow } = this.#input.rules;
    const { kind, waitMs } = trouble;
    // A refusal or limit of one key says nothing about the model with another key.
    const blamed = kind === "limited" || kind === "refused-key" ? lane.limit : model;
    const spared = blamed === model ? lane.limit : model;
    this.#isWell = false;
    this.#hasChanged = true;
    if (spared !== blamed) spared.breaker.dropped(ticket);
    if (kind === "unreachable" || kind === "failing") {
      this.#note(entry, model, trouble, () => model.breaker.failed(ticket, failuresInRow));
      this.#note(entry, host.provider, trouble, () => this.#countForProvider(entry, ticket, kind));
      credential.breaker.dropped(ticket);
    } else {
      host.hasFailed = false;
      host.provider.breaker.succeeded(ticket);
      this.#note(entry, blamed, trouble, () => this.#countRefusal(blamed, ticket, trouble));
      // Among several keys a refused one is taken out at once: the others serve.
      const opensAt = lane.keyId === SINGLE_KEY ? REFUSALS_IN_ROW : 1;
      if (kind !== "refused-key") credential.breaker.dropped(ticket);
      else this.#note(entry, credential, trouble, () => credential.breaker.failed(ticket, opensAt));
    }
    if (waitMs !== null) blamed.breaker.rest(Math.min(waitMs, REST_MS_MAX));
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
    this.#input.onOpened?.({ scope, provider: host.id, model, name, openMs, error });
  }

  /** Works out which models are cooling down, and when that changes by the clock alone. */
  #lookAround(): void {
    const resting = new Map<string, string>();
    const nowMs = this.#pulse.now();
    this.#isWell = true;
    this.#hasChanged = false;
    this.#nextChangeMs = NEVER;
    for (const entry of this.#entries.values()) {
      const troubled = entry.lanes.filter(isTroubled);
      if (troubled.length === 0) continue;
      this.#isWell = false;
      const blocker = blockerOfAll(entry);
      if (blocker !== null) resting.set(entry.hostKey, reasonOf(blocker));
      for (const lane of troubled) {
        const changesAtMs = admitsAtMs(lane);
        if (changesAtMs > nowMs) this.#nextChangeMs = Math.min(this.#nextChangeMs, changesAtMs);
      }
    }
    this.#resting = resting.size === 0 ? NONE : resting;
  }

  #entry(hostKey: string): WatchedModel {
    const entry = this.#entries.get(hostKey) ?? this.#former.get(hostKey);
    if (entry === undefined) throw new Error(`model ${hostKey} is not in the catalogue`);
    return entry;
  }

  /** A request that began before its provider had this key, or several, counts for the first one. */
  #lane(hostKey: string, keyId?: string): Lane {
    const { lanes } = this.#entry(hostKey);
    const lane = keyId === undefined ? lanes[0] : (lanes.find((each) => each.keyId === keyId) ?? lanes[0]);
    return lane as Lane;
  }
}

interface Failed {
  readonly ticket: number;
  readonly trouble: Trouble;
}
