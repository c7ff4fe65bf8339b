// Edits of the context that a Messages request asks for, done here for models of other providers: results of old tool calls
// and thinking of old turns are left out. The same request is always edited in the same way.

import { unreadIn } from "../../core/chat.ts";
import type { ClientRequest } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textsIn, toText } from "../json/fields.ts";
import { type Block, blocksIn, cacheMark, isThinking, type Turn } from "./blocks.ts";

export interface EditedContext {
  readonly turns: readonly Turn[];
  /** Reports for the client, with what each edit cleared. Those that had nothing to clear are not among them. */
  readonly applied: readonly JsonObject[];
  /** Types of edits that nobody does here. */
  readonly unknown: readonly string[];
}

/** Stands in the place of a result. */
const CLEARED = "[Cleared to save context. Call the tool again if the result is needed.]";
const BYTES_PER_TOKEN = 4;
/** Defaults of the vendor. */
const USUAL = { inputTokens: 100_000, toolUses: 3, thinkingTurns: 1 };

type Edit = (turns: readonly Turn[], terms: { readonly edit: JsonObject; readonly bytes: number }) => Edited | null;

interface Edited {
  readonly turns: readonly Turn[];
  readonly report: JsonObject;
  readonly clearedBytes: number;
}

const EDITS: Readonly<Record<string, Edit>> = {
  clear_tool_uses_20250919: clearToolUses,
  clear_thinking_20251015: clearThinking,
};

export function editContext({ body, source }: Pick<ClientRequest, "body" | "source">): EditedContext {
  const { context_management: asked } = body;
  let turns = body.messages as readonly Turn[];
  let bytes = source.bytes.length;
  const applied: JsonObject[] = [];
  const unknown: string[] = [];
  for (const edit of isObject(asked) ? objectsIn(asked.edits) : []) {
    const type = toText(edit.type);
    const edited = EDITS[type]?.(turns, { edit, bytes });
    if (edited === undefined) unknown.push(type);
    if (edited === undefined || edited === null) continue;
    ({ turns } = edited);
    bytes -= edited.clearedBytes;
    applied.push({ type, ...edited.report, cleared_input_tokens: tokensIn(edited.clearedBytes) });
  }
  return { turns, applied, unknown };
}

/** The field of an answer that tells of edits; nothing where the request asks for none. */
export function appliedEdits(request: Pick<ClientRequest, "body" | "source"> | undefined): JsonObject {
  if (request === undefined || !isObject(request.body.context_management)) return {};
  return { context_management: { applied_edits: editContext(request).applied } };
}

/** The oldest results go first. The newest ones stay, and those of tools that the edit excludes. */
function clearToolUses(turns: readonly Turn[], { edit, bytes }: Parameters<Edit>[1]): Edited | null {
  const uses = turns.flatMap((turn) => arrayOf(turn).filter(({ type }) => type === "tool_use"));
  if (!isDue(edit.trigger, { bytes, toolUses: uses.length })) return null;
  const kept = countOf(edit.keep, "tool_uses") ?? USUAL.toolUses;
  const excluded = new Set(textsIn(edit.exclude_tools));
  const old = uses.slice(0, Math.max(0, uses.length - kept)).filter(({ name }) => !excluded.has(toText(name)));
  const ids = new Set(old.map(({ id }) => toText(id)));
  const inputs: unknown = edit.clear_tool_inputs;
  const clearsInput = ({ name }: Block): boolean => inputs === true || textsIn(inputs).includes(toText(name));
  let count = 0;
  let clearedBytes = 0;
  const edited = mapped(turns, (block) => {
    const isResult = block.type === "tool_result" && ids.has(toText(block.tool_use_id));
    if (isResult && !isCleared(block)) {
      count += 1;
      clearedBytes += bytesOf(block);
      return clearedResult(block);
    }
    if (block.type !== "tool_use" || !ids.has(toText(block.id)) || !clearsInput(block)) return block;
    clearedBytes += JSON.stringify(block.input ?? {}).length;
    return { ...block, input: {} };
  });
  const least = countOf(edit.clear_at_least, "input_tokens") ?? 0;
  if (count === 0 || tokensIn(clearedBytes) < least) return null;
  return { turns: edited, report: { cleared_tool_uses: count }, clearedBytes };
}

function isDue(trigger: unknown, { bytes, toolUses }: { readonly bytes: number; readonly toolUses: number }): boolean {
  const uses = countOf(trigger, "tool_uses");
  if (uses !== null) return toolUses > uses;
  return tokensIn(bytes) > (countOf(trigger, "input_tokens") ?? USUAL.inputTokens);
}

/** A turn of thinking goes from one message of the user to the next: its calls may need the thoughts before them. */
function clearThinking(turns: readonly Turn[], { edit }: Parameters<Edit>[1]): Edited | null {
  if (edit.keep === "all" || (isObject(edit.keep) && edit.keep.type === "all")) return null;
  const kept = Math.max(1, countOf(edit.keep, "thinking_turns") ?? USUAL.thinkingTurns);
  const places = placesOf(turns);
  const thoughtful = [...new Set(turns.flatMap((turn, at) => (arrayOf(turn).some(isThinking) ? [places[at]] : [])))];
  const cleared = new Set(thoughtful.slice(0, Math.max(0, thoughtful.length - kept)));
  if (cleared.size === 0) return null;
  let clearedBytes = 0;
  const edited = turns.map((turn, at) => {
    if (!cleared.has(places[at]) || !arrayOf(turn).some(isThinking)) return turn;
    for (const block of arrayOf(turn)) if (isThinking(block)) clearedBytes += bytesOf(block);
    return { ...turn, content: arrayOf(turn).filter((block) => !isThinking(block)) };
  });
  return { turns: edited, report: { cleared_thinking_turns: cleared.size }, clearedBytes };
}

/** The number of messages of a human before each turn. Results of tools are none. */
function placesOf(turns: readonly Turn[]): readonly number[] {
  let place = 0;
  return turns.map((turn) => {
    if (turn.role === "user" && !blocksIn(turn).some(({ type }) => type === "tool_result")) place += 1;
    return place;
  });
}

/** The blocks of a turn that has a list of them. Calls, results and thoughts stand nowhere else. */
function arrayOf(turn: Turn): readonly Block[] {
  if (unreadIn(turn, "content") !== null) return [];
  const { content } = turn;
  return typeof content === "string" ? [] : content;
}

function mapped(turns: readonly Turn[], change: (block: Block) => Block): readonly Turn[] {
  return turns.map((turn) => {
    const blocks = arrayOf(turn);
    const changed = blocks.map(change);
    return changed.every((block, at) => block === blocks[at]) ? turn : { ...turn, content: changed };
  });
}

function isCleared(block: Block): boolean {
  return unreadIn(block, "content") === null && block.content === CLEARED;
}

/** Made of single fields, because a text that was left in the body goes along with a copy. */
function clearedResult(block: Block): Block {
  const { tool_use_id, is_error } = block;
  const failed = is_error === undefined ? {} : { is_error };
  return { type: "tool_result", tool_use_id, content: CLEARED, ...failed, ...cacheMark(block) };
}

function bytesOf(block: Block): number {
  const unread = unreadIn(block, "content");
  return unread === null ? JSON.stringify(block.content ?? block).length : unread.end - unread.start;
}

function tokensIn(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_TOKEN);
}

/** The number of a bound of this type; null for any other. */
function countOf(bound: unknown, type: string): number | null {
  const { type: given, value } = isObject(bound) ? bound : ({} as JsonObject);
  return given === type && typeof value === "number" && value >= 0 ? value : null;
}
