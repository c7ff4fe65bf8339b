// Adapts earlier turns to one Claude model. A conversation that used several vendors contains unsigned thinking and ids
// of other shapes. A model may also support fewer forms of turns than the client does.

import { unreadIn } from "../../core/chat.ts";
import type { Dialect } from "../../core/model.ts";
import { CONTINUE } from "../convert/chat-turns.ts";
import type { Conversion } from "../convert/conversion.ts";
import { isSealed } from "../convert/reasoning-details.ts";
import type { Outgoing } from "../format.ts";
import { isObject, toText } from "../json/fields.ts";
import { toolIdFor } from "../tools/calls.ts";
import { reminder } from "../tools/results.ts";
import { type Block, blocksOf, isThinking, type Turn, textBlock } from "./blocks.ts";
import { PREFILL, THINKING_HISTORY } from "./errors.ts";
import { isOwnSearch, withoutOwnSearch } from "./search-blocks.ts";

interface OutgoingTurns extends Outgoing {
  /** Set where the client wrote the turns, rather than conversion. */
  readonly isNative: boolean;
}

/** The same array when every turn can go as it is. */
export function adaptTurns(turns: readonly Turn[], outgoing: OutgoingTurns, conversion: Conversion): readonly Turn[] {
  const { model, refusedFields, dropsThinking = false, isNative } = outgoing;
  const stripsThinking = dropsThinking || refusedFields.includes(THINKING_HISTORY);
  const rules = { dialect: model.dialect, stripsThinking, conversion };
  let isChanged = false;
  const adapted: Turn[] = [];
  for (const [index, turn] of turns.entries()) {
    const result =
      turn.role === "system" ? adaptSystem(turn, isSystemFit(turns, index), rules) : adaptTurn(turn, rules);
    isChanged ||= result !== turn;
    if (result !== null) adapted.push(result);
  }
  const last = adapted.at(-1);
  if (last?.role === "assistant" && !takesPrefill(outgoing)) {
    conversion.note("content_converted", "added a user turn: the model does not continue a begun answer");
    return [...adapted, { role: "user", content: CONTINUE }];
  }
  if (last?.role === "assistant" && !isNative) return [...adapted.slice(0, -1), trimmed(last)];
  return isChanged ? adapted : turns;
}

function takesPrefill({ model, refusedFields, request, isNative }: OutgoingTurns): boolean {
  if (refusedFields.includes(PREFILL)) return false;
  const { thinking } = request.body;
  const thinks = isObject(thinking) && thinking.type !== "disabled" && !isNative;
  return model.dialect.takesPrefill !== false && !thinks;
}

/** A begun answer must not end in space. */
function trimmed(turn: Turn): Turn {
  const blocks = blocksOf(turn.content);
  const last = blocks.at(-1);
  if (last?.type !== "text") return turn;
  return { ...turn, content: [...blocks.slice(0, -1), { ...last, text: toText(last.text).trimEnd() }] };
}

/** The demands of the model, and of its last rejection, on earlier turns. */
interface Rules {
  readonly dialect: Dialect;
  readonly stripsThinking: boolean;
  readonly conversion: Conversion;
}

/** Must follow a user turn, and be last or precede an assistant turn. */
function isSystemFit(turns: readonly Turn[], index: number): boolean {
  const next = turns[index + 1];
  return turns[index - 1]?.role === "user" && (next === undefined || next.role === "assistant");
}

function adaptTurn(turn: Turn, rules: Rules): Turn | null {
  if (unreadIn(turn, "content") !== null || typeof turn.content === "string") return turn;
  let isChanged = false;
  const blocks: Block[] = [];
  for (const block of turn.content) {
    const result = adaptBlock(block, rules);
    isChanged ||= result !== block;
    if (result !== null) blocks.push(result);
  }
  if (!isChanged) return turn;
  return blocks.length === 0 ? null : { ...turn, content: blocks };
}

function adaptSystem(turn: Turn, isFit: boolean, { dialect, conversion }: Rules): Turn {
  const takes = dialect.takesSystemInMiddle;
  // The client is trusted where the model's own rules are not known.
  if (takes === undefined || (takes && isFit)) return turn;
  conversion.note(
    "content_converted",
    "turned a system message among the messages into a reminder: the model takes none there",
  );
  const texts = blocksOf(turn.content).filter((block) => block.type === "text");
  return { role: "user", content: texts.map((block) => textBlock(reminder(toText(block.text)))) };
}

function adaptBlock(block: Block, { stripsThinking, conversion }: Rules): Block | null {
  if (isThinking(block) && (stripsThinking || isForeign(block))) {
    conversion.note(
      "reasoning_dropped",
      "dropped thinking that another model left behind: it has no signature this one takes",
    );
    return null;
  }
  if (isOwnSearch(block)) return withoutOwnSearch(block);
  if (block.type === "tool_use") return withSafeId(block, "id");
  return block.type === "tool_result" ? withSafeId(block, "tool_use_id") : block;
}

/** Not signed at all, or by another vendor. */
function isForeign({ type, signature, data }: Block): boolean {
  if (type === "redacted_thinking") return isSealed(data);
  return typeof signature !== "string" || signature === "" || isSealed(signature);
}

const SAFE_ID = /^[A-Za-z0-9_-]+$/;

function withSafeId(block: Block, name: "id" | "tool_use_id"): Block {
  const id = toText(block[name]);
  return SAFE_ID.test(id) ? block : { ...block, [name]: toolIdFor(id, "safe-40") };
}
