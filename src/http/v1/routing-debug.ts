// POST /v1/routing/debug: the decision a live request would get, without a provider call and free of charge. Behaviour 5.
// The body is chat-completions with a few more fields; a client of another format sends that format's fields.

import type { FastifyInstance } from "fastify";
import { baselineNamed, type Catalog } from "../../catalog/catalog.ts";
import { type ChatMessage, type ChatRequest, isUnread, OUTPUT_TOKENS_MAX, withUnread } from "../../core/chat.ts";
import { type Controls, type Decision, effortOf, NO_CONTROLS } from "../../core/decision.ts";
import { usdNumber } from "../../core/money.ts";
import { ROUTING_PROFILES } from "../../core/requests/controls.ts";
import type { FormattedRequest } from "../../formats/bridge.ts";
import type { ClientFormat, ClientHeaders, ClientRequest } from "../../formats/format.ts";
import { invalid, type JsonObject, readChoice, readInteger, readString } from "../../formats/json/fields.ts";
import { type ParsedBody, parseFields, scanBody, UNREAD_HISTORY_BYTES, unreadAt } from "../../formats/json/parse.ts";
import { readChatRequest } from "../../formats/openai-chat/read-request.ts";
import { USUAL } from "../../formats/registry.ts";
import type { JsonField, ScannedObject } from "../../formats/scan/scan.ts";
import { isControlField, readControls } from "../../formats/service/controls.ts";
import type { Caller } from "../../gateway/call.ts";
import type { PlannedCascade } from "../../gateway/cascade/plan.ts";
import { planCascadeOf, route } from "../../gateway/complete.ts";
import { constraintsOf, withServiceTier } from "../../gateway/constraints.ts";
import { previewChanges } from "../../gateway/operate/preview.ts";
import type { Services } from "../../gateway/services.ts";
import { withCached } from "../../gateway/state/cached.ts";
import { expand } from "../../gateway/state/expand.ts";
import { readState } from "../../gateway/state/read-state.ts";
import { askBefore, readableText } from "../../routing/ask.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import { leftOutHosts } from "../../routing/needs.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import * as TEXT from "../text.ts";
import { callerOf } from "./key-admission.ts";

export function registerDebug(
  server: FastifyInstance,
  { formats, services: current, state }: Pick<CallContext, "formats" | "services" | "state">,
): void {
  server.post("/v1/routing/debug", async (request) => {
    const headers = request.headers as ClientHeaders;
    const sent = await parsedBodyOf(request);
    const caller = callerOf(request);
    const format = formats.sentBy(headers, sent.body);
    const { accountId } = caller.key;
    // The decision depends on the whole conversation, as in a live request.
    const parsed =
      format.stored !== undefined
        ? await expand(sent, { accountId, fields: readState(sent.body) }, state)
        : await withCached(sent, { form: format.cached, accountId }, state);
    const services = current();
    const asked = askingTier(readDebug(format, parsed, headers), caller, services);
    const call = { format, request: asLive(asked.request, readUnread(format, sent)), caller, headers };
    const decision = route(call, services);
    const cascade = writeCascade(planCascadeOf(call, decision, services));
    const changes = previewChanges(asked, decision, services);
    const policies = writePolicies(decision, services.catalog);
    const leftOut = writeLeftOut(decision, caller, services.catalog);
    const written = writeDecision(decision, services.catalog);
    return { decision: { ...written, ...cascade, ...policies, ...leftOut, ...changes } };
  });
}

function askingTier(asked: DebugRequest, caller: Caller, { catalog }: Services): DebugRequest {
  return { ...asked, request: withServiceTier(asked.request, constraintsOf(caller, catalog), catalog) };
}

/** The messages as a live request would have them: unparsed, where its format leaves them so. Null where it does not. */
function readUnread(format: ClientFormat, { source, body: sent }: ParsedBody): readonly ChatMessage[] | null {
  const { unread: part } = format;
  if (part === undefined || part.allowsSource?.(source) === false) return null;
  const scanned = scanBody(source.bytes);
  const body = parseFields(scanned, part) ?? sent;
  const { request, isPromptAdded } = readDebug(format, { source, body }, {});
  const { messages } = request.chat;
  const names = [part.list, "system_prompt", ...(isPromptAdded ? ["prompt"] : [])];
  const asked = scanned.source.fields.filter(({ name }) => names.includes(name) && isMessages(name, format, body));
  const historyBytes = asked.reduce((sum, { valueStart, end }) => sum + end - valueStart, 0);
  if (historyBytes < UNREAD_HISTORY_BYTES) return messages;
  return messages.map((message) => {
    const field = asked.findLast(({ name }) => !isUnread(message) && body[name] === message.content);
    return field === undefined ? message : leftInBody(message, scanned, field);
  });
}

/**
 * Tells whether a live request would have this list among its messages. Other formats have instructions in a field of
 * their own.
 */
function isMessages(name: string, format: ClientFormat, body: JsonObject): boolean {
  const { unread, withPrompt } = format;
  const list = unread?.list;
  if (withPrompt === undefined || name === list) return list !== undefined;
  return name === "prompt" && list !== undefined && Array.isArray(asFormat(format, body, body.prompt)[list]);
}

/** A long text of the question is left where it stands, as that of a message would be. */
function leftInBody(message: ChatMessage, scanned: ScannedObject, { valueStart }: JsonField): ChatMessage {
  const text = unreadAt(scanned, valueStart);
  return text === null ? message : withUnread(message, text);
}

function asLive(request: ClientRequest, messages: readonly ChatMessage[] | null): ClientRequest {
  return messages === null ? request : { ...request, chat: { ...request.chat, messages } };
}

interface DebugRequest extends FormattedRequest {
  /** False where the conversation already ends with the prompt. */
  readonly isPromptAdded: boolean;
}

function readDebug(format: ClientFormat, parsed: ParsedBody, headers: ClientHeaders): DebugRequest {
  if (format.withPrompt === undefined) return readDebugChat(parsed);
  const hasHistory = HISTORIES.some((name) => (parsed.body[name] ?? null) !== null);
  const prompt = readPrompt(parsed.body, hasHistory);
  const { profile } = parsed.body;
  const controls = readDebugControls({ profile, ...controlsOf(parsed.body) });
  const read = (added: unknown) => format.readRequest(parsed.source, asFormat(format, parsed.body, added), { headers });
  const given = hasHistory ? read(null) : null;
  const isPromptAdded = given === null || !isAskedIn(given.chat.messages, prompt);
  const request = isPromptAdded ? read(prompt) : given;
  return { format, request: { ...request, controls, body: withoutDebugFields(request.body) }, isPromptAdded };
}

/** Fields in which the formats have the conversation. */
const HISTORIES = ["messages", "input", "contents"];

/** The question as a request of its format. `added`: the prompt, where the conversation does not end with it. */
function asFormat({ withPrompt }: ClientFormat, body: JsonObject, added: unknown): JsonObject {
  const { system_prompt: systemPrompt, max_output_tokens: outputCap } = body;
  if (withPrompt === undefined) return body;
  return withPrompt(withoutDebugFields(body), { prompt: added, systemPrompt, outputCap });
}

/** The question as a chat-completions request, for a preview of what would be sent. */
export function readDebugChat({ source, body }: ParsedBody): DebugRequest {
  const { isPromptAdded, ...question } = readDebugRequest(body);
  return {
    format: USUAL,
    request: { format: USUAL.name, source, body: withoutDebugFields(body), ...question },
    isPromptAdded,
  };
}

/** `prompt` is the message to classify, and `messages` is the conversation before it, which may include it. */
export function readDebugRequest(body: JsonObject): { chat: ChatRequest; controls: Controls; isPromptAdded: boolean } {
  const given = body.messages ?? null;
  const prompt = readPrompt(body, given !== null);
  const asked = { role: "user", content: prompt } as const;
  const chat = readChatRequest({ ...body, messages: given ?? [asked] });
  const isPromptAdded = given === null || !isAskedIn(chat.messages, prompt);
  const messages = given === null || !isPromptAdded ? chat.messages : [...chat.messages, asked];
  return {
    chat: {
      ...chat,
      messages: withSystemPrompt(messages, body),
      ...readCap(body, chat),
    },
    controls: readDebugControls(body),
    isPromptAdded,
  };
}

/** The prompt; empty where a conversation alone asks. */
function readPrompt(body: JsonObject, hasHistory: boolean): string {
  const prompt = readString(body, "prompt");
  if (prompt === "" || (prompt === null && !hasHistory)) throw invalid("prompt", TEXT.promptRequired);
  return prompt ?? "";
}

function readDebugControls(body: JsonObject): Controls {
  const profile = readChoice(body, "profile", ROUTING_PROFILES);
  return readControls({ ...body, service_profile: body.service_profile ?? profile });
}

/** Tells whether the conversation's newest question is the prompt. A prompt without words asks nothing new. */
function isAskedIn(messages: readonly ChatMessage[], prompt: string): boolean {
  const text = readableText({ role: "user", content: prompt });
  return text === "" || askBefore(messages, messages.length)?.text === text;
}

/** Returns the fields that a live request would have. */
function withoutDebugFields(body: JsonObject): JsonObject {
  const { prompt: _prompt, system_prompt: _system, max_output_tokens: _cap, profile: _profile, ...rest } = body;
  return rest;
}

function controlsOf(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => name === "model" || isControlField(name, value)),
  );
}

function withSystemPrompt(messages: readonly ChatMessage[], body: JsonObject): readonly ChatMessage[] {
  const content = readString(body, "system_prompt");
  if (content === null) return messages;
  return [{ role: "system", content }, ...messages];
}

function readCap(body: JsonObject, chat: ChatRequest): Pick<ChatRequest, "maxOutputTokens"> {
  const cap = readInteger(body, "max_output_tokens", { min: 1, max: OUTPUT_TOKENS_MAX });
  return { maxOutputTokens: cap ?? chat.maxOutputTokens };
}

export function writeDecision(decision: Decision, catalog: Catalog): JsonObject {
  return {
    tier: decision.tier,
    confidence: decision.confidence,
    model: decision.model,
    category: decision.category,
    method: decision.method,
    reasoning: decision.reasoning,
    costEstimate: usdNumber(decision.costEstimate),
    baselineCost: usdNumber(decision.baselineCost),
    ...baselineNamed(catalog),
    savings: decision.savings,
    filteredChain: decision.chain,
    profile: decision.profile,
    historyFloor: decision.historyFloor,
    toolScenario: decision.toolScenario,
    bfclScore: decision.toolScore,
    ...(decision.weakModelFails === undefined ? {} : { weakModelFails: decision.weakModelFails }),
    ...writeEfforts(decision),
    ...(decision.serviceTier === undefined ? {} : { serviceTier: decision.serviceTier }),
    ...(decision.parts === undefined ? {} : { parts: decision.parts }),
    ...(decision.session === undefined ? {} : { session: decision.session.state }),
    ...writeHosts(decision),
    ...writeResting(decision),
  };
}

/** Lists the answers that a cascade may ask for, or says why there would be none; absent where none is asked for. */
export function writeCascade(planned: PlannedCascade | null): JsonObject {
  if (planned === null) return {};
  if (planned.state === "unused") return { cascade: { unusedBecause: planned.because } };
  const { decisions, names } = planned.plan;
  const attempts = decisions.map(({ tier, model, costEstimate }) => ({
    ...{ tier, model },
    costEstimate: usdNumber(costEstimate),
  }));
  return { cascade: { checks: names, attempts } };
}

/** The effort of the model that is tried first, and those of the whole chain. */
function writeEfforts(decision: Decision): JsonObject {
  const effort = effortOf(decision, decision.model);
  const { efforts } = decision;
  return { ...(effort === null ? {} : { effort }), ...(efforts === undefined ? {} : { efforts }) };
}

/** Lists the hosts to try, for models that have a choice of hosts; absent when no model has. */
function writeHosts({ hosts, model }: Decision): JsonObject {
  return hosts === undefined ? {} : { ...(hosts[model] === undefined ? {} : { host: hosts[model]?.[0] }), hosts };
}

/**
 * Lists where each host of the chosen model answers and what becomes of the content, in the order in which hosts are
 * tried.
 */
function writePolicies({ model, hosts }: Decision, catalog: Catalog): JsonObject {
  const hosted = hostedModelsOf({ chain: [model], ...(hosts === undefined ? {} : { hosts }) }, catalog);
  const hostPolicies = hosted.map(({ host, region, dataPolicy, regions, zeroRetention }) => ({
    host,
    region: region ?? null,
    dataPolicy: dataPolicy ?? null,
    regions: regions ?? null,
    zeroRetention: zeroRetention ?? null,
  }));
  return { hostPolicies };
}

/** Lists the hosts that profile and request leave out, with the reasons; absent when none is. */
function writeLeftOut({ candidates, controls }: Decision, caller: Caller, catalog: Catalog): JsonObject {
  const models = candidates.map(({ model }) => model);
  const hostsLeftOut = leftOutHosts(models, [constraintsOf(caller, catalog), controls ?? NO_CONTROLS], catalog);
  return hostsLeftOut.length === 0 ? {} : { hostsLeftOut };
}

/** Lists the models of the chain that are cooling down, with the reasons; absent when none is. */
function writeResting({ candidates }: Decision): JsonObject {
  const resting = candidates.filter(({ restingBecause }) => restingBecause !== undefined);
  if (resting.length === 0) return {};
  return { resting: Object.fromEntries(resting.map(({ model, restingBecause }) => [model, restingBecause])) };
}
