// Evidence that a conversation is going wrong, found in its messages alone: signs in its calls, a human who says so, an
// answer that is empty or cut off. The tier goes down again when the task works. Behaviour 5.22.

import { type ChatMessage, messageText } from "../../core/chat.ts";
import type { EscalationPolicy, SessionTurn } from "../../core/session.ts";
import { type Ask, askBefore } from "../ask.ts";
import * as TEXT from "../text.ts";
import { isComplaint, isRelief } from "./complaint.ts";
import { findSigns, type LoopSigns } from "./loop.ts";

/** By how many tiers a request is raised, why, and for which task. */
export interface Escalation {
  readonly tiers: number;
  readonly because: readonly string[];
  readonly task: number;
}

export interface EvidenceInput {
  readonly messages: readonly ChatMessage[];
  /** The newest human request. */
  readonly ask: Ask;
  readonly policy: EscalationPolicy;
  /** True when the request continues an earlier one. */
  readonly isFollowUp: boolean;
  /** The turn before; what it was raised by counts until a new task begins. */
  readonly last: SessionTurn | null;
}

/** However much speaks for it. */
const TIERS_MAX = 2;

/** Thresholds of evidence, set by hand. A move inside a tool loop costs a cold cache, a move between two turns less. */
const THRESHOLDS = {
  normal: { repeatWithin: 3, inLoop: 2, beforeTurn: 1 },
  eager: { repeatWithin: 12, inLoop: 1, beforeTurn: 1 },
} as const;

const NOTHING: readonly string[] = [];

export function findEscalation({ messages, ask, policy, isFollowUp, last }: EvidenceInput): Escalation {
  // Another conversation may have begun with the same words: a first request carries nothing over.
  if (!hasAnswer(messages, -1, messages.length)) return { tiers: 0, because: NOTHING, task: hashOf(ask.text) };
  const complaints = policy === "off" ? [] : complaintsUpTo(messages, ask);
  const opening = complaints.at(-1)?.before ?? ask;
  const continues = isFollowUp || complaints.length > 0;
  const own = hashOf(opening.text);
  const isSameTask = last !== null && (continues || last.task === own);
  const task = isSameTask ? last.task : own;
  if (policy === "off") return { tiers: 0, because: NOTHING, task };
  const loop = findInLoop({ messages, ask, opening, policy, isFollowUp });
  const spoken = [...complaints.map(() => TEXT.userComplained), ...findInAnswer(messages, ask.index)];
  const because = [...spoken, ...(loop.tiers > 0 ? loop.because : NOTHING)];
  const found = Math.min(TIERS_MAX, spoken.length + loop.tiers);
  const isOver = loop.isWorking || (complaints.length === 0 && isRelief(ask.text));
  const kept = isSameTask && !isOver ? Math.min(TIERS_MAX, last.escalation) : 0;
  if (found >= kept) return { tiers: found, because: because.slice(0, TIERS_MAX), task };
  return { tiers: kept, because: [...because, TEXT.earlierEvidence], task };
}

interface LoopInput extends Pick<EvidenceInput, "messages" | "ask" | "isFollowUp"> {
  readonly opening: Ask;
  readonly policy: keyof typeof THRESHOLDS;
}

/** Signs of the task's calls. One is enough where the human goes on, and no loop has to be moved. */
function findInLoop({ messages, ask, opening, policy, isFollowUp }: LoopInput): LoopSigns & { readonly tiers: number } {
  const isNewTurn = ask.index === messages.length - 1;
  const before = isNewTurn && isFollowUp && opening === ask ? askBefore(messages, ask.index) : null;
  const { repeatWithin, inLoop, beforeTurn } = THRESHOLDS[policy];
  const signs = findSigns(messages, (before ?? opening).index, { repeatWithin });
  const isEnough = isNewTurn && opening === ask && signs.count >= beforeTurn;
  return { ...signs, tiers: Math.max(isEnough ? 1 : 0, Math.floor(signs.count / inLoop)) };
}

interface Complaint {
  /** The ask before the complaint. */
  readonly before: Ask;
}

/** The newest ask and those right before it, as far as each complains about an answer. */
function complaintsUpTo(messages: readonly ChatMessage[], ask: Ask): readonly Complaint[] {
  const complaints: Complaint[] = [];
  let newest = ask;
  while (complaints.length < TIERS_MAX && newest.index > 0) {
    const before = askBefore(messages, newest.index);
    const isAnswer = before !== null && hasAnswer(messages, before.index, newest.index);
    if (before === null || !isAnswer || !isComplaint(newest.text)) break;
    complaints.push({ before });
    newest = before;
  }
  return complaints;
}

function hasAnswer(messages: readonly ChatMessage[], from: number, to: number): boolean {
  for (let index = to - 1; index > from; index--) if (messages[index]?.role === "assistant") return true;
  return false;
}

/** The answer right before the newest ask says nothing, or ends inside a block of code. */
function findInAnswer(messages: readonly ChatMessage[], askIndex: number): readonly string[] {
  const answer = messages[askIndex - 1];
  if (answer?.role !== "assistant" || (answer.tool_calls?.length ?? 0) > 0) return [];
  const text = messageText(answer).trim();
  const isRefusal = "refusal" in answer && typeof answer.refusal === "string" && answer.refusal !== "";
  if (text === "" && !isRefusal && !Array.isArray(answer.content)) return [TEXT.answerEmpty];
  return hasOpenFence(text) ? [TEXT.answerCutOff] : [];
}

function hasOpenFence(text: string): boolean {
  let fences = 0;
  for (let at = text.indexOf("```"); at >= 0; at = text.indexOf("```", at + 3)) {
    if (at === 0 || text[at - 1] === "\n") fences += 1;
  }
  return fences % 2 === 1;
}

/** Tells tasks apart; FNV-1a over what is read of the request. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  const length = Math.min(text.length, TASK_CHARS);
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ text.length) >>> 0;
}

const TASK_CHARS = 256;
