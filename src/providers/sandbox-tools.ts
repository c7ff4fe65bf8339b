// The sandbox's tool calls. An agent does what a call says: it runs commands, writes files, sends mail, starts agents. So
// nothing of the prompt goes into a call, and a tool that may act is called once per conversation, with values that do
// no harm wherever they end up.

import { type ChatMessage, contentText } from "../core/chat.ts";
import { isObject, type JsonObject } from "../formats/json/fields.ts";
import { hashText } from "../formats/tools/calls.ts";
import { type Samples, sampleOf } from "./sandbox-samples.ts";

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

/** Whether results came after the last message of the assistant. Agents add reminders behind them, in the user's name. */
function hasNewResult(messages: readonly ChatMessage[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(last + 1).some(({ role }) => role === "tool");
}

function isOwnPrompt(messages: readonly ChatMessage[]): boolean {
  return messages.some(
    ({ role, content }) => role !== "assistant" && role !== "tool" && contentText(content).includes(MARK),
  );
}

/** Whether the conversation has called a tool that may act. */
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
