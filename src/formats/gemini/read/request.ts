// Reads a client's Gemini request: checks what the gateway reads, gives routing its chat-completions view, and keeps the
// original for providers that speak the same format.

import type { ChatRequest } from "../../../core/chat.ts";
import { Conversion } from "../../convert/conversion.ts";
import type { BarePrompt, ClientRequest, RequestHead } from "../../format.ts";
import { invalid, isObject, type JsonObject } from "../../json/fields.ts";
import { askedServiceTier } from "../../provider/service-tier.ts";
import type { JsonSource } from "../../scan/scan.ts";
import { readControls } from "../../service/controls.ts";
import { GEMINI } from "../shape.ts";
import { convertContents } from "../to-chat/messages.ts";
import { camelFields, type GeminiRequest, parsePrompt, parseRequest } from "../to-chat/parse.ts";
import { innerRequest, readNeeds, wantedEffort } from "../to-chat/request.ts";
import {
  convertChoice,
  fetchAskIn,
  readFunctions,
  readToolNeeds,
  readToolWishes,
  searchAskIn,
  searchesIn,
} from "../to-chat/tools.ts";

/** Throws what is wrong with the body, by field; Behaviour 4. */
export function readGeminiRequest(
  source: JsonSource,
  body: JsonObject,
  { headers, target }: RequestHead = {},
): ClientRequest {
  const request = parseRequest(body);
  const { messages, tools, refusals } = readPrompt(request);
  checkAllowed(request, tools);
  const isStream = target?.isStream ?? false;
  const model = (target?.model ?? body.model) as string | undefined;
  const chat: ChatRequest = {
    messages,
    tools,
    toolChoice: convertChoice(request),
    isStream,
    // The format reports usage in every stream.
    wantsUsage: isStream,
    maxOutputTokens: (request.config.maxOutputTokens as number | undefined) ?? null,
    choiceCount: (request.config.candidateCount as number | undefined) ?? 1,
    ...effortOf(request),
    ...askedServiceTier(body, body.service_tier ?? body.serviceTier),
    ...searchesIn(request),
  };
  return {
    format: GEMINI,
    source,
    body,
    controls: readControls({ ...body, model: model?.replace(/^models\//, "") }),
    chat,
    nativeNeeds: [...refusals, ...readNeeds(request), ...readToolNeeds(request)],
    nativeWishes: readToolWishes(request),
    searchAsk: searchAskIn(request),
    fetchAsk: fetchAskIn(request),
    ...(headers === undefined ? {} : { headers }),
    ...(target === undefined ? {} : { target }),
  };
}

function effortOf({ thinking }: GeminiRequest): Pick<ChatRequest, "effort"> {
  const isGiven = thinking.thinkingBudget !== undefined || thinking.thinkingLevel !== undefined;
  return isGiven ? { effort: wantedEffort(thinking) ?? "own" } : {};
}

type GeminiPrompt = Pick<GeminiRequest, "contents" | "system" | "tools">;

/** Reads a prompt for routing and counting, and the parts of it that only Google can open. */
function readPrompt(prompt: GeminiPrompt): Pick<ChatRequest, "messages" | "tools"> & { refusals: readonly string[] } {
  const conversion = new Conversion();
  const messages = convertContents(prompt, {
    conversion,
    keepsReasoning: false,
    keepsDetails: false,
    keepsSignatures: false,
  });
  if (messages.length === 0) throw invalid("contents", "'contents' has no part with content.");
  return { messages, tools: readFunctions(prompt), refusals: conversion.refusals };
}

function checkAllowed({ calling }: GeminiRequest, tools: ChatRequest["tools"]): void {
  const allowed = (calling.allowedFunctionNames as readonly string[] | undefined) ?? [];
  const unknown = allowed.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown === undefined) return;
  throw invalid("allowedFunctionNames", `'allowedFunctionNames' names '${unknown}', which is not declared in 'tools'.`);
}

/** Reads the prompt to count: of the body itself, or of a whole request in a field of its own. */
export function readCountRequest(body: JsonObject): Pick<ChatRequest, "messages" | "tools"> {
  const { messages, tools } = readPrompt(parsePrompt(innerRequest(body)));
  return { messages, tools };
}

export function writeCount(inputTokens: number): JsonObject {
  return { totalTokens: inputTokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: inputTokens }] };
}

/** A bare prompt as a request of this format; what the client wrote of contents, instructions and cap stays. */
export function withPrompt(given: JsonObject, { prompt, systemPrompt, outputCap }: BarePrompt): JsonObject {
  const fields = camelFields(given);
  const { contents = null } = fields;
  const asked = prompt === null ? [] : [{ role: "user", parts: [{ text: prompt }] }];
  const config = isObject(fields.generationConfig) ? camelFields(fields.generationConfig) : {};
  return {
    ...fields,
    contents: contents === null || Array.isArray(contents) ? [...(contents ?? []), ...asked] : contents,
    systemInstruction: systemPrompt ?? fields.systemInstruction,
    generationConfig: { ...config, maxOutputTokens: outputCap ?? config.maxOutputTokens },
  };
}
