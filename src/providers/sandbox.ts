// The built-in provider: no network, no key, the same answer for the same request. It speaks chat-completions like any
// other, streams, calls tools without harm, obeys output caps and JSON schemas, and says in its text that it is simulated.

import type { CancelSignal } from "../core/cancellation.ts";
import { type ChatMessage, contentText } from "../core/chat.ts";
import { isObject, type JsonObject } from "../formats/json/fields.ts";
import { FormBody } from "../formats/media/upload.ts";
import { hashText } from "../formats/tools/calls.ts";
import { newestAsk } from "../routing/ask.ts";
import { estimateTokens } from "../routing/cost.ts";
import { answerForm, SANDBOX_ENDPOINTS, SANDBOX_SPEECH, speak } from "./sandbox-endpoints.ts";
import { type Samples, sampleOf } from "./sandbox-samples.ts";
import type { Reply, ReplyBody, Transport, TransportRequest } from "./transport.ts";

/** Small, so that a simulated stream has several reads. */
const PIECES_PER_READ = 4;

/** Needs no provider's key and no address. */
export function createSandbox(): Transport {
  return {
    send: (request) => Promise.resolve(answer(request)),
    // The sandbox has answered before anybody could count the request.
    inFlight: () => 0,
    close: () => Promise.resolve(),
    retire: () => Promise.resolve(),
  };
}

/** The only model that it lists, for a demo in which a visitor connects a server. */
const LISTED = JSON.stringify({ object: "list", data: [{ id: "simulated-model", object: "model" }] });

function answer(request: TransportRequest): Reply {
  if (request.method === "GET") return replyWith("application/json", [LISTED], request);
  const formed = request.body instanceof FormBody ? answerForm(request.path) : null;
  if (formed !== null) return replyWith("application/json", [JSON.stringify(formed)], request);
  const body = JSON.parse(request.body.toString("utf8")) as JsonObject;
  const endpoint = SANDBOX_ENDPOINTS.get(request.path);
  if (endpoint !== undefined) return replyWith("application/json", [JSON.stringify(endpoint(body))], request);
  if (request.path === SANDBOX_SPEECH) {
    const { type, body: spoken } = speak(body);
    return replyWith(type, [spoken], request);
  }
  const completion = complete(body);
  const pieces = request.isStream ? streamPieces(completion, body) : [JSON.stringify(writeWhole(completion))];
  return replyWith(request.isStream ? "text/event-stream" : "application/json", pieces, request);
}

function replyWith(contentType: string, pieces: readonly string[], { signal }: TransportRequest): Reply {
  return { ok: true, status: 200, headers: { "content-type": contentType }, body: replay(pieces, signal) };
}

interface Completion {
  readonly model: string;
  readonly messages: readonly SandboxMessage[];
  readonly usage: JsonObject;
  /** The service tier that was asked for, which is simulated as well; null for the usual one. */
  readonly serviceTier: string | null;
}

interface SandboxMessage {
  readonly content: string | null;
  readonly toolCall: JsonObject | null;
  readonly finish: string;
}

function complete(body: JsonObject): Completion {
  const cap = [body.max_completion_tokens, body.max_tokens].find((value) => typeof value === "number") ?? Infinity;
  const count = typeof body.n === "number" ? body.n : 1;
  const messages = Array.from({ length: count }, () => limit(sandboxMessage(body), cap as number));
  const promptTokens = estimateTokens(JSON.stringify(body.messages ?? "") + JSON.stringify(body.tools ?? ""));
  const completionTokens = messages.reduce((sum, message) => sum + countTokens(message), 0);
  return {
    model: String(body.model),
    messages,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

function countTokens(message: SandboxMessage): number {
  return estimateTokens((message.content ?? "") + (message.toolCall === null ? "" : JSON.stringify(message.toolCall)));
}

/** Cuts a text at the cap, word by word, as a model would. */
function limit(message: SandboxMessage, capTokens: number): SandboxMessage {
  if (message.content === null || estimateTokens(message.content) <= capTokens) return message;
  const words = splitWords(message.content);
  while (words.length > 1 && estimateTokens(words.join("")) > capTokens) words.pop();
  return { ...message, content: words.join(""), finish: "length" };
}

function splitWords(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text];
}

function writeWhole(completion: Completion): JsonObject {
  return {
    ...envelope(completion, "chat.completion"),
    choices: completion.messages.map((message, index) => ({
      index,
      message: {
        role: "assistant",
        content: message.content,
        ...(message.toolCall === null ? {} : { tool_calls: [message.toolCall] }),
      },
      finish_reason: message.finish,
    })),
    usage: completion.usage,
  };
}

function envelope(completion: Completion, object: string): JsonObject {
  const { model, serviceTier } = completion;
  return { id: null, object, model, ...(serviceTier === null ? {} : { service_tier: serviceTier }) };
}

function streamPieces(completion: Completion, body: JsonObject): readonly string[] {
  const chunks: JsonObject[] = [];
  const base = envelope(completion, "chat.completion.chunk");
  const push = (index: number, delta: JsonObject, finish: string | null = null): number =>
    chunks.push({ ...base, choices: [{ index, delta, finish_reason: finish }] });
  completion.messages.forEach((message, index) => {
    push(index, { role: "assistant", content: message.content === null ? null : "" });
    for (const word of splitWords(message.content ?? "")) if (word !== "") push(index, { content: word });
    if (message.toolCall !== null) pushToolCall(message.toolCall, (delta) => push(index, delta));
    push(index, {}, message.finish);
  });
  const options = body.stream_options;
  if (isObject(options) && options.include_usage === true) {
    chunks.push({ ...base, choices: [], usage: completion.usage });
  }
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"];
}

function pushToolCall(call: JsonObject, push: (delta: JsonObject) => void): void {
  const { name, arguments: text } = call.function as { name: string; arguments: string };
  push({ tool_calls: [{ index: 0, id: call.id, type: "function", function: { name, arguments: "" } }] });
  const middle = Math.ceil(text.length / 2);
  for (const part of [text.slice(0, middle), text.slice(middle)]) {
    if (part !== "") push({ tool_calls: [{ index: 0, function: { arguments: part } }] });
  }
}

/** Hands the pieces out a few at a time, each in its own turn of the event loop, so that a stream is a stream. */
function replay(pieces: readonly string[], signal: CancelSignal): ReplyBody {
  let position = 0;
  let isCancelled = false;
  return {
    get failure() {
      return isCancelled || signal.aborted ? ({ kind: "client-gone", message: "the client has gone" } as const) : null;
    },
    tryRead: () => undefined,
    async read() {
      if (position > 0) await new Promise((resolve) => setImmediate(resolve));
      if (isCancelled || signal.aborted || position >= pieces.length) return null;
      const next = pieces.slice(position, position + PIECES_PER_READ).join("");
      position += PIECES_PER_READ;
      return Buffer.from(next);
    },
    eventSeen() {
      // Nothing is timed here.
    },
    lingers() {
      // Usage that nobody waits for is estimated.
    },
    cancel() {
      isCancelled = true;
    },
    release() {
      isCancelled = true;
    },
  };
}

// The sandbox's answer: a tool call where one is due, JSON when JSON is asked for, otherwise a short text that names the
// model it stands in for.

/** Characters of the prompt that the answer repeats. */
const QUOTE_LENGTH = 120;

function sandboxMessage(body: JsonObject): SandboxMessage {
  const toolCall = sandboxToolCall(body);
  if (toolCall !== null) return { content: null, toolCall, finish: "tool_calls" };
  return { content: wantedText(body), toolCall: null, finish: "stop" };
}

function wantedText(body: JsonObject): string {
  const messages = body.messages as readonly ChatMessage[];
  const prompt = newestAsk(messages).text;
  const format = isObject(body.response_format) ? body.response_format : {};
  if (format.type === "json_schema" && isObject(format.json_schema) && isObject(format.json_schema.schema)) {
    return JSON.stringify(sampleOf(format.json_schema.schema, samplesFor(prompt)));
  }
  if (format.type === "json_object") return JSON.stringify({ simulated: true, prompt: quote(prompt) });
  const subject =
    messages.at(-1)?.role === "tool"
      ? `The tool answered: "${quote(contentText(messages.at(-1)?.content))}".`
      : `You asked: "${quote(prompt)}".`;
  return `[simulated] This is Switchyard's sandbox standing in for ${String(body.model)}. ${subject} Set a provider key to get real answers.`;
}

function quote(text: string): string {
  return text.length > QUOTE_LENGTH ? `${text.slice(0, QUOTE_LENGTH)}…` : text;
}

/** For JSON that is shown as the answer: it quotes the prompt, as the text does. */
function samplesFor(prompt: string): Samples {
  const text = (): string => quote(prompt) || "sample";
  return {
    text,
    number: (_name, minimum) => minimum ?? 1,
    truth: () => true,
    choice: ([first]) => first,
    texts: () => [text()],
  };
}

/** Made-up arguments carry it. A prompt with it comes from an agent that the sandbox has started. */
const MARK = "[simulated by the Switchyard sandbox]";
const ID_LENGTH = 24;

/** The call for a request; null when it gets a text. */
export function sandboxToolCall(body: JsonObject): JsonObject | null {
  const tool = chosenTool(body);
  if (tool === null) return null;
  const { name, parameters } = tool.function;
  return {
    // The same for the same request, another for any other: ids tell whose call a result belongs to.
    id: `call_${hashText(JSON.stringify([body.model, name, body.messages]), ID_LENGTH)}`,
    type: "function",
    function: { name, arguments: JSON.stringify(isObject(parameters) ? sampleOf(parameters, HARMLESS) : {}) },
  };
}

interface FunctionTool {
  readonly function: { readonly name: string; readonly description?: unknown; readonly parameters?: unknown };
}

function chosenTool(body: JsonObject): FunctionTool | null {
  const messages = body.messages as readonly ChatMessage[];
  const tools = Array.isArray(body.tools) ? body.tools.filter(isFunctionTool) : [];
  const choice = body.tool_choice ?? "auto";
  if (choice === "none" || (choice === "auto" && (hasNewResult(messages) || isOwnPrompt(messages)))) return null;
  const wanted = isObject(choice) ? tools.filter(({ function: { name } }) => name === nameIn(choice)) : tools;
  const reader = wanted.find((tool) => !mayAct(tool));
  return reader ?? (hasActed(messages, tools) || isOwnPrompt(messages) ? null : (wanted[0] ?? null));
}

function isFunctionTool(tool: unknown): tool is FunctionTool {
  return isObject(tool) && isObject(tool.function) && typeof tool.function.name === "string";
}

function nameIn(choice: JsonObject): unknown {
  return isObject(choice.function) ? choice.function.name : undefined;
}

/**
 * Tells whether results came after the last message of the assistant. Agents add reminders behind results, in the
 * user's name.
 */
function hasNewResult(messages: readonly ChatMessage[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(last + 1).some(({ role }) => role === "tool");
}

function isOwnPrompt(messages: readonly ChatMessage[]): boolean {
  return messages.some(
    ({ role, content }) => role !== "assistant" && role !== "tool" && contentText(content).includes(MARK),
  );
}

/** Tells whether the conversation has called a tool that may act. */
function hasActed(messages: readonly ChatMessage[], tools: readonly FunctionTool[]): boolean {
  const acting = new Set(tools.filter(mayAct).map((tool) => tool.function.name));
  return messages.some(({ tool_calls: calls }) =>
    Array.isArray(calls) ? calls.some((call) => isFunctionTool(call) && acting.has(call.function.name)) : false,
  );
}

/** A tool whose name begins so only reads, unless it also names how it acts. */
const READING_NAMES = /^(check|count|describe|fetch|find|get|glob|grep|list|lookup|ls|query|read|search|show|view)$/;
const ALWAYS_ACTING = /^(bash|command|delete|exec|execute|run|send|shell|write)$/;
/** Words in the name of a tool that does more than read. */
const ACTING_NAMES =
  /^(agents?|append|apply|bash|book|browser|buy|cell|chmod|click|cmd|code|command|comment|commit|computer|console|copy|create|deploy|delegate|delete|dispatch|drop|edit|editor|email|eval|exec|execute|insert|install|interpreter|invoke|kill|launch|mail|merge|message|modify|move|notify|order|patch|pay|post|powershell|publish|push|put|python|remove|rename|replace|reply|run|save|script|send|set|sh|shell|sms|spawn|start|stop|sudo|task|terminal|terminate|todo|transfer|tweet|type|update|upload|webhook|write|zsh)$/;
/** The same in its description. */
const ACTING_WORDS =
  /\b(appl(y|ies)|commits?|creates?|delet(e|es|ing)|deploys?|edits?|emails?|execut(e|es|ing)|inserts?|installs?|launch(es)?|modif(y|ies)|posts?|publish(es)?|purchases?|removes?|renames?|replaces?|run|runs|running|sav(e|es)|send|sends|sending|spawns?|starts?|submits?|terminal|transfers?|updates?|uploads?|writ(e|es|ing))\b/i;

function mayAct({ function: { name, description } }: FunctionTool): boolean {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
  if (READING_NAMES.test(words[0] as string)) return words.some((word) => ALWAYS_ACTING.test(word));
  return words.some((word) => ACTING_NAMES.test(word)) || ACTING_WORDS.test(String(description ?? ""));
}

/** Nothing can be written there, not even as root: the folder is a device. */
const FAKE_PATH = "/dev/null/simulated-by-the-switchyard-sandbox";
/** Names and domains that never exist (RFC 2606). */
const FAKE_TEXTS: readonly (readonly [name: RegExp, text: string])[] = [
  [/command|cmd|shell/i, `echo '${MARK}'`],
  [/url|uri|link|endpoint|webhook|host|domain|site/i, "https://simulated.invalid/"],
  [/e-?mail|recipient|^(to|cc|bcc|from|sender)$/i, "nobody@simulated.invalid"],
  [/path|file|dir(ectory)?$|folder|cwd/i, FAKE_PATH],
];
const FAKE_FORMATS: Readonly<Record<string, string>> = {
  date: "2000-01-01",
  "date-time": "2000-01-01T00:00:00Z",
  time: "00:00:00Z",
  email: "nobody@simulated.invalid",
  uri: "https://simulated.invalid/",
  uuid: "00000000-0000-4000-8000-000000000000",
};
/** No process has it. Zero would be a whole group of them. */
const FAKE_PROCESS = 2_147_483_647;
const READING_CHOICE = /^(view|read|list|get|show|search|find|status|help|preview|dry|none|no|off)/i;

const HARMLESS: Samples = {
  text: fakeText,
  number: (name, minimum) => (/pid|process/i.test(name) ? FAKE_PROCESS : (minimum ?? 0)),
  truth: (name) => /dry|preview|simulat|read_?only/i.test(name),
  choice: (values) => values.find((value) => READING_CHOICE.test(String(value))) ?? values[0],
  texts: (name, schema) => (/command|cmd|args/i.test(name) ? ["echo", MARK] : [fakeText(name, schema)]),
};

function fakeText(name: string, { format, maxLength }: JsonObject): string {
  const text = FAKE_FORMATS[String(format)] ?? FAKE_TEXTS.find(([pattern]) => pattern.test(name))?.[1] ?? MARK;
  return typeof maxLength === "number" ? text.slice(0, maxLength) : text;
}
