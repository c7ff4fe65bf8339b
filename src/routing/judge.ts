// Judges how hard a request is from its parts: the question decides, pasted material and images are worth one tier at
// most, and the system prompt says what is to be done with what the user sends.

import type { Weights } from "../catalog/weights.ts";
import { type ChatMessage, type ChatRequest, isUnread, messageText, partsOf } from "../core/chat.ts";
import type { RequestPart } from "../core/decision.ts";
import { scoreRangeOf, TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { Ask } from "./ask.ts";
import { classify } from "./classifier/classify.ts";
import type { Classification } from "./classifier/rules.ts";
import { type PromptText, readPrompt } from "./classifier/signals.ts";
import { partText } from "./parts.ts";
import * as TEXT from "./text.ts";

export interface Judged {
  readonly prompt: PromptText;
  readonly classification: Classification;
  /** Tiers that each part speaks for by itself; empty where the question is all that there is. */
  readonly parts: readonly RequestPart[];
}

/** Longer system prompts are those of agents: they describe tools and manners, not one task. */
const SYSTEM_CHARS_MAX = 2_000;
/** The longest story of a sum. */
const STORY_CHARS_MAX = 2_000;
/** Just inside a tier, where another part moved the request to it. */
const EDGE = 0.01;

export function judge({ messages, tools }: ChatRequest, ask: Ask, weights: Weights | null): Judged {
  const prompt = readPrompt(ask.text);
  const parts: RequestPart[] = [];
  let classification = judgeText(prompt, weights, parts);
  if (ask.index >= 0) classification = withMedia(classification, messages[ask.index] as ChatMessage, parts);
  // With tools, the system prompt is an agent's.
  if (tools.length === 0) classification = underSystem(classification, { messages, ask, weights }, parts);
  return { prompt, classification, parts };
}

/** A text by its question. Material beside it adds one tier at most. */
export function judgeText(prompt: PromptText, weights: Weights | null, parts: RequestPart[] = []): Classification {
  const whole = classify(prompt, weights);
  // Solved examples and choices belong to the question.
  if (prompt.signals.questionAt > 0 || prompt.signals.options > 1) return whole;
  const { question, contextChars } = partText(prompt.lower);
  if (contextChars === 0) return whole;
  const asked = classify(readPrompt(question), weights);
  // The story of a sum is no material beside it.
  if (whole.category === "math" && contextChars < STORY_CHARS_MAX) return whole;
  parts.push({ part: "question", tier: asked.tier }, { part: "context", tier: whole.tier, characters: contextChars });
  const rank = tierRank(asked.tier);
  if (tierRank(whole.tier) < rank) return named(asked, TEXT.parts.context);
  if (tierRank(whole.tier) <= rank + 1) return whole;
  const isCoding = whole.isCoding || asked.isCoding;
  return named({ ...movedTo(asked, TIERS[rank + 1] as Tier), isCoding }, TEXT.parts.context);
}

/** An image is one tier more where something is to be worked out from it, and never small talk. */
function withMedia(said: Classification, asked: ChatMessage, parts: RequestPart[]): Classification {
  if (typeof asked.content === "string") return said;
  const kinds = new Set(partsOf(asked).flatMap(({ type }) => MEDIA[type] ?? []));
  let result = said;
  for (const kind of kinds) {
    const isWorkedOut = kind === "image" && WORKED_OUT.has(said.category) && result.tier !== "COMPLEX";
    const rank = Math.max(tierRank("SIMPLE"), tierRank(result.tier) + (isWorkedOut ? 1 : 0));
    parts.push({ part: kind, tier: TIERS[rank] as Tier });
    if (rank > tierRank(result.tier)) result = named(movedTo(result, TIERS[rank] as Tier), TEXT.parts[kind]);
  }
  return result;
}

const MEDIA: Readonly<Record<string, "image" | "file" | "audio">> = {
  image_url: "image",
  file: "file",
  input_audio: "audio",
};
const WORKED_OUT: ReadonlySet<string> = new Set(["math", "reasoning", "coding_general_debugging_refactoring_testing"]);

interface SystemInput {
  readonly messages: readonly ChatMessage[];
  readonly ask: Ask;
  readonly weights: Weights | null;
}

/**
 * A system prompt with one task makes what the user sends its material: a label for a scam text is as easy as the label
 * for a greeting, and a statement for a prover is a proof.
 */
function underSystem(said: Classification, input: SystemInput, parts: RequestPart[]): Classification {
  const text = taskOf(input.messages);
  if (text === "" || input.ask.index < 0 || input.messages[input.ask.index]?.role !== "user") return said;
  const task = readTask(text, input.weights);
  const rank = tierRank(said.tier);
  if (task.handles !== null) {
    const most = Math.max(tierRank(task.handles), tierRank("LIGHT"));
    parts.push({ part: "system", tier: task.handles });
    return rank <= most ? said : named(movedTo(said, TIERS[most] as Tier), TEXT.parts.material);
  }
  if (!task.isHard || said.category === "chitchat") return said;
  const both = classify(readPrompt(`${text}\n\n${partText(input.ask.text).question}`), input.weights);
  parts.push({ part: "system", tier: both.tier });
  return tierRank(both.tier) <= rank ? said : named(movedTo(said, both.tier), TEXT.parts.task);
}

/** Meaning of a system prompt by itself. */
interface Task {
  /** The tier of its task, where it says what is done with every text; else null. */
  readonly handles: Tier | null;
  /** True where it asks for hard work. */
  readonly isHard: boolean;
}

function readTask(text: string, weights: Weights | null): Task {
  const known = TASKS.get(text);
  if (known?.weights === weights) return known;
  const prompt = readPrompt(text);
  const { proof, design, expert, constraint } = prompt.signals.cues;
  const isHandling = HANDLES.test(prompt.lower) && !OPEN.test(prompt.lower);
  const handles = isHandling ? classify(prompt, weights).tier : null;
  const task = { handles, isHard: proof + design + expert + constraint > 0, weights };
  if (TASKS.size >= TASKS_MAX) TASKS.clear();
  TASKS.set(text, task);
  return task;
}

/** An application sends the same system prompt with every request, so each is read once. 2 MB at most. */
const TASKS = new Map<string, Task & { readonly weights: Weights | null }>();
const TASKS_MAX = 500;

/** The text of the system messages; nothing where they are an agent's. */
function taskOf(messages: readonly ChatMessage[]): string {
  let text = "";
  for (const message of messages) {
    if (message.role !== "system" && message.role !== "developer") break;
    if (isUnread(message)) return "";
    text += `${messageText(message)}\n`;
    if (text.length > SYSTEM_CHARS_MAX) return "";
  }
  return text.trim();
}

/** Says what is done with every text that comes: a label, a translation, a correction. In lower case. */
const HANDLES =
  /\b(?:classif(?:y|ies|ier|ication)|categori[sz]e|label|tag|moderat(?:e|or|ion)|detect(?:s|or)?|spam|sentiment|translat(?:e|es|or|ion)|proofread(?:s|er)?|(?:correct|fix)(?:s)? (?:the |all |any )?(?:grammar|spelling|typos|punctuation)|extract(?:s|or)?|summari[sz]e(?:s|r)?|rephrase|paraphrase|transliterate|redact|anonymi[sz]e|triage|route (?:the|each|every|this)|(?:one|single) word|yes or no|true or false|title for|keywords?)\b|klassifizier|übersetz|fasse .{0,30}zusammen|korrigier|traduis|tradui[ts]|résume|clasifica|traduce|resume (?:el|la|los|las|lo|este|cada)|classifique|traduza|classifica|traduci|riassumi|классифицируй|переведи|переводи|分类|翻译|总结|提取|分類|翻訳|要約|분류|번역|요약/u;

/** Says that anything may be asked, though a task is named. */
const OPEN =
  /\b(?:assistant|helpful|answers? (?:any|all|the|user|questions?)|help|chat|chatbot|conversation|you can|agent|tutor|teach|solve|brainstorm|anything)\b/u;

/** The same in another tier. */
function movedTo(said: Classification, tier: Tier): Classification {
  const [from, to] = scoreRangeOf(tier);
  const score = tierRank(tier) > tierRank(said.tier) ? from + EDGE : Math.min(said.score, to - EDGE);
  return { ...said, tier, score: Math.max(score, from + EDGE) };
}

function named(said: Classification, reason: string): Classification {
  return { ...said, signals: [...said.signals, reason] };
}
