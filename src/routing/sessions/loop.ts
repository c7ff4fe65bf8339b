// Signs in the calls of a task that it goes wrong: checks that still fail after a change, calls that fail one after the
// other, calls that are made again to no effect. Each call is one sign at most, and what only looks at something is none.

import { type ChatMessage, contentText, isUnread, type ToolCall, UNREAD } from "../../core/chat.ts";
import * as TEXT from "../text.ts";
import type { CheckResult } from "./checks.ts";
import { type CallOutcome, outcomeOf } from "./outcome.ts";

/** Signs that were found, the newest said first, and whether the task works again. */
export interface LoopSigns {
  readonly count: number;
  readonly because: readonly string[];
  /** True when the newest check passes, or many calls in a row went well. */
  readonly isWorking: boolean;
}

/** Between two equal calls, so many others may stand. */
export interface SignLimits {
  readonly repeatWithin: number;
}

/** A call with its result, as far as evidence is read from it. */
interface LoopCall extends Pick<CallOutcome, "isReading" | "isFailed" | "check"> {
  readonly name: string;
  readonly args: string;
  readonly result: ChatMessage;
}

/** The calls read at the end of a long loop: the session remembers what was found before. */
const CALLS_READ = 12;
const MESSAGES_READ = 80;

export function findSigns(messages: readonly ChatMessage[], after: number, limits: SignLimits): LoopSigns {
  const calls = recentCalls(messages, after);
  return calls.length < 2 ? NO_SIGNS : signsIn(calls, limits);
}

const NO_SIGNS: LoopSigns = { count: 0, because: [], isWorking: false };

/** The oldest first. Calls without a result yet are none, and of those that only look, failed ones alone count. */
function recentCalls(messages: readonly ChatMessage[], after: number): readonly LoopCall[] {
  const calls: LoopCall[] = [];
  const results = new Map<string, ChatMessage>();
  const from = Math.max(after + 1, messages.length - MESSAGES_READ);
  for (let index = messages.length - 1; index >= from && calls.length < CALLS_READ; index--) {
    const message = messages[index] as ChatMessage;
    if (message.role === "tool" && typeof message.tool_call_id === "string") {
      results.set(message.tool_call_id, message);
    } else if (message.role === "assistant") {
      // Some clients send null.
      for (const call of (message.tool_calls ?? []).toReversed()) {
        const made = madeCall(call, index, results);
        if (made !== null) calls.push(made);
      }
    }
  }
  return calls.reverse();
}

function madeCall(
  { id, function: made }: ToolCall,
  place: number,
  results: ReadonlyMap<string, ChatMessage>,
): LoopCall | null {
  const result = id === undefined ? undefined : results.get(id);
  if (result === undefined) return null;
  const [name, args] = [made?.name ?? "", made?.arguments ?? ""];
  const { isReading, isFailed, check, counts } = outcomeOf({ name, args, result, place });
  return counts ? { name, args, result, isReading, isFailed, check } : null;
}

/** Past runs of one check. */
interface Runs {
  readonly args: string;
  /** The least that ever failed, and how often it was run since it last passed. */
  readonly least: number;
  readonly count: number;
}

/** So many calls in a row that go well show that a task works again. */
const GOOD_CALLS = 6;
/** A check that fails for the third time in a row is a sign more. */
const MANY_RUNS = 3;

interface Reason {
  readonly text: string;
  readonly count: number;
}

class Signs {
  readonly runs = new Map<string, Runs>();
  /** By kind of sign, the newest last. */
  readonly reasons = new Map<string, Reason>();
  failedInRow = 0;
  goodInRow = 0;
  hasChanged = false;
  isWorking = false;

  /** The newest sentence of a kind stands for all of its signs. */
  add(kind: string, text: string, count = 1): void {
    const before = this.reasons.get(kind)?.count ?? 0;
    this.reasons.delete(kind);
    this.reasons.set(kind, { text, count: before + count });
  }
}

function signsIn(calls: readonly LoopCall[], { repeatWithin }: SignLimits): LoopSigns {
  const signs = new Signs();
  for (const [place, call] of calls.entries()) {
    const check = call.check ?? silentPass(signs, call);
    if (check !== null) noteCheck(signs, check, call.args);
    else noteCall(signs, call, calls.slice(Math.max(0, place - repeatWithin), place));
    signs.goodInRow = call.isFailed ? 0 : signs.goodInRow + 1;
  }
  const reasons = [...signs.reasons.values()].reverse();
  const count = reasons.reduce((sum, reason) => sum + reason.count, 0);
  const isWorking = signs.isWorking || (count === 0 && signs.goodInRow >= GOOD_CALLS);
  return { count, because: reasons.map(({ text }) => text), isWorking };
}

/** A check that fails again counts once something was changed, unless fewer fail than ever. */
function noteCheck(signs: Signs, { name, failing }: CheckResult, args: string): void {
  const { least, count } = signs.runs.get(name) ?? { least: Number.POSITIVE_INFINITY, count: 0 };
  signs.isWorking = failing === 0;
  if (failing === 0) {
    signs.runs.delete(name);
    signs.reasons.clear();
    signs.failedInRow = 0;
  } else if (count === 0 || signs.hasChanged) {
    const runs = count + 1;
    const isStuck = count > 0 && failing >= least;
    if (isStuck) signs.add(name, TEXT.checkStillFails(name, failing), runs === MANY_RUNS ? 2 : 1);
    signs.runs.set(name, { args, least: Math.min(least, failing), count: runs });
  }
  signs.hasChanged = false;
}

/** Compilers and linters say nothing where all is well. */
function silentPass({ runs }: Signs, { args, isFailed }: LoopCall): CheckResult | null {
  if (isFailed || runs.size === 0) return null;
  for (const [name, run] of runs) if (run.args === args) return { name, failing: 0 };
  return null;
}

function noteCall(signs: Signs, call: LoopCall, before: readonly LoopCall[]): void {
  const { isFailed } = call;
  signs.failedInRow = isFailed ? signs.failedInRow + 1 : 0;
  if (isFailed && hasFailedEdit(call, before)) signs.add("edit", TEXT.editFailedAgain);
  else if (signs.failedInRow > 1) signs.add("failed", TEXT.callsFailed(signs.failedInRow));
  else if (before.some((earlier) => isRepeat(call, earlier))) signs.add("repeat", TEXT.callRepeated);
  signs.isWorking &&= !isFailed;
  if (!call.isReading && !isFailed) signs.hasChanged = true;
}

/** The same name and arguments, and nothing gained. */
function isRepeat(call: LoopCall, earlier: LoopCall): boolean {
  if (call.name !== earlier.name || call.args !== earlier.args) return false;
  if (call.isFailed) return earlier.isFailed;
  return isSameText(call.result, earlier.result);
}

/** Long texts that were left in the body are compared there. */
function isSameText(one: ChatMessage, other: ChatMessage): boolean {
  if (!isUnread(one) && !isUnread(other)) return contentText(one.content) === contentText(other.content);
  if (!isUnread(one) || !isUnread(other)) return false;
  const [a, b] = [one[UNREAD], other[UNREAD]];
  return a.end - a.start === b.end - b.start && a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;
}

const EDITS = /edit|replace|patch|write|insert|update/i;
const TARGET = /"(?:file_?path|path|file|filename|target_file|notebook_path|uri)"\s*:\s*"([^"]{1,300})"/i;

/** An edit of the same file that failed before, with whatever arguments. */
function hasFailedEdit(call: LoopCall, before: readonly LoopCall[]): boolean {
  const target = targetOf(call);
  return target !== undefined && before.some((other) => other.isFailed && targetOf(other) === target);
}

function targetOf({ name, args }: LoopCall): string | undefined {
  return EDITS.test(name) ? TARGET.exec(args)?.[1] : undefined;
}
