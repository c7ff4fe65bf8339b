// Generated requests as the gateway would have recorded them: turns of conversations, most answered, some by a fallback, a
// few rejected or failed.

import { baselinePriceOf, type Catalog } from "../catalog/catalog.ts";
import { costNano, formatUsd, type TokenBuckets } from "../core/money.ts";
import { priceOf, type RateCard } from "../core/price.ts";
import { type AttemptRecord, NO_TAGS, type RequestRecord, recordIdAt, type Tags } from "../core/requests/records.ts";
import type { Tier } from "../core/tiers.ts";
import { baselineCost, estimateInputTokens } from "../routing/cost.ts";
import { type DemoRequest, demoPool } from "./pool.ts";
import { createDemoRandom, type DemoRandom, demoTimes } from "./random.ts";

interface TrafficPlan {
  readonly requests: number;
  readonly days: number;
  readonly seed: number;
  readonly nowMs: number;
}

/** More different requests than anybody looks at. Deciding them takes a quarter of the time of a demo. */
const POOL_MAX = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Oldest first. The same plan and catalogue give the same records. */
export function* demoTraffic(plan: TrafficPlan, catalog: Catalog): Generator<RequestRecord> {
  const { requests, days, seed, nowMs } = plan;
  // The time is part of the seed, so that a second run gives its requests other ids than the first.
  const random = createDemoRandom(Math.imul(seed, 0x9e3779b1) ^ Math.floor(nowMs / 1000));
  const pool = demoPool(Math.min(requests, POOL_MAX), catalog, random);
  const incidents = incidentsOf(plan, mostAsked(pool));
  for (const times of byDay(demoTimes({ untilMs: nowMs, days, count: requests }, random))) {
    for (const { atMs, asked, isFollowed, ...visit } of visitsOf(times, pool, random)) {
      yield {
        id: `${recordIdAt(atMs)}${random.hex(10)}`,
        requestId: `req_${random.hex(24)}`,
        accountId: asked.key.accountId,
        atMs,
        ...recordOf({ asked, fate: fateOf(asked, { atMs, isFollowed, incidents, random }), catalog, random }),
        ...visit,
      };
    }
  }
}

/** The times of one UTC day after the other. */
function* byDay(times: Iterable<number>): Generator<readonly number[]> {
  let day: number[] = [];
  for (const atMs of times) {
    if (Math.floor(atMs / DAY_MS) !== Math.floor((day[0] ?? atMs) / DAY_MS)) {
      yield day;
      day = [];
    }
    day.push(atMs);
  }
  yield day;
}

/** A turn at its time, with what belongs to its conversation. */
interface Visit extends Pick<RequestRecord, "session" | "sessionState" | "user" | "tags"> {
  readonly atMs: number;
  readonly asked: DemoRequest;
  /** Says that another turn follows. */
  readonly isFollowed: boolean;
}

/** Between a turn and the next. */
const TURN_MS = { least: 20_000, middle: 60_000 } as const;

/** Makes one visit for each time. A conversation takes the next times and moves them close to each other. */
function visitsOf(
  times: readonly number[],
  pool: readonly (readonly DemoRequest[])[],
  random: DemoRandom,
): readonly Visit[] {
  const visits: Visit[] = [];
  while (visits.length < times.length) {
    const turns = random.pick(pool).slice(0, times.length - visits.length);
    const opening = turns[0] as DemoRequest;
    const session = `f${Buffer.from(random.hex(30), "hex").toString("base64url")}`;
    const user = userOf(opening.key.users, random);
    const tags = tagsOf(opening, random);
    let atMs = times[visits.length] as number;
    for (const [turn, asked] of turns.entries()) {
      const sessionState = asked.decision.session?.state ?? null;
      visits.push({
        atMs: Math.min(atMs, times.at(-1) as number),
        asked: inSession(asked, session),
        isFollowed: turn < turns.length - 1,
        session,
        sessionState,
        user,
        tags,
      });
      atMs += TURN_MS.least + Math.round(random.skewed(TURN_MS.middle, 0.6));
    }
  }
  return visits.sort((a, b) => a.atMs - b.atMs);
}

function inSession(asked: DemoRequest, id: string): DemoRequest {
  const { decision } = asked;
  if (decision.session === undefined) return asked;
  return { ...asked, decision: { ...decision, session: { ...decision.session, id } } };
}

/** Few users send most of the requests. */
function userOf(users: readonly string[], random: DemoRandom): string | null {
  return users[Math.floor(random.next() ** 2 * users.length)] ?? null;
}

function tagsOf({ key, group }: DemoRequest, random: DemoRandom): Tags {
  const tags = Object.entries(key.tags);
  if (tags.length === 0) return NO_TAGS;
  return Object.fromEntries(tags.map(([name, values]) => [name, values === "group" ? group : random.pick(values)]));
}

/** The provider that most requests go to first. */
function mostAsked(pool: readonly (readonly DemoRequest[])[]): string {
  const counts = new Map<string, number>();
  for (const { quotes } of pool.flat()) {
    const provider = quotes[0]?.model.provider ?? "";
    counts.set(provider, (counts.get(provider) ?? 0) + 1);
  }
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ["", 0] as const)[0];
}

/** Two incidents to find on the dashboard: a provider that failed yesterday, and two hours with an empty wallet. */
interface Incidents {
  readonly failing: string;
  readonly outage: readonly [number, number];
  readonly emptyWallet: readonly [number, number];
}

function incidentsOf({ nowMs, days }: TrafficPlan, failing: string): Incidents {
  const outageMs = nowMs - DAY_MS;
  const emptyMs = nowMs - days * DAY_MS * 0.6;
  return { failing, outage: [outageMs, outageMs + DAY_MS / 6], emptyWallet: [emptyMs, emptyMs + DAY_MS / 12] };
}

/** Ending of a request. */
type Fate = "answered" | "fallback" | "client-gone" | "no-credit" | "too-fast" | "all-failed";

interface Moment extends Pick<Visit, "atMs" | "isFollowed"> {
  readonly incidents: Incidents;
  readonly random: DemoRandom;
}

/**
 * Weights, not percentages: 100 answered requests to 0.8 disconnected clients. A turn that was decided after another one
 * goes on where that was answered: only the last of a conversation may fail, and one that stays falls back to no other host.
 */
function fateOf({ quotes, decision }: DemoRequest, { atMs, isFollowed, incidents, random }: Moment): Fate {
  if (isFollowed) return "answered";
  const isStay = decision.session?.state === "stayed";
  const isIn = ([from, to]: readonly [number, number]): boolean => atMs >= from && atMs < to;
  const isHit = !isStay && isIn(incidents.outage) && quotes[0]?.model.provider === incidents.failing;
  return random.pickWeighted<Fate>([
    ["answered", isHit ? 8 : 100],
    ["fallback", isStay ? 0 : isHit ? 100 : 4],
    ["client-gone", 0.8],
    ["no-credit", isIn(incidents.emptyWallet) ? 120 : 0.3],
    ["too-fast", 0.6],
    ["all-failed", isHit ? 3 : 0.6],
  ]);
}

interface Drawn {
  readonly asked: DemoRequest;
  readonly fate: Fate;
  readonly catalog: Catalog;
  readonly random: DemoRandom;
}

/** A record without its identity and its conversation. */
type RecordBody = Omit<
  RequestRecord,
  "id" | "requestId" | "accountId" | "atMs" | "session" | "sessionState" | "user" | "tags"
>;

function recordOf(drawn: Drawn): RecordBody {
  const { asked, fate, random } = drawn;
  if (fate === "too-fast") {
    return {
      ...rejected(asked, random),
      status: 429,
      errorCode: "rate_limit_exceeded",
      errorMessage: "This key may send 60 requests a minute. Retry in 12 s.",
      decision: null,
      features: null,
    };
  }
  if (fate === "no-credit") {
    const errorMessage = `There are no credits left (${formatUsd(asked.hold)} USD needed, 0.000000 USD available).`;
    return { ...rejected(asked, random), status: 402, errorCode: "insufficient_credits", errorMessage };
  }
  if (fate === "all-failed") {
    const attempts = failures(drawn, asked.quotes.length);
    const latencyMs = endOf(attempts) + 2;
    const last = attempts.at(-1);
    const failed = last?.status == null ? "did not respond in time" : `returned ${last.status}`;
    return {
      ...rejected(asked, random),
      ...{ status: 503, errorCode: "all_providers_failed", attempts, hold: asked.hold, latencyMs },
      errorMessage: `All ${new Set(attempts.map(({ model }) => model)).size} models in the ${asked.decision.tier} chain failed. The last one ${failed}. Try again in 5 s.`,
      operatorMessage: `Last error: ${last?.provider} ${failed}.`,
    };
  }
  return answered(drawn);
}

/** A request that ended before any model was called. */
function rejected({ key, route, chat, content, decision, features }: DemoRequest, random: DemoRandom): RecordBody {
  return {
    keyId: key.id,
    profileId: key.profileId,
    ...{ teamId: key.teamId, memberId: key.memberId },
    route,
    status: 0,
    errorCode: null,
    errorMessage: null,
    isStream: chat.isStream,
    decision,
    attempts: [],
    answeredBy: null,
    isFallback: false,
    overheadMs: null,
    hold: null,
    cost: null,
    latencyMs: 1 + random.below(8),
    firstContentMs: null,
    ending: null,
    features,
    toolCalls: null,
    content: { ...content, answer: "" },
  };
}

function answered(drawn: Drawn): RecordBody {
  const { asked, fate, catalog, random } = drawn;
  const { decision, quotes, chat, content, hold } = asked;
  const failed = fate === "fallback" ? failures(drawn, failuresOf(quotes.length, random)) : [];
  const { model, outputTokens } = quotes[failed.length] as (typeof quotes)[number];
  const isDisconnected = fate === "client-gone" && chat.isStream;
  const outputMax = isDisconnected ? Math.ceil(outputTokens / 2) : outputTokens;
  const answerer = { model, outputTokens: outputMax, isFirst: failed.length === 0 };
  const buckets = bucketsOf(asked, answerer, random);
  const startMs = endOf(failed) + 1 + random.below(4);
  const pace = PACE[decision.tier];
  const firstMs = Math.round(random.skewed(pace.firstMs, 0.45));
  const durationMs = firstMs + Math.round((buckets.output / random.skewed(pace.tokensPerSecond, 0.2)) * 1000);
  const attempt = { ...ATTEMPT, model: model.id, provider: model.provider, startMs, durationMs, status: 200 };
  const price = priceOf(model.price as RateCard, { buckets });
  const { markupPpm, baseline } = catalog;
  const baselinePrice = baselinePriceOf(catalog);
  return {
    ...rejected(asked, random),
    status: 200,
    attempts: [...failed, { ...attempt, outcome: isDisconnected ? "client-gone" : "answered" }],
    answeredBy: { model: model.id, provider: model.provider },
    isFallback: model.id !== decision.model,
    overheadMs: failed[0]?.startMs ?? startMs,
    hold,
    cost: {
      ...{ buckets, isEstimated: isDisconnected, price, markupPpm, charge: costNano(buckets, price, markupPpm) },
      baseline: baselineCost(buckets, baseline),
      baselineModel: baseline.id,
      ...(baselinePrice === null ? {} : { baselinePrice }),
      holdId: `demo-${random.hex(16)}`,
    },
    latencyMs: startMs + durationMs + random.below(6),
    firstContentMs: startMs + (chat.isStream ? firstMs : durationMs),
    ending: isDisconnected ? "client-gone" : "complete",
    content,
    toolCalls: chat.tools.length > 0 && !isDisconnected ? toolCallsOf(random) : null,
  };
}

/** Typical speeds of models in each tier. */
const PACE: Readonly<Record<Tier, { readonly firstMs: number; readonly tokensPerSecond: number }>> = {
  NANO: { firstMs: 180, tokensPerSecond: 220 },
  SIMPLE: { firstMs: 240, tokensPerSecond: 180 },
  LIGHT: { firstMs: 340, tokensPerSecond: 140 },
  STANDARD: { firstMs: 520, tokensPerSecond: 90 },
  COMPLEX: { firstMs: 720, tokensPerSecond: 65 },
};

const ATTEMPT = { failure: null, reason: null, droppedFields: [], conversions: [] };

/** The model that answers, and how much it may write. */
interface Answerer extends Pick<DemoRequest["quotes"][number], "model" | "outputTokens"> {
  /** Says that the model and host were the first to be tried. */
  readonly isFirst: boolean;
}

/** The share of first turns whose instructions another conversation has brought into the cache. */
const WARM_SHARE = 0.75;

/** Tokens of the answer, never more than the hold covers, and the part of the prompt that the host had cached. */
function bucketsOf(
  { decision, chat }: DemoRequest,
  { model, outputTokens, isFirst }: Answerer,
  random: DemoRandom,
): TokenBuckets {
  const { input, output } = decision.estimatedTokens;
  const written = Math.round(random.skewed(output * 0.8, 0.6));
  const isCached = model.cache !== undefined && input >= model.cache.tokensMin;
  const known = isFirst ? (decision.session?.cachedTokens ?? 0) : 0;
  const isWarm = isCached && chat.messages[0]?.role === "system" && random.next() < WARM_SHARE;
  const cacheRead = Math.max(
    known,
    isWarm ? estimateInputTokens({ messages: chat.messages.slice(0, 1), tools: [] }) : 0,
  );
  const cacheWrite = isCached && model.cache?.isExplicit === true ? input - cacheRead : 0;
  const read = { input: input - cacheRead - cacheWrite, cacheRead, cacheWrite };
  return { ...read, output: Math.max(1, Math.min(written, outputTokens)) };
}

/** Failures of providers, and how long each takes. */
const FAULTS = [
  { failure: "status", status: 503, middleMs: 400 },
  { failure: "status", status: 429, middleMs: 150 },
  { failure: "timeout", status: null, middleMs: 9_000 },
] as const;

function failures({ asked, random }: Drawn, count: number): readonly AttemptRecord[] {
  let startMs = 2;
  return asked.quotes.slice(0, count).map(({ model: { id: model, provider } }) => {
    const { failure, status, middleMs } = random.pick(FAULTS);
    const durationMs = Math.round(random.skewed(middleMs, 0.3));
    const attempt = {
      ...ATTEMPT,
      ...{ model, provider, startMs, durationMs, outcome: "failed" as const, status, failure },
    };
    startMs += durationMs + 1;
    return attempt;
  });
}

/** Draws the number of models that fail before one answers: mostly one, sometimes two, never all. */
function failuresOf(models: number, random: DemoRandom): number {
  return Math.min(models - 1, random.next() < 0.2 ? 2 : 1);
}

/** Time from the start of the request to the end of the last attempt. */
function endOf(attempts: readonly AttemptRecord[]): number {
  const last = attempts.at(-1);
  return last === undefined ? 0 : last.startMs + last.durationMs;
}

/** Three in a hundred have a call with invalid arguments. */
function toolCallsOf(random: DemoRandom): RequestRecord["toolCalls"] {
  const calls = 1 + random.below(2);
  const isBad = random.next() < 0.03;
  return { calls, parsed: calls, known: calls, valid: isBad ? calls - 1 : calls };
}
