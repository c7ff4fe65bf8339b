// Reads a legacy completion request as a chat request: the prompt becomes one user message. What chat-completions cannot
// say, and the answer would depend on, is refused by name.

import { GatewayError } from "../../core/errors.ts";
import type { Note } from "../../core/requests/notes.ts";
import type { ChatBody, ClientRequest } from "../format.ts";
import { invalid, type JsonObject, readBoolean, readInteger, readString } from "../json/fields.ts";
import { sourceOf } from "../json/splice.ts";
import { CHOICES_MAX, readChatRequest } from "../openai-chat/read-request.ts";
import type { JsonSource } from "../scan/scan.ts";
import { readControls } from "../service/controls.ts";

export const OPENAI_COMPLETIONS = "openai-completions";

/** Fields that chat-completions does not have, or has with another meaning. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["prompt", "suffix", "echo", "best_of", "logprobs"]);
/** Fields of chat-completions for which a plain text has no place. */
const CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...["messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"],
]);

/** Throws what is wrong with the body, by field. */
export function readCompletionRequest(source: JsonSource, body: JsonObject): ClientRequest {
  readBoolean(body, "echo");
  checkBestOf(body);
  checkLogprobs(body);
  const chat = readChatRequest(chatBodyOf(body));
  return { format: OPENAI_COMPLETIONS, source, body, controls: readControls(body), chat };
}

export function writeChatBody({ body: given, chat }: ClientRequest): ChatBody {
  const body = chatBodyOf(given);
  const conversions = Object.keys(given)
    .filter((name) => CHAT_FIELDS.has(name))
    .map((name): Note => ({ code: "option_dropped", message: `dropped '${name}': a legacy completion is plain text` }));
  return { body, source: sourceOf(body), chat, conversions };
}

/** The beginning of a completion whose client wants its prompt back. */
export function echoOf({ body }: ClientRequest): string {
  return body.echo === true ? promptOf(body) : "";
}

function chatBodyOf(body: JsonObject): JsonObject {
  const content = withSuffix(promptOf(body), readString(body, "suffix") ?? "");
  const kept = Object.entries(body).filter(([name]) => !OWN_FIELDS.has(name) && !CHAT_FIELDS.has(name));
  return { ...Object.fromEntries(kept), messages: [{ role: "user", content }] };
}

/** Chat models have no field for the text behind the gap, so they are told of it. */
function withSuffix(prompt: string, suffix: string): string {
  if (suffix === "") return prompt;
  return `Write the text that belongs between <before> and <after>. Answer with that text only.\n\n<before>${prompt}</before>\n<after>${suffix}</after>`;
}

function promptOf({ prompt }: JsonObject): string {
  if (typeof prompt === "string") return prompt;
  if (prompt === undefined || prompt === null) throw unprocessable("'prompt' is missing.");
  if (!Array.isArray(prompt) || prompt.length === 0) throw unprocessable("'prompt' must be a string.");
  const [first] = prompt;
  if (typeof first === "number" || Array.isArray(first)) {
    throw invalid("prompt", "'prompt' must be text. Token ids differ between models, so they cannot be routed.");
  }
  if (typeof first !== "string") throw unprocessable("'prompt' must be a string.");
  if (prompt.length > 1) throw invalid("prompt", "'prompt' must be one string. Send one request for each prompt.");
  return first;
}

function unprocessable(message: string): GatewayError {
  return new GatewayError("unprocessable", message, { code: "invalid_prompt", param: "prompt" });
}

/** The best of several would have to be found by their log probabilities. */
function checkBestOf(body: JsonObject): void {
  const range = { min: 1, max: CHOICES_MAX };
  const count = readInteger(body, "n", range) ?? 1;
  if ((readInteger(body, "best_of", range) ?? count) !== count) {
    throw invalid("best_of", "'best_of' must be equal to 'n'. Leave it out, and set 'n' for several choices.");
  }
}

function checkLogprobs({ logprobs = null }: JsonObject): void {
  if (logprobs === null || logprobs === false) return;
  throw invalid("logprobs", "'logprobs' is not available here. Use POST /v1/chat/completions with 'logprobs': true.");
}
