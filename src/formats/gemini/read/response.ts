// Reads a whole response in the Gemini format from a provider's bytes, and converts it for clients of other formats.

import type { Usage } from "../../../core/chat.ts";
import type { ResponseReading, WholeResponse } from "../../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { parseResponse } from "../../json/parse.ts";
import { unreadable } from "../../provider/faults.ts";
import type { JsonSource } from "../../scan/scan.ts";
import { GEMINI } from "../shape.ts";
import { blockedPrompt, type CandidateEnd, CandidateReader, isBroken } from "./candidates.ts";
import { readGeminiFault } from "./error.ts";
import { readResponseUsage } from "./usage.ts";

/** A success without an answer in it counts as a failed attempt. A blocked prompt is an answer: a refusal. */
export function readGeminiResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null) return unreadable("the answer is not a JSON object");
  const { body, source } = parsed;
  if (isObject(body.error)) return { ok: false, fault: readGeminiFault(body) };
  const candidates = candidatesOf(body);
  if (candidates.some(({ finishReason }) => isBroken(finishReason))) {
    return unreadable(`the provider ended the answer with ${toText(candidates[0]?.finishReason)}`);
  }
  const response = new GeminiResponse(body, source, candidates);
  if (response.choices.length === 0) return unreadable("the answer has no candidates");
  return response.isEmpty ? unreadable("the answer is empty") : { ok: true, response };
}

export function candidatesOf({ candidates }: JsonObject): readonly JsonObject[] {
  return objectsIn(candidates);
}

interface ReadChoice {
  readonly index: number;
  readonly message: JsonObject;
  readonly ending: CandidateEnd | null;
}

class GeminiResponse implements WholeResponse {
  readonly usage: Usage | null;
  readonly outputText: string;
  readonly native: WholeResponse["native"];
  readonly choices: readonly ReadChoice[];
  readonly #body: JsonObject;
  readonly #callIds: string[] = [];
  #completion: JsonObject | null = null;

  constructor(body: JsonObject, source: JsonSource, candidates: readonly JsonObject[]) {
    this.#body = body;
    this.native = { format: GEMINI, source };
    this.usage = readResponseUsage(body);
    let output = "";
    const choices = candidates.map((candidate, position) => {
      const reader = new CandidateReader();
      const said = reader.read(candidate.content, body.responseId);
      output += said.output;
      const ending = reader.finish(candidate);
      this.#callIds.push(...reader.toolCallIds);
      return { index: indexOf(candidate, position), message: said.message, ending };
    });
    const blocked = blockedPrompt(body);
    this.choices = choices.length === 0 && blocked !== null ? [{ index: 0, message: {}, ending: blocked }] : choices;
    this.outputText = output;
  }

  /** Without a word the answer can still be one: a refusal, or thoughts that used up the output cap. */
  get isEmpty(): boolean {
    const isMeant = this.choices.some(
      ({ ending }) => ending?.finish === "content_filter" || ending?.finish === "length",
    );
    return this.outputText === "" && (this.usage?.buckets.output ?? 0) === 0 && !isMeant;
  }

  get completion(): JsonObject {
    this.#completion ??= this.#write();
    return this.#completion;
  }

  toolCallIds(): readonly string[] {
    return this.#callIds;
  }

  #write(): JsonObject {
    const { responseId, modelVersion } = this.#body;
    return {
      id: responseId,
      object: "chat.completion",
      model: modelVersion,
      choices: this.choices.map(writeChoice),
      ...(this.usage?.reported === undefined ? {} : { usage: this.usage.reported }),
    };
  }
}

/** Candidates of one answer are numbered; the first number is zero, which Google leaves out. */
export function indexOf({ index }: JsonObject, position: number): number {
  return Number.isInteger(index) ? (index as number) : position;
}

/** Google says nothing of an answer's end only where it is a usual one. */
function writeChoice({ index, message, ending }: ReadChoice): JsonObject {
  const { tool_calls: calls, reasoning_details: details, ...said } = message;
  return {
    index,
    message: {
      role: "assistant",
      content: null,
      refusal: ending?.refusal ?? null,
      ...said,
      ...(Array.isArray(details) ? { reasoning_details: details.map(withoutIndex) } : {}),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(withoutIndex) } : {}),
    },
    logprobs: null,
    finish_reason: ending?.finish ?? "stop",
  };
}

/** Only pieces of a stream are numbered. */
function withoutIndex({ index: _, ...rest }: JsonObject): JsonObject {
  return rest;
}
