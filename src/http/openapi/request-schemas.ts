// The schemas of recorded requests and their totals.

import { CATEGORIES, ROUTING_PROFILES } from "../../core/decision.ts";
import { TOOL_SCENARIOS } from "../../core/model.ts";
import { USAGE_STEPS } from "../../core/requests/log.ts";
import { ANSWERED_AT } from "../../core/requests/records.ts";
import { candidate, integer, nullable, number, object, text, tier, time } from "./schema.ts";

const boolean = { type: "boolean" };
const scenario = { type: "string", enum: TOOL_SCENARIOS };
const texts = { type: "array", items: text };

const tokens = object({ input: integer, cacheRead: integer, cacheWrite: integer, output: integer });
const percentiles = { p50Ms: nullable(integer), p95Ms: nullable(integer) };
const checks = { calls: integer, parsed: integer, known: integer, valid: integer };

/** On a model: what this account saw of its tool calls, by scenario, and the score it is ranked by for it. */
export const toolCalls = {
  type: "array",
  items: object({
    scenario,
    ...checks,
    staticScore: nullable(number),
    blendedScore: nullable(number),
    basis: {
      type: "string",
      enum: ["account", "everyone"],
      description:
        "Whose calls the blended score rests on: this account's from 30 on, before that those of all accounts.",
    },
  }),
};

const line = {
  id: text,
  requestId: text,
  createdAt: time,
  route: text,
  status: integer,
  error: boolean,
  errorCode: nullable(text),
  stream: boolean,
  key: text,
  tier: nullable(tier),
  classifiedTier: nullable(tier),
  category: nullable({ type: "string", enum: CATEGORIES }),
  profile: nullable({ type: "string", enum: ROUTING_PROFILES }),
  keyProfile: nullable(text),
  toolScenario: nullable(scenario),
  model: nullable(text),
  provider: nullable(text),
  fallback: boolean,
  adjusted: boolean,
  attempts: integer,
  failedProviders: {
    ...texts,
    description: "Those that failed a request which the first try did not answer.",
  },
  tokens: nullable(tokens),
  usageEstimated: boolean,
  chargeUsd: nullable(text),
  baselineUsd: nullable(text),
  savedUsd: nullable(text),
  latencyMs: integer,
  firstContentMs: nullable(integer),
  ending: nullable({
    type: "string",
    enum: ["complete", "client-gone", "provider-broke", "gateway-broke", "replayed"],
  }),
};

const attempt = object({
  model: text,
  provider: text,
  startMs: integer,
  durationMs: integer,
  outcome: { type: "string", enum: ["answered", "failed", "client-gone"] },
  status: nullable(integer),
  failure: nullable(text),
  reason: nullable(text),
  droppedFields: texts,
  conversions: texts,
});

const decision = object({
  tier,
  confidence: number,
  model: text,
  category: text,
  method: text,
  reasoning: text,
  costEstimateUsd: text,
  baselineCostUsd: text,
  savings: number,
  chain: texts,
  profile: text,
  historyFloor: nullable(tier),
  toolScenario: nullable(scenario),
  bfclScore: nullable(number),
  candidates: { type: "array", items: candidate() },
  estimatedTokens: object({ input: integer, output: integer }),
});

const money = object({
  holdUsd: nullable(text),
  chargeUsd: nullable(text),
  baselineUsd: nullable(text),
  savedUsd: nullable(text),
  baselineModel: nullable(text),
  price: { type: ["object", "null"], description: "USD per million tokens, as pinned for this request." },
  markup: nullable(number),
  ledgerId: nullable(text),
});

const feedback = { tier, note: nullable(text), createdAt: time };

const UNKNOWN = "Requests from before this was counted. `none`: every try failed.";

const usage = object({
  start: time,
  group: nullable(text),
  requests: integer,
  errors: integer,
  fallbacks: integer,
  answered: object(
    Object.fromEntries(
      [...ANSWERED_AT, "unknown"].map((at) => [at, at === "unknown" ? { ...integer, description: UNKNOWN } : integer]),
    ),
  ),
  tokens,
  chargeUsd: text,
  baselineUsd: text,
  savedUsd: text,
  latency: object({ averageMs: integer, ...percentiles }),
  firstContent: object(percentiles),
  overhead: object({ averageMs: nullable(number), firstContentAverageMs: nullable(number), ...percentiles }),
});

export const REQUEST_SCHEMAS: Readonly<Record<string, object>> = {
  RequestLine: object(line),
  RecordedRequest: object({
    ...line,
    attemptCount: integer,
    attempts: { type: "array", items: attempt },
    decision: nullable(decision),
    overheadMs: nullable(integer),
    money,
    features: { type: ["object", "null"], additionalProperties: number },
    toolCalls: nullable(object(checks)),
    content: nullable(object({ request: text, isRequestCut: boolean, answer: text, isAnswerCut: boolean })),
    feedback: nullable(object(feedback)),
  }),
  NewFeedback: {
    type: "object",
    required: ["tier"],
    additionalProperties: false,
    properties: { tier, note: nullable({ type: "string", maxLength: 1000 }) },
  },
  MarkedRequest: object({ id: text, requestId: text, decidedTier: nullable(tier), ...feedback }),
  RequestHistogram: object({
    data: { type: "array", items: object({ start: time, requests: integer, errors: integer }) },
    next: { type: "null" },
    from: time,
    to: time,
    by: { type: "string", enum: ["hour", "day"] },
  }),
  FailurePage: object({
    data: { type: "array", items: object({ start: time, provider: text, requests: integer }) },
    next: { type: "null" },
    from: time,
    to: time,
    by: { type: "string", enum: USAGE_STEPS },
  }),
  UsagePage: object({
    data: { type: "array", items: usage },
    next: { type: "null" },
    from: time,
    to: time,
    by: { type: "string", enum: USAGE_STEPS },
    group: nullable(text),
  }),
};
