// A recorded request as a whole on the wire: its line of the request log, and what the line does not say.

import { Type } from "typebox";
import type { Controls, Decision } from "../../../core/decision.ts";
import { TOOL_SCENARIOS } from "../../../core/model.ts";
import { type ChargedLine, formatUsd, type Price, unitOf } from "../../../core/money.ts";
import { CASCADE_CHECKS, type CascadeStep } from "../../../core/requests/cascade.ts";
import type { AppFeedback, Feedback, StoredRequest } from "../../../core/requests/log.ts";
import type { StoredSample } from "../../../core/requests/outcomes.ts";
import { VERDICTS } from "../../../core/requests/outcomes.ts";
import { TIERS } from "../../../core/tiers.ts";
import {
  AnyText,
  BaselinePriceSchema,
  byName,
  candidateFields,
  Flag,
  HostChoiceSchema,
  Integer,
  listed,
  named,
  nullable,
  type Shape,
  Texts,
  Time,
} from "../../openapi/schema.ts";
import { isoTime } from "../exchange.ts";
import { toolCallFields } from "../models.ts";
import { lineFields, type Names, usd, writeSummary } from "./line.ts";

const tier = listed(TIERS);
const scenario = listed(TOOL_SCENARIOS);

/** One call to one model. Times count from the beginning of the request. */
const AttemptSchema = Type.Object({
  model: AnyText,
  provider: AnyText,
  // The key that was used, where the provider has several.
  keyId: Type.Optional(AnyText),
  startMs: Integer,
  durationMs: Integer,
  outcome: Type.Enum(["answered", "failed", "client-gone"]),
  status: nullable(Integer),
  failure: nullable(AnyText),
  // The provider's own words, without secrets. Of a refusal that may quote the prompt, kept only with content.
  reason: nullable(AnyText),
  droppedFields: Texts,
  conversions: Texts,
});

/** The decision as it was made then; the last three fields are absent in old records. */
export const RecordedDecisionSchema = Type.Object({
  tier,
  confidence: Type.Number(),
  model: AnyText,
  category: AnyText,
  method: AnyText,
  reasoning: AnyText,
  costEstimateUsd: AnyText,
  baselineCostUsd: AnyText,
  savings: Type.Number(),
  chain: Texts,
  hosts: Type.Optional(HostChoiceSchema),
  efforts: Type.Optional(byName<string>(AnyText)),
  profile: AnyText,
  historyFloor: nullable(tier),
  toolScenario: nullable(scenario),
  bfclScore: nullable(Type.Number()),
  candidates: Type.Array(Type.Object(candidateFields)),
  estimatedTokens: Type.Object({ input: Integer, output: Integer }),
  classifiedTier: Type.Optional(tier),
  score: Type.Optional(Type.Number()),
  controls: Type.Optional(
    Type.Unsafe<Partial<Controls>>({ type: "object", description: "What the request itself asked for." }),
  ),
});

/** Everything needed to compute the charge again. */
const MoneySchema = Type.Object({
  holdUsd: nullable(AnyText),
  chargeUsd: nullable(AnyText),
  baselineUsd: nullable(AnyText),
  savedUsd: nullable(AnyText),
  baselineModel: nullable(AnyText),
  baselinePrice: BaselinePriceSchema,
  price: Type.Unsafe<Readonly<Record<string, number | null>> | null>({
    type: ["object", "null"],
    description: "USD per million tokens, as pinned for this request.",
  }),
  lines: Type.Array(
    Type.Object({
      unit: AnyText,
      bucket: nullable(AnyText),
      count: Integer,
      usd: Type.Number({ description: "The provider's price for all of them." }),
    }),
    {
      description: "What has a price of its own. Tokens among them are part of a bucket; minutes are in milliseconds.",
    },
  ),
  markup: nullable(Type.Number()),
  ledgerId: nullable(AnyText),
});

/** The tier that somebody says the request belonged to. */
const FeedbackSchema = Type.Object({ tier, note: nullable(AnyText), createdAt: Time });

/** Feedback that an application sent with POST /v1/feedback. */
const AppFeedbackSchema = Type.Object({
  score: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  tier: nullable(tier),
  comment: nullable(AnyText),
  key: AnyText,
  createdAt: Time,
});

/** The second answer of a shadow sample. */
const SampleSchema = Type.Object({
  model: AnyText,
  verdict: listed(VERDICTS),
  similarity: nullable(Type.Number({ description: "Words in common. No verdict." })),
  outputTokens: Integer,
  latencyMs: Integer,
  costUsd: Type.String({ description: "The operator's cost, at the provider's price. The account does not pay it." }),
  answer: nullable(Type.String({ description: "Only where the operator keeps prompts and responses." })),
});

/** An answer of a cascade, with its check. */
const CascadeStepSchema = Type.Object({
  tier,
  model: AnyText,
  provider: AnyText,
  passed: Flag,
  failedCheck: nullable(listed(CASCADE_CHECKS)),
  reason: nullable(Type.String({ description: "Only where the operator keeps prompts and responses." })),
  chargeUsd: AnyText,
  tokens: Type.Object({ input: Integer, cacheRead: Integer, cacheWrite: Integer, output: Integer }),
  ledgerId: AnyText,
});

/** One request as a whole. In it, `attempts` is the list, and `attemptCount` the number. */
export const RecordedRequestSchema = named("RecordedRequest", {
  ...lineFields,
  attemptCount: Integer,
  attempts: Type.Array(AttemptSchema),
  decision: nullable(RecordedDecisionSchema),
  // The message to the client; null for a response, and where the message may quote a prompt that is not kept.
  errorMessage: nullable(AnyText),
  // What only the operator can act on. Null for everybody else.
  operatorMessage: nullable(AnyText),
  money: MoneySchema,
  // The answers of a cascade, in order; null without one. Their charges make up the charge of the request.
  cascade: nullable(Type.Array(CascadeStepSchema)),
  // Numbers that the router can learn from; no text.
  features: nullable(byName<number>(Type.Number())),
  toolCalls: nullable(Type.Object(toolCallFields)),
  // Only where the operator keeps prompts and responses.
  content: nullable(Type.Object({ request: AnyText, isRequestCut: Flag, answer: AnyText, isAnswerCut: Flag })),
  feedback: nullable(FeedbackSchema),
  appFeedback: nullable(AppFeedbackSchema),
  sample: nullable(SampleSchema),
});

/** The feedback beside the tier that was decided. */
export const MarkedRequestSchema = named("MarkedRequest", {
  id: AnyText,
  requestId: AnyText,
  decidedTier: nullable(tier),
  ...FeedbackSchema.properties,
});

/** The line of the log, and what it does not say. */
export function writeStored(
  stored: StoredRequest,
  names: Names,
  isForOperator: boolean,
): Shape<typeof RecordedRequestSchema> {
  const { summary, detail, content, feedback, appFeedback, sample } = stored;
  const { attempts: attemptCount, ...line } = writeSummary(summary, names);
  const { decision, attempts, hold, cost, cascade, features, toolCalls, errorMessage, operatorMessage } = detail;
  return {
    ...line,
    attemptCount,
    attempts,
    decision: decision === null ? null : writeDecision(decision),
    errorMessage,
    operatorMessage: isForOperator ? operatorMessage : null,
    money: {
      holdUsd: usd(hold),
      chargeUsd: line.chargeUsd,
      baselineUsd: line.baselineUsd,
      savedUsd: line.savedUsd,
      baselineModel: cost?.baselineModel ?? null,
      baselinePrice: cost?.baselinePrice ?? null,
      price: cost === null ? null : writePrice(cost.price),
      lines: (cost?.price.lines ?? []).map(writeLine),
      markup: cost === null ? null : cost.markupPpm / 1e6,
      ledgerId: cost === null ? null : `charge:${cost.holdId}`,
    },
    cascade: cascade?.map(writeStep) ?? null,
    features,
    toolCalls,
    content,
    feedback: feedback === null ? null : writeFeedback(feedback),
    appFeedback: appFeedback === null ? null : writeAppFeedback(appFeedback),
    sample: sample === null ? null : writeSample(sample),
  };
}

function writeStep(step: CascadeStep): Shape<typeof CascadeStepSchema> {
  const { tier: answered, model, provider, isPassed, failedCheck, reason, charge, buckets, holdId } = step;
  return {
    ...{ tier: answered, model, provider, passed: isPassed, failedCheck, reason },
    ...{ chargeUsd: formatUsd(charge), tokens: buckets, ledgerId: `charge:${holdId}` },
  };
}

export function writeFeedback({ tier, note, atMs }: Feedback): Shape<typeof FeedbackSchema> {
  return { tier, note, createdAt: isoTime(atMs) };
}

function writeAppFeedback({ score, tier, comment, keyId, atMs }: AppFeedback): Shape<typeof AppFeedbackSchema> {
  return { score, tier, comment, key: keyId, createdAt: isoTime(atMs) };
}

function writeSample({ second, verdict, similarity, answer }: StoredSample): Shape<typeof SampleSchema> {
  const { model, outputTokens, latencyMs, cost } = second;
  return { model, verdict, similarity, outputTokens, latencyMs, costUsd: formatUsd(cost), answer };
}

function writeDecision(decision: Decision): Shape<typeof RecordedDecisionSchema> {
  const { costEstimate, baselineCost, toolScore, ...rest } = decision;
  return {
    ...rest,
    bfclScore: toolScore,
    costEstimateUsd: formatUsd(costEstimate),
    baselineCostUsd: formatUsd(baselineCost),
  };
}

/** USD per million tokens, as people write it. */
function writePrice({ input, output, cacheRead, cacheWrite }: Price): Readonly<Record<string, number | null>> {
  const usual = Object.entries({ input, output, cacheRead, cacheWrite });
  return Object.fromEntries(usual.map(([name, micro]) => [name, micro === null ? null : micro / 1e6]));
}

function writeLine({ unit, count, rate }: ChargedLine) {
  const { bucket, per } = unitOf(unit);
  return { unit, bucket, count, usd: (count * rate) / per / 1e12 };
}
