// The pool of conversations that the demo repeats: questions of two teams, each turn decided once by the real router with
// what is known of the turn before.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { holdAmounts, type Quote, quoteChain } from "../billing/estimate.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type Constraints, type Decision, NO_CONSTRAINTS, NO_CONTROLS } from "../core/decision.ts";
import type { HostedModel } from "../core/model.ts";
import type { NanoUsd } from "../core/money.ts";
import type { CachedPrefix, SessionTurn } from "../core/session.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../routing/cost.ts";
import { decide } from "../routing/decide.ts";
import { hostedModelsOf } from "../routing/hosts.ts";
import { featuresOf } from "../telemetry/features.ts";
import { GRACE_ID, HELPDESK_ID, JOBS_ID, SHOP_ID, SUPPORT_ACCOUNT } from "./company.ts";
import { BATCH, type DemoPrompts, type DemoTurn, demoConversation, EVERYDAY, SUPPORT } from "./prompts.ts";
import type { DemoRandom } from "./random.ts";

/** A source of traffic in the demo. */
interface DemoKey extends DemoPrompts {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Weight of the key among all keys. */
  readonly share: number;
  readonly routes: readonly string[];
  readonly constraints: Constraints;
  readonly profileId: string | null;
  readonly teamId: string | null;
  /** The person that it belongs to; null for a service. */
  readonly memberId: string | null;
  /** The end users that it names; none where it names none. */
  readonly users: readonly string[];
  /** The values of its tags, by name; `group` is the group of the prompt. */
  readonly tags: Readonly<Record<string, readonly string[] | "group">>;
}

/** The accounts of the demo, by id. */
export const DEMO_TEAMS: ReadonlyMap<string, string> = new Map([
  [DEFAULT_ACCOUNT, "Product team"],
  [SUPPORT_ACCOUNT, "Support team"],
]);

export const PRODUCTION_ID = "key_demo_production";
/** Requests of the dashboard's playground are recorded under this name; it is no key. */
export const PLAYGROUND_ID = "playground";
export const BUDGET_ID = "profile_demo_budget";

const CHAT = "/v1/chat/completions";

/** The first come most often. */
const CUSTOMERS = Array.from({ length: 40 }, (_, index) => `customer-${1001 + index}`);
const NOBODY = { turnsMax: 1, users: [] };

export const BUDGET: Constraints = { ...NO_CONSTRAINTS, tierCeiling: "LIGHT" };

/** All sources of traffic. */
export const DEMO_KEYS: readonly DemoKey[] = [
  {
    ...{ id: PRODUCTION_ID, accountId: DEFAULT_ACCOUNT, name: "production", share: 52, profileId: null },
    ...{ routes: [CHAT, CHAT, CHAT, "/v1/messages"], constraints: NO_CONSTRAINTS, teamId: SHOP_ID, memberId: null },
    ...{ turnsMax: 8, users: CUSTOMERS, groups: EVERYDAY, system: "shop" },
    tags: { app: ["web", "web", "ios", "android"], feature: ["assistant", "assistant", "search", "summaries"] },
  },
  {
    ...{ id: "key_demo_batch", accountId: DEFAULT_ACCOUNT, name: "batch", share: 34, profileId: BUDGET_ID },
    ...{ routes: [CHAT], constraints: BUDGET, ...NOBODY, groups: BATCH, system: "jobs" },
    ...{ teamId: JOBS_ID, memberId: GRACE_ID },
    tags: { job: "group" },
  },
  {
    ...{ id: "key_demo_helpdesk", accountId: SUPPORT_ACCOUNT, name: "helpdesk", share: 18, profileId: null },
    ...{ teamId: HELPDESK_ID, memberId: null },
    ...{ routes: ["/v1/messages"], constraints: NO_CONSTRAINTS, turnsMax: 6 },
    ...{ groups: SUPPORT, system: "helpdesk" },
    ...{ users: ["ana@example.com", "ben@example.com", "chidi@example.com", "dora@example.com"], tags: {} },
  },
  {
    ...{ id: PLAYGROUND_ID, accountId: DEFAULT_ACCOUNT, name: "playground", share: 6, profileId: null },
    ...{
      routes: ["/api/playground/run"],
      constraints: NO_CONSTRAINTS,
      ...NOBODY,
      groups: EVERYDAY,
      system: null,
      tags: {},
      ...{ teamId: null, memberId: null },
    },
  },
];

/** A turn that the traffic repeats, with everything that is the same each time. */
export interface DemoRequest extends DemoTurn {
  readonly key: DemoKey;
  readonly route: string;
  readonly decision: Decision;
  readonly features: object;
  readonly quotes: readonly Quote[];
  /** The amount that would be held for it. */
  readonly hold: NanoUsd;
}

/** Deciding a request costs more than writing its record, so a pool is decided once and drawn from. */
export function demoPool(size: number, catalog: Catalog, random: DemoRandom): readonly (readonly DemoRequest[])[] {
  const shares = DEMO_KEYS.map((key) => [key, key.share] as const);
  const pool: (readonly DemoRequest[])[] = [];
  for (let turns = 0; turns < size; turns += pool.at(-1)?.length ?? 0) {
    const key = random.pickWeighted(shares);
    const asker = { key, route: random.pick(key.routes) };
    pool.push(decidedTurns(asker, demoConversation(key, random), catalog));
  }
  return pool;
}

/** Key and route of a request. */
type Asker = Pick<DemoRequest, "key" | "route">;

/** Between two turns. */
const TURN_MS = 60_000;

function decidedTurns(asker: Asker, turns: readonly DemoTurn[], catalog: Catalog): readonly DemoRequest[] {
  let last: SessionTurn | null = null;
  return turns.map((turn, index) => {
    const made = decided({ ...asker, ...turn }, { last, nowMs: index * TURN_MS }, catalog);
    last = made.turn;
    return made.request;
  });
}

/** The turn before, and the time. */
interface Before {
  readonly last: SessionTurn | null;
  readonly nowMs: number;
}

function decided(
  asked: Asker & DemoTurn,
  { last, nowMs }: Before,
  catalog: Catalog,
): { readonly request: DemoRequest; readonly turn: SessionTurn } {
  const { chat, key } = asked;
  const cached = last === null ? [] : cachedBy(last);
  const question = {
    chat,
    controls: NO_CONTROLS,
    constraints: key.constraints,
    restingModels: new Map<string, string>(),
    sessionView: { id: SESSION, last, loop: null, cached, nowMs },
  };
  const decision = decide(question, catalog);
  const models = hostedModelsOf(decision, catalog);
  const quotes = quoteChain({
    models,
    chat,
    bodyBytes: asked.bodyBytes,
    expectedOutputTokens: EXPECTED_OUTPUT_TOKENS[decision.tier],
    markupPpm: catalog.markupPpm,
  });
  const [hold = 0n] = holdAmounts(quotes);
  const request = { ...asked, decision, features: featuresOf(chat, decision), quotes, hold };
  return { request, turn: turnOf(decision, models[0] as HostedModel, nowMs) };
}

/** Each time that a conversation is repeated, it gets an id of its own. */
const SESSION = "demo";

function turnOf(decision: Decision, { id, hostKey, cache }: HostedModel, atMs: number): SessionTurn {
  const { tier, estimatedTokens, session } = decision;
  const isKept = cache !== undefined && estimatedTokens.input >= cache.tokensMin;
  return {
    ...{ session: SESSION, model: id, hostKey, keyId: null, tier, atMs },
    ...{ promptTokens: estimatedTokens.input, cachedTokens: session?.cachedTokens ?? 0, trust: 1 },
    ...{ escalation: session?.escalation ?? 0, task: session?.task ?? 0, calls: [], response: null },
    prefixes: isKept ? [{ hash: 0, tokens: estimatedTokens.input }] : [],
  };
}

function cachedBy({ session, hostKey, keyId, prefixes, trust, atMs }: SessionTurn): readonly CachedPrefix[] {
  return prefixes.map(({ tokens }) => ({ session, hostKey, keyId, tokens, trust, atMs }));
}
