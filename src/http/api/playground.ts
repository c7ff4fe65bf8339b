// /api/playground: a decision without a key, under a saved or an unsaved profile; and the same request run for real, charged
// to the account under the name "playground".

import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { baselineNamed } from "../../catalog/catalog.ts";
import type { Profile } from "../../core/accounts.ts";
import { OUTPUT_TOKENS_MAX } from "../../core/chat.ts";
import type { Constraints } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import { formatUsd } from "../../core/money.ts";
import { TIERS } from "../../core/tiers.ts";
import { invalid, isObject, type JsonObject, readInteger, readString } from "../../formats/json/fields.ts";
import { parseBody } from "../../formats/json/parse.ts";
import { USUAL } from "../../formats/registry.ts";
import { tooManyRequests } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import { planCascadeOf, route } from "../../gateway/complete.ts";
import { previewChanges } from "../../gateway/operate/preview.ts";
import type { Services } from "../../gateway/services.ts";
import { type Estimate, estimateCost } from "../../routing/cost.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import type { OperatorContext } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { json } from "../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  candidateFields,
  Flag,
  Fraction,
  Integer,
  listed,
  named,
  nullable,
  optional,
  type Shape,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { answerRequest } from "../v1/completion.ts";
import { CHAT_STREAM, ChatCompletionSchema, RoutingDecisionSchema } from "../v1/contract.ts";
import { RequestRecording } from "../v1/record.ts";
import { ASKS_SOMETHING, questionFields } from "../v1/request-schemas.ts";
import { readDebugChat, readDebugRequest, writeCascade, writeDecision } from "../v1/routing-debug.ts";
import { accountOf, missing } from "./exchange.ts";
import { RulesSchema, readConstraints } from "./profiles.ts";
import { type ApiCall, type ApiRoute, post, sentAs, valueReader } from "./route.ts";

/** The contract of both bodies. The reader of routing questions checks them, as on /v1. */
const PlaygroundRequestSchema = named(
  "PlaygroundRequest",
  {
    ...questionFields,
    stream: optional(Flag),
    answerTokens: optional(
      Type.Integer({
        minimum: 1,
        description: "The answer length that costs are estimated for; a decision never depends on it.",
      }),
    ),
    profileId: optional(Type.String({ description: "A saved profile; not beside one that was never saved." })),
    profile: Type.Optional(
      Type.Union([RulesSchema, questionFields.profile], { description: "A profile that was never saved." }),
    ),
  },
  ASKS_SOMETHING,
);

/** A decision as /v1/routing/debug explains it, with the price of each candidate. */
const PlaygroundDecisionSchema = named("PlaygroundDecision", {
  decision: RoutingDecisionSchema,
  classifiedTier: nullable(listed(TIERS)),
  score: nullable(Fraction),
  candidates: Type.Array(Type.Object({ ...candidateFields, costUsd: AnyText })),
  estimate: Type.Object({
    inputTokens: Integer,
    outputTokens: Integer,
    ...baselineFields,
    costUsd: AnyText,
    baselineCostUsd: AnyText,
    savings: Fraction,
  }),
  tookMs: Type.Number(),
});

/** The example of both operations. */
const PROMPT = "Prove that the square root of 2 is irrational.";

/** Both take the same body, so that "Run" sends exactly what was decided on. */
export const PLAYGROUND_ROUTES: readonly ApiRoute[] = [
  // Asked on every change of the form: no provider call, no charge, no record.
  post("decideInPlayground", "/api/playground/decide", {
    summary: "The decision a request would get under a saved or an unsaved profile; no provider call, no charge",
    access: "readRules",
    changesNothing: true,
    body: PlaygroundRequestSchema,
    example: { prompt: PROMPT, profile: { tierCeiling: "STANDARD" } },
    isLarge: true,
    response: PlaygroundDecisionSchema,
    errors: [422],
    async handle({ request }, edge) {
      const { caller, body } = await readQuestion(request, edge);
      return decideOnly(body, caller, edge.services());
    },
  }),
  // Recorded and charged like any request, under a key name of its own.
  post("runInPlayground", "/api/playground/run", {
    // The request log has it.
    isAudited: false,
    summary: "Run the same request with a provider, whole or as a stream, and charge the account",
    access: "manage",
    body: PlaygroundRequestSchema,
    example: { prompt: PROMPT, stream: true },
    isLarge: true,
    response: sentAs(json(ChatCompletionSchema), CHAT_STREAM),
    errors: [402, 422],
    async handle({ request, reply }, edge) {
      const { caller, body } = await readQuestion(request, edge);
      return run({ body: toChatBody(body), caller }, { request, reply }, edge);
    },
  }),
];

interface Question {
  readonly caller: Caller;
  readonly body: JsonObject;
}

const readRules = valueReader(RulesSchema);

/** The debug endpoint's body; `profileId` names a saved profile, an object in `profile` is one that was never saved. */
async function readQuestion(request: FastifyRequest, edge: OperatorContext): Promise<Question> {
  const { body } = parseBody(bodyOf(request));
  const accountId = await accountOf(request, edge);
  const { profileId: _, profile, ...rest } = body;
  const profileId = readString(body, "profileId");
  const rules = isObject(profile) ? readConstraints(readRules(profile), edge.services().catalog) : null;
  if (rules !== null && profileId !== null) throw invalid("profileId", TEXT.oneProfile);
  const bound = rules === null ? await savedProfile(profileId, accountId, edge) : unsavedProfile(accountId, rules);
  const question = isObject(profile) ? rest : { ...rest, ...(profile === undefined ? {} : { profile }) };
  return { body: question, caller: playgroundCaller(accountId, bound) };
}

/** Finds a saved profile; null asks for no profile. */
async function savedProfile(id: string | null, accountId: string, edge: OperatorContext): Promise<Profile | null> {
  if (id === null) return null;
  const saved = await edge.profiles.get(accountId, id);
  if (saved === null) throw missing("profile", id);
  return saved;
}

/** Routing takes a profile, so the rules get one that exists for this request only. */
function unsavedProfile(accountId: string, constraints: Constraints): Profile {
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  return { id: "unsaved", accountId, name: "unsaved", description: null, constraints, shadow: null, ...times };
}

/** The key id in records, logs and metrics. */
const PLAYGROUND = "playground";

/** A caller without limits of its own; those of the server still apply. */
function playgroundCaller(accountId: string, profile: Profile | null): Caller {
  const nothing = {
    requires: null,
    requestsPerMinute: null,
    spendLimitNano: null,
    expiresAtMs: null,
    revokedAtMs: null,
  };
  const limit = { spendReset: "never" as const, spendKeyId: PLAYGROUND, teamId: null, memberId: null };
  const key = { id: PLAYGROUND, accountId, name: PLAYGROUND, prefix: "", hash: "", profileId: profile?.id ?? null };
  return { key: { ...key, ...nothing, ...limit, lastUsedAtMs: null, createdAtMs: 0 }, profile, teams: [] };
}

type PlaygroundDecision = Shape<typeof PlaygroundDecisionSchema>;

function decideOnly(body: JsonObject, caller: Caller, services: Services): PlaygroundDecision {
  const { answerTokens: _, ...question } = body;
  const { source } = parseBody(Buffer.from(JSON.stringify(question)));
  const asked = readDebugChat({ source, body: question });
  const startedAtMs = performance.now();
  const call = { format: asked.format, request: asked.request, caller };
  const decision = route(call, services);
  const tookMs = Math.round((performance.now() - startedAtMs) * 1000) / 1000;
  const changes = {
    ...writeCascade(planCascadeOf(call, decision, services)),
    ...previewChanges(asked, decision, services),
  };
  const { catalog } = services;
  const { input: inputTokens } = decision.estimatedTokens;
  const { hosts = {} } = decision;
  // Answers of one length can be compared; the tiers expect different ones.
  const maxOutputTokens = readInteger(body, "answerTokens", { min: 1, max: OUTPUT_TOKENS_MAX });
  const chat = maxOutputTokens === null ? asked.request.chat : { ...asked.request.chat, maxOutputTokens };
  const estimateOf = (id: string): Estimate => {
    const [model] = hostedModelsOf({ chain: [id], hosts }, catalog) as [HostedModel];
    return estimateCost({ chat, inputTokens, tier: decision.tier, model, catalog });
  };
  const { output, cost, baselineCost, savings } = estimateOf(decision.model);
  return {
    // Written as on /v1, where no schema is known.
    decision: { ...(writeDecision(decision, catalog) as PlaygroundDecision["decision"]), ...changes },
    classifiedTier: decision.classifiedTier ?? null,
    score: decision.score ?? null,
    candidates: decision.candidates.map((candidate) => ({
      ...candidate,
      costUsd: formatUsd(estimateOf(candidate.model).cost),
    })),
    estimate: {
      inputTokens,
      outputTokens: output,
      ...baselineNamed(catalog),
      costUsd: formatUsd(cost),
      baselineCostUsd: formatUsd(baselineCost),
      savings,
    },
    tookMs,
  };
}

/** The debug endpoint's own fields as a chat-completions request has them. */
function toChatBody(body: JsonObject): JsonObject {
  const { chat } = readDebugRequest(body);
  const {
    prompt: _p,
    system_prompt: _s,
    answerTokens: _a,
    max_output_tokens: cap,
    profile,
    service_profile: named,
    ...rest
  } = body;
  const control = named ?? profile;
  return {
    model: "auto",
    ...rest,
    messages: chat.messages,
    ...(cap === undefined || cap === null ? {} : { [USUAL.outputCapField]: cap }),
    ...(control === undefined || control === null ? {} : { service_profile: control }),
  };
}

async function run(
  { body, caller }: Question,
  { request, reply }: Pick<ApiCall, "request" | "reply">,
  edge: OperatorContext,
): Promise<FastifyReply> {
  const { limiter, live, now } = edge;
  const limit = live().limits.requestsPerMinute;
  const admission = await limiter.admit(`${PLAYGROUND} ${caller.key.accountId}`, limit, now());
  if (!admission.allowed) throw tooManyRequests(admission);
  request.caller = caller;
  const recording = new RequestRecording(request, reply, edge);
  recording.bodyRead();
  request.recording = recording;
  const { source } = parseBody(Buffer.from(JSON.stringify(body)));
  const clientRequest = USUAL.readRequest(source, body);
  await answerRequest({ format: USUAL, clientRequest, request, reply }, edge);
  return reply;
}
