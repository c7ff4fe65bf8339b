// The tool scenario: in which way the offered tools will be used, so that models can be ordered by how well they do just
// that. Reads a bounded part of the tool definitions.

import type { Weights } from "../../catalog/weights.ts";
import type { ChatMessage, ChatRequest, Tool } from "../../core/chat.ts";
import type { Category } from "../../core/decision.ts";
import type { ToolScenario } from "../../core/model.ts";
import { CALIBRATION } from "../classifier/layout.ts";
import { CODING } from "../classifier/rules.ts";
import type { PromptText } from "../classifier/signals.ts";
import { fitScenario, hasOtherScript, lowerHead, measureTools, namesTool, needsTool } from "./fit.ts";
import { isMemoryTool, isWebTool } from "./kinds.ts";

export interface ScenarioInput {
  readonly chat: ChatRequest;
  readonly prompt: PromptText;
  readonly category: Category;
  readonly weights: Weights | null;
}

/** Returns null when no tools are offered. Behaviour 5.13. */
export function detectScenario(input: ScenarioInput): ToolScenario | null {
  const { chat, prompt, category } = input;
  const { tools, toolChoice } = chat;
  if (tools.length === 0) return null;
  if (toolChoice === "none") return "optional";
  if (isToolConversation(chat.messages)) return "multi_turn";
  const others = tools.filter((tool) => !isMemoryTool(tool));
  const hasMemory = others.length < tools.length;
  if (hasMemory && isAboutMemory(prompt.text) && !namesTool(others, prompt)) return "memory";
  // A tool that the request names wins over a majority of others.
  if (others.length * 2 <= tools.length && !namesTool(others, prompt)) return "memory";
  const isFree = toolChoice === null || toolChoice === undefined || toolChoice === "auto";
  const { greeting, thanks, smalltalk } = prompt.signals.cues;
  const isTalk = category === "chitchat" && greeting + thanks + smalltalk > 0;
  if (isFree && isTalk && !namesTool(tools, prompt)) return "optional";
  if (needsWeb(tools, prompt)) return "web_search";
  if (isWorkbench(tools) && category === CODING) return "multi_turn";
  const scenario = byFit(input);
  return scenario === "optional" && !isFree ? "single" : scenario;
}

/** Decides where no rule does: by the fitted model, or by rules of thumb without weights. */
function byFit({ chat, prompt, weights }: ScenarioInput): ToolScenario {
  if (weights === null) return byRules(chat.tools, prompt);
  const coefficients = weights.calibration.subarray(CALIBRATION.scenarios);
  const measures = measureTools(chat.tools, prompt);
  const isNeeded = needsTool(measures, prompt.text);
  if (!isNeeded && ASKS_WHY.test(prompt.asked)) return "optional";
  return fitScenario(measures, coefficients, isNeeded);
}

/** Reasons are what a model knows; tools fetch facts and do things. */
const ASKS_WHY = /^(?:why|warum|pourquoi|por qué|por que|perché|почему|为什么|なぜ)(?![\p{L}])/u;

function byRules(tools: readonly Tool[], prompt: PromptText): ToolScenario {
  if (isUnrelated(tools, prompt)) return "optional";
  return needsSeveralCalls(prompt) ? "parallel" : "single";
}

/** Tools of a coding agent: what they are used for is never said in the request. */
function isWorkbench(tools: readonly Tool[]): boolean {
  const isBench = ({ name }: Tool) =>
    /^(bash|shell|read|write|edit|grep|glob|apply_?patch|.*_file)/i.test(name.slice(0, 80));
  return tools.filter(isBench).length >= 3;
}

/** Replies from which a conversation counts as under way. By hand. */
const RUNNING_REPLIES = 2;

function isToolConversation(messages: readonly ChatMessage[]): boolean {
  let replies = 0;
  for (const message of messages) {
    if (message.role === "tool" || message.role === "function") return true;
    if (message.role !== "assistant") continue;
    if ((message.tool_calls?.length ?? 0) > 0) return true;
    replies++;
  }
  return replies >= RUNNING_REPLIES;
}

/** The asker wants something kept or asks for what was kept, or simply tells something of himself. */
const ABOUT_MEMORY = new RegExp(
  [
    "\\b(?:remember|recall|forget|keep (?:that |this )?in mind|note that|for (?:the )?future reference)\\b",
    "\\b(?:did|do|have|had|am|was) i\\b(?! have to)|\\bi (?:said|told you|mentioned|already)\\b",
    "\\bmy (?:favou?rite|usual|name|age|birthday|wife|husband|partner|daughter|son|dog|cat|boss|sister|brother|mother|father)\\b",
    "^\\W*(?:i'm|i am|i've|i have|i (?:like|love|hate|prefer|moved|started|stopped|work|live|grew)|my \\w+(?: \\w+)? (?:is|are|was))\\b",
    "^\\W*(?:actually|by the way),? i\\b",
  ].join("|"),
  "i",
);

function isAboutMemory(text: string): boolean {
  return ABOUT_MEMORY.test(text.slice(0, ASK_CHARS));
}

function needsWeb(tools: readonly Tool[], prompt: PromptText): boolean {
  const { cues, questions } = prompt.signals;
  const others = tools.filter((tool) => !isWebTool(tool));
  if (others.length === tools.length) return false;
  if (cues.fresh >= 1 && !namesTool(others, prompt)) return true;
  return others.length * 2 <= tools.length && cues.fresh + cues.question + questions > 0 && !namesTool(others, prompt);
}

/** Bounds on what is read, so that a megabyte of definitions costs no more than a page. By hand. */
const TOOL_TEXT_CHARS = 4096;
const ASK_CHARS = 600;
const ASK_WORDS = 40;
/** Words are compared by so many first letters: "book" and "booking" are one. By hand. */
const STEM_CHARS = 5;
const COMMON = new Set(
  "what when where which with have this that from your about please could would should there their need want give tell make many much some does into will help like know find show".split(
    " ",
  ),
);

// Words are compared by their beginnings; an ask in another script than the definitions proves nothing.
function isUnrelated(tools: readonly Tool[], prompt: PromptText): boolean {
  const ask = lowerHead(prompt, ASK_CHARS);
  const words = (ask.match(/[a-z]{4,24}/g) ?? []).filter((word) => !COMMON.has(word)).slice(0, ASK_WORDS);
  if (words.length < 2 || hasOtherScript(ask)) return false;
  const definitions = describeTools(tools);
  return !words.some((word) => definitions.includes(word.slice(0, STEM_CHARS)));
}

function describeTools(tools: readonly Tool[]): string {
  const parts: string[] = [];
  let room = TOOL_TEXT_CHARS;
  for (const { name, description, parameters } of tools) {
    if (room <= 0) break;
    const properties = parameters?.properties;
    const fields = typeof properties === "object" && properties !== null ? Object.keys(properties).slice(0, 24) : [];
    const part = `${name} ${description.slice(0, 400)} ${fields.join(" ")}`;
    parts.push(part);
    room -= part.length;
  }
  return parts.join(" ").toLowerCase();
}

/** Counted over the opening of the request: joined clauses, lists of values, several questions. The points are by hand. */
function needsSeveralCalls({ text, signals: { cues, questions } }: PromptText): boolean {
  const opening = text.slice(0, ASK_CHARS);
  const joints = (opening.match(/ and |, |; | und | et | y | e | и |、|和|及/gi) ?? []).length;
  return joints * 0.5 + cues.several * 0.6 + Math.max(0, questions - 1) >= 2;
}
