// Request records for tests: one that is complete, and many that differ.

import type { Db } from "../../../src/core/db.ts";
import type { Decision } from "../../../src/core/decision.ts";
import { CATEGORIES } from "../../../src/core/decision.ts";
import { summaryOf } from "../../../src/core/requests/fields.ts";
import { NO_TAGS, type RequestRecord, recordIdAt } from "../../../src/core/requests/records.ts";
import type { WrittenRecord } from "../../../src/core/requests/waiting.ts";
import { SESSION_STATES, type SessionState } from "../../../src/core/session.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { createRecordStore as createFlatStore } from "../../../src/store/requests/write.ts";

/** So many at a time are added to a batch, as the recorder does. */
const PART = 50;

/** The store of request records, for whole ones. */
export function createRecordStore(db: Db) {
  const { flatten, newBatch, write, deleteBefore } = createFlatStore(db);
  return {
    deleteBefore,
    async write(records: readonly RequestRecord[]) {
      const batch = newBatch();
      for (let at = 0; at < records.length; at += PART) batch.add(records.slice(at, at + PART).map(flatten));
      await write(batch);
    },
  };
}

/** As the live log is told of it. */
export function written(record: RequestRecord): WrittenRecord {
  return { accountId: record.accountId, summary: summaryOf(record) };
}

export type WholeRecordStore = ReturnType<typeof createRecordStore>;

export const NOON = Date.UTC(2026, 2, 10, 12, 0, 0);

const DECISION: Decision = {
  tier: "LIGHT",
  confidence: 0.8,
  model: "alpha",
  category: "math",
  method: "rules",
  reasoning: "score 0.42 (SIMPLE): mathematics",
  costEstimate: 1_000n,
  baselineCost: 9_000n,
  savings: 0.88,
  chain: ["alpha", "beta"],
  profile: "auto",
  historyFloor: null,
  toolScenario: null,
  toolScore: null,
  candidates: [
    { model: "alpha", removedBecause: null },
    { model: "beta", removedBecause: null },
    { model: "gamma", removedBecause: "no vision" },
  ],
  estimatedTokens: { input: 12, output: 400 },
  classifiedTier: "SIMPLE",
  score: 0.42,
  measures: { words: 7 },
};

let made = 0;

export function makeRecord(overrides: Partial<RequestRecord> = {}): RequestRecord {
  made += 1;
  const atMs = overrides.atMs ?? NOON + made;
  return {
    id: `${recordIdAt(atMs)}t${made.toString(36).padStart(8, "0")}`,
    requestId: `req_${made.toString(16).padStart(24, "0")}`,
    accountId: "default",
    keyId: "key_one",
    profileId: null,
    teamId: null,
    memberId: null,
    atMs,
    route: "/v1/chat/completions",
    status: 200,
    errorCode: null,
    errorMessage: null,
    isStream: false,
    decision: DECISION,
    attempts: [
      {
        model: "alpha",
        provider: "lab",
        startMs: 1,
        durationMs: 80,
        outcome: "answered",
        status: 200,
        failure: null,
        reason: null,
        droppedFields: [],
        conversions: [],
      },
    ],
    answeredBy: { model: "alpha", provider: "lab" },
    isFallback: false,
    overheadMs: 5,
    hold: 5_000n,
    cost: {
      buckets: { input: 10, cacheRead: 3, cacheWrite: 2, output: 20 },
      isEstimated: false,
      price: { input: 1_000_000, output: 3_000_000, cacheRead: null, cacheWrite: null },
      markupPpm: 50_000,
      charge: 1_200n,
      baseline: 9_000n,
      baselineModel: "beta",
      holdId: "hold",
    },
    latencyMs: 120,
    firstContentMs: 85,
    ending: "complete",
    session: null,
    sessionState: null,
    user: null,
    tags: NO_TAGS,
    features: { messages: 1, tools: 0, score: 0.42, measures: { words: 7, lines: 0 } },
    toolCalls: null,
    content: null,
    ...overrides,
  };
}

const CITIES = ["Köln", "Paris", "東京", "서울"];

/** What was asked and answered, with words that some of them share. */
function textOf(n: number): NonNullable<RequestRecord["content"]> {
  const prompt = `How is the weather in ${CITIES[n % 4]} on day ${n % 100}? 明日の天気は？`;
  const request = JSON.stringify({ messages: [{ role: "user", content: prompt }] });
  const answer = n % 10 === 0 ? "Thunderstorms, user@example.com said." : "It is mild.";
  return { request, isRequestCut: false, answer, isAnswerCut: false, prompt, preview: prompt };
}

/** The n-th of a long row of different records, a second apart, oldest first: the same for the same n. */
export function variedRecord(n: number, startMs = NOON): RequestRecord {
  const tier = TIERS[n % TIERS.length] as (typeof TIERS)[number];
  const model = `model-${n % 7}`;
  const isRefused = n % 13 === 0;
  const isBroken = n % 29 === 1;
  const isFallback = n % 17 === 2;
  const cost = { ...(makeRecord().cost as NonNullable<RequestRecord["cost"]>), charge: 7n ** BigInt(n % 12) };
  const adjustments = n % 11 === 3 ? ["profile floor raised NANO to SIMPLE"] : [];
  const profile = n % 9 === 4 ? "tier" : "auto";
  const category = CATEGORIES[n % CATEGORIES.length] as (typeof CATEGORIES)[number];
  const answer = makeRecord().attempts;
  const failed = ["lab", "mill", "Lab"].slice(0, isRefused || isFallback ? 1 + (n % 3) : 0).map((provider) => ({
    ...(answer[0] as RequestRecord["attempts"][number]),
    ...{ provider, startMs: 0, durationMs: 1, outcome: "failed" as const, status: 500, failure: "status" },
  }));
  return makeRecord({
    attempts: isRefused ? (n % 2 === 0 ? [] : failed) : [...failed, ...answer],
    atMs: startMs + n * 1_000,
    accountId: n % 50 === 49 ? "other" : "default",
    keyId: `key_${n % 10}`,
    profileId: n % 10 < 3 ? `profile_${n % 10}` : null,
    teamId: n % 7 < 3 ? `team_${n % 7}` : null,
    memberId: n % 5 < 2 ? `user_${n % 5}` : null,
    status: isRefused ? (n % 2 === 0 ? 402 : 503) : 200,
    errorCode: isRefused ? "insufficient_credits" : null,
    decision:
      n % 26 === 0
        ? null
        : { ...DECISION, tier, category, profile, adjustments, model: isFallback ? "elsewhere" : model },
    answeredBy: isRefused ? null : { model, provider: n % 7 < 5 ? "lab" : "mill" },
    isFallback: isFallback && !isRefused && n % 26 !== 0,
    cost: isRefused || isBroken ? null : cost,
    firstContentMs: isRefused ? null : n % 5_000,
    overheadMs: isRefused ? null : n % 120,
    latencyMs: (n * 7) % 70_000,
    user: n % 4 === 0 ? `user-${n % 3}` : null,
    session: n % 3 === 0 ? `session-${Math.floor(n / 30)}` : null,
    sessionState: n % 3 === 0 ? (SESSION_STATES[n % 4] as SessionState) : null,
    tags: n % 6 === 1 ? { team: `team ${n % 5}`, n: String(n) } : NO_TAGS,
    content: n % 2 === 0 ? textOf(n) : null,
    ending: isRefused ? null : isBroken ? "provider-broke" : "complete",
  });
}
