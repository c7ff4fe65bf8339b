// Chat choices as Gemini's candidates, whole or piece by piece. Text goes out at once. Calls are gathered, since clients of
// this format take them whole.

import { callsOf, splitContent } from "../content.ts";
import { detailsIn, type ReasoningDetail, sealDetail } from "../convert/reasoning-details.ts";
import type { ResponseContext } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { normalFinish } from "../openai-chat/read-response.ts";
import { clientToolId, toolNameRestorer } from "../tools/calls.ts";
import { GEMINI, type Part } from "./shape.ts";
import { wantsThoughts } from "./to-chat/parse.ts";

/** A call on its way. */
interface PendingCall {
  id: string;
  name: string;
  text: string;
  signature: string | null;
}

/** The request's wishes for its candidates. */
export interface CandidateRules {
  readonly context: ResponseContext;
  readonly showsThoughts: boolean;
  readonly restoreName: (name: string) => string;
}

export function rulesFor(context: ResponseContext): CandidateRules {
  const { request } = context;
  return {
    context,
    showsThoughts: request !== undefined && wantsThoughts(request.body),
    restoreName: toolNameRestorer(context.request?.chat.tools),
  };
}

export class CandidateWriter {
  readonly #rules: CandidateRules;
  readonly #calls = new Map<number, PendingCall>();
  /** Signatures of what was thought. Each waits for the next part that clients send back. */
  readonly #signatures: string[] = [];
  #hasRefusal = false;
  #isMalformed = false;

  constructor(rules: CandidateRules) {
    this.#rules = rules;
  }

  /** The parts that a message or a delta adds, but for its calls. */
  add(said: JsonObject): readonly Part[] {
    const { reasoning, text: spoken, refusal } = splitContent(said);
    const text = spoken + refusal;
    this.#signatures.push(...detailsIn(said).map(signatureOf));
    this.#hasRefusal ||= refusal !== "";
    for (const [position, call] of callsOf(said).entries()) this.#gather(call, position);
    return [
      ...(reasoning === "" || !this.#rules.showsThoughts ? [] : [{ text: reasoning, thought: true }]),
      ...(text === "" ? [] : [this.#signed({ text }, null)]),
    ];
  }

  /** The calls, now that they are whole. One whose arguments are no object is left out. */
  rest(): readonly Part[] {
    const { context, restoreName } = this.#rules;
    const parts: Part[] = [];
    for (const [index, { id, name, text, signature }] of this.#calls) {
      const args = parseArguments(text);
      this.#isMalformed ||= args === null;
      if (args === null) continue;
      const call = { id: clientToolId(id, index, context), name: restoreName(name), args };
      parts.push(this.#signed({ functionCall: call }, signature));
    }
    return parts;
  }

  /** The finish reason. To be asked after `rest`. */
  finishReason(finish: unknown): string {
    if (this.#hasRefusal) return "SAFETY";
    const named = FINISH_REASONS[String(normalFinish(finish, false))] ?? "STOP";
    return named === "STOP" && this.#isMalformed ? "MALFORMED_FUNCTION_CALL" : named;
  }

  #gather(call: JsonObject, position: number): void {
    const index = typeof call.index === "number" ? call.index : position;
    const called = isObject(call.function) ? call.function : {};
    const gathered = this.#calls.get(index) ?? { id: "", name: "", text: "", signature: null };
    this.#calls.set(index, gathered);
    gathered.id ||= textOrEmpty(call.id);
    gathered.name ||= textOrEmpty(called.name);
    gathered.text += isObject(called.arguments) ? JSON.stringify(called.arguments) : textOrEmpty(called.arguments);
    gathered.signature ??= googleSignature(call);
  }

  #signed(part: Part, own: string | null): Part {
    const signature = own ?? this.#signatures.shift();
    return signature === undefined ? part : { ...part, thoughtSignature: signature };
  }
}

const FINISH_REASONS: Readonly<Record<string, string>> = { length: "MAX_TOKENS", content_filter: "SAFETY" };

/** The signature of a provider of this format as it is; that of another sealed, so that it comes back. */
function signatureOf(detail: ReasoningDetail): string {
  const own = detail.format === GEMINI ? (detail.signature ?? detail.data) : undefined;
  return own ?? sealDetail(detail);
}

/** Reads the signature where Google's compatible API has it. */
function googleSignature({ extra_content: extra }: JsonObject): string | null {
  const google = isObject(extra) && isObject(extra.google) ? extra.google : {};
  return typeof google.thought_signature === "string" ? google.thought_signature : null;
}

/** Parses arguments; null for those that no client could use, such as ones cut off by the output cap. */
function parseArguments(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text) ?? {};
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The field `logprobsResult`, where the provider sent log probabilities. */
export function logprobsOf({ logprobs }: JsonObject): JsonObject {
  const tokens = isObject(logprobs) ? objectsIn(logprobs.content) : [];
  if (tokens.length === 0) return {};
  const topCandidates = tokens.map(({ top_logprobs: top }) => ({
    candidates: objectsIn(top).map(writeLogprob),
  }));
  return { logprobsResult: { topCandidates, chosenCandidates: tokens.map(writeLogprob) } };
}

function writeLogprob({ token, logprob }: JsonObject): JsonObject {
  return { token, logProbability: logprob };
}
