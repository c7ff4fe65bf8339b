// /api/playground: a decision without a key, under a saved or an unsaved profile; and the same request run for real, charged
// to the account under the name "playground".

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Constraints, Decision } from "../../core/decision.ts";
import type { Model } from "../../core/model.ts";
import { formatUsd } from "../../core/money.ts";
import type { Profile } from "../../core/profiles.ts";
import { openaiChat } from "../../formats/openai-chat/codec.ts";
import { readDebugRequest, writeDecision } from "../../formats/service/routing-debug.ts";
import { invalid, isObject, type JsonObject, readString } from "../../formats/wire/fields.ts";
import { parseBody } from "../../formats/wire/json-source.ts";
import { tooManyRequests } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import { route } from "../../gateway/complete.ts";
import { previewChanges } from "../../gateway/operate/preview.ts";
import { estimateCost } from "../../routing/cost.ts";
import type { Edge } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { answerRequest } from "../v1/completion.ts";
import { RequestRecording } from "../v1/record.ts";
import { ConstraintsBody, readConstraints } from "./profiles.ts";
import { accountOf, missing, valueReader } from "./requests/one.ts";

export function registerPlayground(api: FastifyInstance, edge: Edge): void {
  const readRules = valueReader(ConstraintsBody);
  const readProfile = (profile: unknown): Constraints => readConstraints(readRules(profile), edge.services.catalog);
  const bodyLimit = edge.settings.server.bodyLimitBytes;
  api.post("/api/playground/decide", { bodyLimit }, async (request) => {
    const { caller, body } = await readQuestion(request, readProfile, edge);
    return decideOnly(body, caller, edge);
  });
  api.post("/api/playground/run", { bodyLimit }, async (request, reply) => {
    const { caller, body } = await readQuestion(request, readProfile, edge);
    return run({ body: toChatBody(body), caller }, { request, reply }, edge);
  });
}

type ProfileReader = (profile: unknown) => Constraints;

interface Question {
  readonly caller: Caller;
  readonly body: JsonObject;
}

/** The debug endpoint's body; `profileId` names a saved profile, an object in `profile` is one that was never saved. */
async function readQuestion(request: FastifyRequest, readProfile: ProfileReader, edge: Edge): Promise<Question> {
  const { body } = parseBody(bodyOf(request));
  const accountId = await accountOf(request, edge);
  const { profileId: _, profile, ...rest } = body;
  const profileId = readString(body, "profileId");
  const rules = isObject(profile) ? readProfile(profile) : null;
  if (rules !== null && profileId !== null) throw invalid("profileId", "Send 'profileId' or a profile, not both.");
  const bound = rules === null ? await savedProfile(profileId, accountId, edge) : unsavedProfile(accountId, rules);
  const question = isObject(profile) ? rest : { ...rest, ...(profile === undefined ? {} : { profile }) };
  return { body: question, caller: playgroundCaller(accountId, bound) };
}

async function savedProfile(id: string | null, accountId: string, edge: Edge): Promise<Profile | null> {
  if (id === null) return null;
  const saved = await edge.profiles.get(accountId, id);
  if (saved === null) throw missing("profile", id);
  return saved;
}

function unsavedProfile(accountId: string, constraints: Constraints): Profile {
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  return { id: "unsaved", accountId, name: "unsaved", description: null, constraints, ...times };
}

const PLAYGROUND = "playground";

function playgroundCaller(accountId: string, profile: Profile | null): Caller {
  const nothing = { requestsPerMinute: null, spendLimitNano: null, expiresAtMs: null, revokedAtMs: null };
  const limit = { spendReset: "never" as const };
  const key = { id: PLAYGROUND, accountId, name: PLAYGROUND, prefix: "", hash: "", profileId: profile?.id ?? null };
  return { key: { ...key, ...nothing, ...limit, lastUsedAtMs: null, createdAtMs: 0 }, profile };
}

function decideOnly(body: JsonObject, caller: Caller, { services }: Edge): object {
  const question = readDebugRequest(body);
  const startedAtMs = performance.now();
  const decision = route(question, caller, services);
  const tookMs = Math.round((performance.now() - startedAtMs) * 1000) / 1000;
  const { source } = parseBody(Buffer.from(JSON.stringify(body)));
  const changes = previewChanges({ format: "openai", body, source, ...question }, decision, services);
  const { catalog } = services;
  const { input: inputTokens, output: outputTokens } = decision.estimatedTokens;
  const costOf = (id: string): string => {
    const model = catalog.models.get(id) as Model;
    const { cost } = estimateCost({ chat: question.chat, inputTokens, tier: decision.tier, model, catalog });
    return formatUsd(cost);
  };
  return {
    decision: { ...writeDecision(decision), ...changes },
    classifiedTier: decision.classifiedTier ?? null,
    score: decision.score ?? null,
    candidates: decision.candidates.map((candidate) => ({ ...candidate, costUsd: costOf(candidate.model) })),
    estimate: writeEstimate(decision, { inputTokens, outputTokens, baselineModel: catalog.baseline.id }),
    tookMs,
  };
}

function writeEstimate({ costEstimate, baselineCost, savings }: Decision, facts: object): object {
  return { ...facts, costUsd: formatUsd(costEstimate), baselineCostUsd: formatUsd(baselineCost), savings };
}

/** The debug endpoint's own fields as a chat-completions request has them. */
function toChatBody(body: JsonObject): JsonObject {
  const { chat } = readDebugRequest({ ...body, prompt: body.prompt ?? promptOf(body) });
  const { prompt: _p, system_prompt: _s, max_output_tokens: cap, profile, service_profile: named, ...rest } = body;
  const control = named ?? profile;
  return {
    model: "auto",
    ...rest,
    messages: chat.messages,
    ...(cap === undefined || cap === null ? {} : { max_tokens: cap }),
    ...(control === undefined || control === null ? {} : { service_profile: control }),
  };
}

/** With messages no prompt is needed: what is run is the messages. */
function promptOf({ messages }: JsonObject): string | null {
  return Array.isArray(messages) && messages.length > 0 ? "messages" : null;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function run({ body, caller }: Question, { request, reply }: Exchange, edge: Edge): Promise<FastifyReply> {
  const { limiter, settings, now } = edge;
  const limit = settings.limits.requestsPerMinute;
  const admission = await limiter.admit(`${PLAYGROUND} ${caller.key.accountId}`, limit, now());
  if (!admission.allowed) throw tooManyRequests(admission);
  request.caller = caller;
  const recording = new RequestRecording(request, reply, edge);
  recording.bodyRead();
  request.recording = recording;
  const { source } = parseBody(Buffer.from(JSON.stringify(body)));
  const clientRequest = openaiChat.readRequest(source, body);
  return answerRequest({ format: openaiChat, clientRequest, request, reply }, edge);
}
