// Evidence that a conversation is going wrong, found in its messages alone: calls that are made again, results that fail,
// a human who says so, an answer that is empty or cut off. Each piece raises the tier by one. Behaviour 5.22.

import { type ChatMessage, contentText, isUnread, messageText, type ToolCall, UNREAD } from "../../core/chat.ts";
import type { EscalationPolicy, SessionTurn } from "../../core/session.ts";
import { type Ask, askBefore } from "../ask.ts";
import * as TEXT from "../text.ts";
import { isComplaint } from "./complaint.ts";
import { FAILURE_CHARS, isFailure } from "./failure.ts";
import { unreadEnds } from "./prefix.ts";

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

/** Thresholds of evidence, set by hand. */
const THRESHOLDS = {
  /** The number of calls that may stand between two equal ones, and of results that must fail in a row. */
  normal: { repeatWithin: 3, failures: 3 },
  eager: { repeatWithin: 12, failures: 2 },
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
  const because = [
    ...findInCalls(recentCalls(messages, opening.index), THRESHOLDS[policy]),
    ...complaints.map(() => TEXT.userComplained),
    ...findInAnswer(messages, ask.index),
  ];
  const found = Math.min(TIERS_MAX, because.length);
  const kept = isSameTask ? Math.min(TIERS_MAX, last.escalation) : 0;
  if (found >= kept) return { tiers: found, because: because.slice(0, TIERS_MAX), task };
  return { tiers: kept, because: [...because, TEXT.earlierEvidence], task };
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

/** A call with its result. Texts are as they came: they are compared, and searched for plain words. */
interface CallWithResult {
  readonly name: string;
  readonly args: string;
  readonly result: ChatMessage;
  readonly isFailed: boolean;
}

/** The calls read at the end of a long loop: the session remembers what was found before. */
const CALLS_READ = 12;

/** The newest first. Calls without a result yet are none. */
function recentCalls(messages: readonly ChatMessage[], after: number): readonly CallWithResult[] {
  const calls: CallWithResult[] = [];
  const results = new Map<string, ChatMessage>();
  for (let index = messages.length - 1; index > after && calls.length < CALLS_READ; index--) {
    const message = messages[index] as ChatMessage;
    if (message.role === "tool" && typeof message.tool_call_id === "string") {
      results.set(message.tool_call_id, message);
    } else if (message.role === "assistant") {
      // Some clients send null.
      for (const call of message.tool_calls ?? []) {
        const made = madeCall(call, results);
        if (made !== null) calls.push(made);
      }
    }
  }
  return calls;
}

function madeCall({ id, function: made }: ToolCall, results: ReadonlyMap<string, ChatMessage>): CallWithResult | null {
  const result = id === undefined ? undefined : results.get(id);
  if (result === undefined) return null;
  return { name: made?.name ?? "", args: made?.arguments ?? "", result, isFailed: isFailure(endsOf(result)) };
}

/** Reads as much of a result as tells whether it failed. */
function endsOf(message: ChatMessage): string {
  const ends = isUnread(message) ? unreadEnds(message[UNREAD], FAILURE_CHARS) : null;
  return ends ?? contentText(message.content);
}

interface Thresholds {
  readonly repeatWithin: number;
  readonly failures: number;
}

function findInCalls(calls: readonly CallWithResult[], { repeatWithin, failures }: Thresholds): readonly string[] {
  if (calls.length < 2) return [];
  const found: string[] = [];
  if (hasRepeat(calls, repeatWithin)) found.push(TEXT.callRepeated);
  if (longestFailure(calls) >= failures) found.push(TEXT.callsFailed(longestFailure(calls)));
  else if (hasFailingEdit(calls)) found.push(TEXT.editFailedAgain);
  return found;
}

/** The same name and arguments, and nothing gained: polls and tests that are run again bring other results. */
function hasRepeat(calls: readonly CallWithResult[], within: number): boolean {
  return calls.some((call, place) =>
    calls.slice(place + 1, place + 1 + within).some((earlier) => {
      const isSame = call.name === earlier.name && call.args === earlier.args;
      return isSame && (call.isFailed || contentText(call.result.content) === contentText(earlier.result.content));
    }),
  );
}

function longestFailure(calls: readonly CallWithResult[]): number {
  let longest = 0;
  let run = 0;
  for (const { isFailed } of calls) {
    run = isFailed ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

const EDITS = /edit|replace|patch|write|insert|update/i;
const TARGET = /"(?:file_?path|path|file|filename|target_file|notebook_path|uri)"\s*:\s*"([^"]{1,300})"/i;

/** Edits of one file that failed, with whatever arguments. */
function hasFailingEdit(calls: readonly CallWithResult[]): boolean {
  const targets = new Set<string>();
  for (const { name, args, isFailed } of calls) {
    const target = isFailed && EDITS.test(name) ? TARGET.exec(args)?.[1] : undefined;
    if (target !== undefined && targets.has(target)) return true;
    if (target !== undefined) targets.add(target);
  }
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
