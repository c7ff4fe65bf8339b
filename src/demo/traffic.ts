// Pretended requests as they would have been recorded: most answered, some by a fallback, a few refused or broken off.

import { SANDBOX_ID } from "../catalog/build.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { costNano, type Price, type TokenBuckets } from "../core/money.ts";
import { type AttemptRecord, type RequestRecord, recordIdAt } from "../core/requests/records.ts";
import type { Tier } from "../core/tiers.ts";
import { type DemoRequest, demoPool } from "./pool.ts";
import { createDemoRandom, type DemoRandom, demoTimes } from "./random.ts";

export interface TrafficPlan {
  readonly requests: number;
  readonly days: number;
  readonly seed: number;
  readonly nowMs: number;
  readonly accountId: string;
}

const POOL_MAX = 4_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Oldest first. The same plan and catalogue give the same records. */
export function* demoTraffic(plan: TrafficPlan, catalog: Catalog): Generator<RequestRecord> {
  const { requests, days, seed, nowMs, accountId } = plan;
  // The time is part of it, so that a second run on another day does not name its requests like the first.
  const random = createDemoRandom(Math.imul(seed, 0x9e3779b1) ^ Math.floor(nowMs / 1000));
  const pool = demoPool(Math.min(requests, POOL_MAX), catalog, random);
  const trouble = troubleOf(nowMs, days);
  for (const atMs of demoTimes({ untilMs: nowMs, days, count: requests }, random)) {
    const asked = random.pick(pool);
    const common = {
      id: `${recordIdAt(atMs)}${random.hex(10)}`,
      requestId: `req_${random.hex(24)}`,
      accountId,
      atMs,
    };
    yield { ...common, ...happen({ asked, fate: fateOf(atMs, trouble, random), catalog, random }) };
  }
}

/** A bad evening at a provider, and an hour with an empty wallet. */
interface Trouble {
  readonly outage: readonly [number, number];
  readonly emptyWallet: readonly [number, number];
}

function troubleOf(nowMs: number, days: number): Trouble {
  const outageMs = nowMs - days * DAY_MS * 0.3;
  const emptyMs = nowMs - days * DAY_MS * 0.6;
  return { outage: [outageMs, outageMs + DAY_MS / 6], emptyWallet: [emptyMs, emptyMs + DAY_MS / 12] };
}

type Fate = "answered" | "fallback" | "client-gone" | "no-credit" | "too-fast" | "all-failed";

function fateOf(atMs: number, { outage, emptyWallet }: Trouble, random: DemoRandom): Fate {
  const isIn = ([from, to]: readonly [number, number]): boolean => atMs >= from && atMs < to;
  return random.pickWeighted<Fate>([
    ["answered", 100],
    ["fallback", isIn(outage) ? 45 : 2],
    ["client-gone", 0.8],
    ["no-credit", isIn(emptyWallet) ? 120 : 0.3],
    ["too-fast", 0.6],
    ["all-failed", isIn(outage) ? 6 : 0.3],
  ]);
}

interface Happening {
  readonly asked: DemoRequest;
  readonly fate: Fate;
  readonly catalog: Catalog;
  readonly random: DemoRandom;
}

type Happened = Omit<RequestRecord, "id" | "requestId" | "accountId" | "atMs">;

function happen(happening: Happening): Happened {
  const { asked, fate, random } = happening;
  if (fate === "too-fast") {
    return { ...refused(asked, random), status: 429, errorCode: "rate_limit_exceeded", decision: null, features: null };
  }
  if (fate === "no-credit") return { ...refused(asked, random), status: 402, errorCode: "insufficient_credits" };
  if (fate === "all-failed") {
    const attempts = failures(asked, asked.decision.chain.length, random);
    const latencyMs = endOf(attempts) + 2;
    return {
      ...refused(asked, random),
      ...{ status: 503, errorCode: "all_providers_failed", attempts, hold: asked.hold, latencyMs },
    };
  }
  return answered(happening);
}

function refused({ key, route, chat, decision, features }: DemoRequest, random: DemoRandom): Happened {
  return {
    keyId: key.id,
    profileId: key.profileId,
    route,
    status: 0,
    errorCode: null,
    isStream: chat.isStream,
    decision,
    attempts: [],
    answeredBy: null,
    hold: null,
    cost: null,
    latencyMs: 1 + random.below(8),
    firstContentMs: null,
    ending: null,
    features,
    toolCalls: null,
    content: null,
  };
}

function answered({ asked, fate, catalog, random }: Happening): Happened {
  const { decision, quotes, chat, hold } = asked;
  const failed = fate === "fallback" ? failures(asked, failuresOf(quotes.length, random), random) : [];
  const { model, outputTokens } = quotes[failed.length] as (typeof quotes)[number];
  const isGone = fate === "client-gone" && chat.isStream;
  const buckets = bucketsOf(asked, isGone ? Math.ceil(outputTokens / 2) : outputTokens, random);
  const startMs = endOf(failed) + 1 + random.below(4);
  const pace = PACE[decision.tier];
  const firstMs = Math.round(random.skewed(pace.firstMs, 0.45));
  const durationMs = firstMs + Math.round((buckets.output / random.skewed(pace.tokensPerSecond, 0.2)) * 1000);
  const attempt = { ...ATTEMPT, model: model.id, startMs, durationMs, status: 200 };
  const price = model.price as Price;
  const { markupPpm, baseline } = catalog;
  return {
    ...refused(asked, random),
    status: 200,
    attempts: [...failed, { ...attempt, outcome: isGone ? "client-gone" : "answered" }],
    answeredBy: { model: model.id, provider: SANDBOX_ID },
    hold,
    cost: {
      ...{ buckets, isEstimated: isGone, price, markupPpm, charge: costNano(buckets, price, markupPpm) },
      baseline: baseline.price === null ? 0n : costNano(buckets, baseline.price, 0),
      baselineModel: baseline.id,
      holdId: `demo-${random.hex(16)}`,
    },
    latencyMs: startMs + durationMs + random.below(6),
    firstContentMs: startMs + (chat.isStream ? firstMs : durationMs),
    ending: isGone ? "client-gone" : "complete",
    toolCalls: chat.tools.length > 0 && !isGone ? toolCallsOf(random) : null,
  };
}

const PACE: Readonly<Record<Tier, { readonly firstMs: number; readonly tokensPerSecond: number }>> = {
  NANO: { firstMs: 180, tokensPerSecond: 220 },
  SIMPLE: { firstMs: 250, tokensPerSecond: 180 },
  LIGHT: { firstMs: 380, tokensPerSecond: 140 },
  STANDARD: { firstMs: 620, tokensPerSecond: 90 },
  COMPLEX: { firstMs: 1_100, tokensPerSecond: 65 },
};

const ATTEMPT = { provider: SANDBOX_ID, failure: null, reason: null, droppedFields: [], conversions: [] };

/** Never more than the hold covers. */
function bucketsOf({ decision }: DemoRequest, outputMax: number, random: DemoRandom): TokenBuckets {
  const { input, output } = decision.estimatedTokens;
  const cacheRead = input > 400 && random.next() < 0.6 ? Math.floor(input * 0.7) : 0;
  const written = Math.round(random.skewed(output * 0.55, 0.6));
  return { input: input - cacheRead, cacheRead, cacheWrite: 0, output: Math.max(1, Math.min(written, outputMax)) };
}

const FAULTS = [
  { failure: "status", status: 503, middleMs: 400 },
  { failure: "status", status: 429, middleMs: 150 },
  { failure: "timeout", status: null, middleMs: 9_000 },
] as const;

function failures({ decision }: DemoRequest, count: number, random: DemoRandom): readonly AttemptRecord[] {
  let startMs = 2;
  return decision.chain.slice(0, count).map((model) => {
    const { failure, status, middleMs } = random.pick(FAULTS);
    const durationMs = Math.round(random.skewed(middleMs, 0.3));
    const attempt = { ...ATTEMPT, model, startMs, durationMs, outcome: "failed" as const, status, failure };
    startMs += durationMs + 1;
    return attempt;
  });
}

/** Mostly one, sometimes two; one model at least is left to answer. */
function failuresOf(models: number, random: DemoRandom): number {
  return Math.min(models - 1, random.next() < 0.2 ? 2 : 1);
}

function endOf(attempts: readonly AttemptRecord[]): number {
  const last = attempts.at(-1);
  return last === undefined ? 0 : last.startMs + last.durationMs;
}

function toolCallsOf(random: DemoRandom): RequestRecord["toolCalls"] {
  const calls = 1 + random.below(2);
  const isBad = random.next() < 0.03;
  return { calls, parsed: calls, known: calls, valid: isBad ? calls - 1 : calls };
}
