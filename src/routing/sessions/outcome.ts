// Outcomes of tool calls: what a call did, whether it failed, and what the check said that it ran. An agent sends each call
// again with every turn, so outcomes are remembered.

import { type ChatMessage, contentText, isUnread, UNREAD } from "../../core/chat.ts";
import { type CheckResult, readCheck } from "./checks.ts";
import { isFailure } from "./failure.ts";
import { mixEnds, rawEnds, unreadEnds } from "./prefix.ts";
import { COMMAND_CHARS, isReading } from "./reading.ts";

export interface CallOutcome {
  readonly isReading: boolean;
  readonly isFailed: boolean;
  readonly check: CheckResult | null;
  /** False for a call that only looked, and found something or nothing: it is no evidence. */
  readonly counts: boolean;
}

interface CallWithResult {
  readonly name: string;
  readonly args: string;
  readonly result: ChatMessage;
  /** Index of its message. */
  readonly place: number;
}

/** The texts as far as they are read. */
interface KnownOutcome {
  readonly name: string;
  readonly args: string;
  readonly said: string;
  readonly outcome: CallOutcome;
}

/** Outcomes in each of two generations. */
const KNOWN_MAX = 500;
let recent = new Map<number, KnownOutcome>();
let older = new Map<number, KnownOutcome>();

export function outcomeOf({ name, args: allArgs, result, place }: CallWithResult): CallOutcome {
  const unread = isUnread(result) ? result[UNREAD] : null;
  const args = headOf(allArgs);
  const said = unread === null ? endsOf(contentText(result.content)) : rawEnds(unread, UNREAD_CHARS).join("\n");
  const mark = markOfCall(place, args, said);
  const known = recent.get(mark) ?? older.get(mark);
  if (known?.said === said && known.args === args && known.name === name) return remember(mark, known);
  if (unread === null) return remember(mark, { name, args, said, outcome: judgeCall(name, args, said) });
  const ends = unreadEnds(unread, UNREAD_CHARS);
  // Rarely, more has to be read than the ends of what was sent.
  if (ends === null) return judgeCall(name, args, endsOf(contentText(result.content)));
  return remember(mark, { name, args, said, outcome: judgeCall(name, args, ends) });
}

/**
 * To hash the whole of a call takes longer than to compare it, and a call comes again at the same place. The texts are
 * flattened here, and so keep no longer ones.
 */
function markOfCall(place: number, args: string, said: string): number {
  return mixEnds(mixEnds(place, args, true), said, true);
}

function remember(mark: number, known: KnownOutcome): CallOutcome {
  recent.set(mark, known);
  if (recent.size >= KNOWN_MAX) [recent, older] = [new Map(), recent];
  return known.outcome;
}

function headOf(args: string): string {
  return args.length > COMMAND_CHARS ? `${args.slice(0, COMMAND_CHARS)}…` : args;
}

/** Read of a result: summaries stand at the end, the first errors of a compiler at the beginning. */
const HEAD_CHARS = 400;
const TAIL_CHARS = 1_400;
/** The same of a result that is not parsed yet, at each end. */
const UNREAD_CHARS = TAIL_CHARS / 2;

function endsOf(text: string): string {
  return text.length <= HEAD_CHARS + TAIL_CHARS ? text : `${text.slice(0, HEAD_CHARS)}\n${text.slice(-TAIL_CHARS)}`;
}

/** A search that finds nothing ends with an exit code, which is no failure. */
const SEARCHES = /grep|\brg\b|find|search|glob|\bdiff\b|\btest -/i;

function judgeCall(name: string, args: string, ends: string): CallOutcome {
  if (!isReading(name, args)) {
    const check = readCheck(ends);
    const isFailed = check === null ? isFailure(ends) : check.failing > 0;
    return { isReading: false, isFailed, check, counts: true };
  }
  const isFailed = !SEARCHES.test(name + args) && isFailure(ends);
  return { isReading: true, isFailed, check: null, counts: isFailed };
}
