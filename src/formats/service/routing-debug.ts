// The debug endpoint on the wire: its request read into the same question a live request asks, its decision written. SPEC 2.5, 2.6.

import type { ChatMessage, ChatRequest } from "../../core/chat.ts";
import type { Controls, Decision } from "../../core/decision.ts";
import { usdNumber } from "../../core/money.ts";
import { readAnthropicRequest } from "../anthropic/read-request.ts";
import type { ClientHeaders, ClientRequest } from "../format.ts";
import { readChatRequest } from "../openai-chat/read-request.ts";
import { invalid, type JsonObject, readInteger, readString } from "../wire/fields.ts";
import type { JsonSource } from "../wire/json-source.ts";
import { isControlField, readControls } from "./controls.ts";

export function readDebugRequest(body: JsonObject): { chat: ChatRequest; controls: Controls } {
  const prompt = readString(body, "prompt");
  if (prompt === null || prompt === "") throw invalid("prompt", "'prompt' is required: the user message to classify.");
  const given = body.messages ?? null;
  const messages = given === null ? [{ role: "user", content: prompt }] : given;
  const chat = readChatRequest({ ...body, messages });
  return {
    chat: {
      ...chat,
      messages: withSystemPrompt(chat.messages, readString(body, "system_prompt")),
      ...readCap(body, chat),
    },
    controls: readControls({ ...body, service_profile: body.service_profile ?? body.profile ?? null }),
  };
}

/** The same question about a request to `/v1/messages`, whose own fields stand beside those of the debug endpoint. */
export function readDebugMessages(source: JsonSource, body: JsonObject, headers: ClientHeaders): ClientRequest {
  const { prompt, system_prompt, max_output_tokens, profile } = body;
  const { controls } = readDebugRequest({ prompt, profile, ...controlsOf(body) });
  const asked = {
    ...withoutDebugFields(body),
    messages: body.messages ?? [{ role: "user", content: prompt }],
    system: system_prompt ?? body.system,
    max_tokens: max_output_tokens ?? body.max_tokens,
  };
  return { ...readAnthropicRequest(source, asked, headers), controls };
}

const DEBUG_FIELDS: ReadonlySet<string> = new Set(["prompt", "system_prompt", "max_output_tokens", "profile"]);

/** What a live request would have of it. */
export function withoutDebugFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !DEBUG_FIELDS.has(name)));
}

function controlsOf(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name === "model" || isControlField(name)));
}

function withSystemPrompt(messages: readonly ChatMessage[], systemPrompt: string | null): readonly ChatMessage[] {
  return systemPrompt === null ? messages : [{ role: "system", content: systemPrompt }, ...messages];
}

function readCap(body: JsonObject, chat: ChatRequest): Pick<ChatRequest, "maxOutputTokens"> {
  const cap = readInteger(body, "max_output_tokens", { min: 1, max: 1e9 });
  return { maxOutputTokens: cap ?? chat.maxOutputTokens };
}

export function writeDecision(decision: Decision): JsonObject {
  return {
    tier: decision.tier,
    confidence: decision.confidence,
    model: decision.model,
    category: decision.category,
    method: decision.method,
    reasoning: decision.reasoning,
    costEstimate: usdNumber(decision.costEstimate),
    baselineCost: usdNumber(decision.baselineCost),
    savings: decision.savings,
    filteredChain: decision.chain,
    profile: decision.profile,
    historyFloor: decision.historyFloor,
    toolScenario: decision.toolScenario,
    bfclScore: decision.toolScore,
    ...writeResting(decision),
  };
}

/** Which models of the chain are not well and why; absent when all are. */
function writeResting({ candidates }: Decision): JsonObject {
  const resting = candidates.filter(({ restingBecause }) => restingBecause !== undefined);
  if (resting.length === 0) return {};
  return { resting: Object.fromEntries(resting.map(({ model, restingBecause }) => [model, restingBecause])) };
}
