// Prefixes: the beginnings of a prompt, hashed at message boundaries. Two prompts with the same beginning have the same
// hashes up to there. Long texts are read at their ends, because a wrong match costs no more than a wrong estimate.

import { type ChatMessage, type ChatRequest, type ContentPart, UNDECODED } from "../../core/chat.ts";
import { mix, mixBriefly, OFFSET } from "./ends.ts";

/** The end of a message, or of the instructions. */
interface PrefixMark {
  readonly hash: number;
  /** Characters up to here, of tools and texts. */
  readonly chars: number;
}

export interface PrefixMarks {
  /** After tools and instructions, where the first other message begins; null where there are none. */
  readonly instructions: PrefixMark | null;
  /** At the end of each of the last messages, the newest last. */
  readonly ends: readonly PrefixMark[];
}

/** More messages than these hardly come between two requests of a conversation. */
const ENDS_MAX = 24;
/** What the schema of a tool adds to its name and description. By hand: only shares of a prompt are counted with it. */
const SCHEMA_CHARS = 300;

/** Each account's prompts are its own. */
export function prefixMarks(
  { messages, tools }: Pick<ChatRequest, "messages" | "tools">,
  account: string,
): PrefixMarks {
  let hash = mixText(OFFSET, account);
  let chars = 0;
  for (const { name, description } of tools) {
    hash = mixBriefly(mixText(hash, name), description, false);
    chars += name.length + description.length + SCHEMA_CHARS;
  }
  let instructions: PrefixMark | null = null;
  let isOpening = true;
  const first = messages.length - ENDS_MAX;
  const ends: PrefixMark[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as ChatMessage;
    if (isOpening && message.role !== "system" && message.role !== "developer") {
      isOpening = false;
      if (chars > 0) instructions = markOf(hash, index, chars);
    }
    hash = mixMessage(hash, message);
    chars += charsOf(message);
    if (index >= first) ends.push(markOf(hash, index, chars));
  }
  return { instructions, ends };
}

/** The place makes equal hashes of unlike prompts rarer still. */
function markOf(hash: number, index: number, chars: number): PrefixMark {
  return { hash: (hash >>> 0) * PLACES + (index % PLACES), chars };
}

const PLACES = 2 ** 20;

function mixMessage(seed: number, message: ChatMessage): number {
  let hash = mix(seed, message.role.charCodeAt(0));
  const { content, tool_calls: calls } = message;
  const isBytes = message[UNDECODED] === true;
  if (typeof content === "string") hash = mixBriefly(hash, content, isBytes);
  else if (Array.isArray(content)) {
    for (const part of content as readonly ContentPart[]) {
      hash = typeof part.text === "string" ? mixBriefly(hash, part.text, isBytes) : mixText(hash, part.type);
    }
  }
  // Some clients send null.
  for (const { function: made } of calls ?? []) hash = mixBriefly(hash, made?.arguments ?? "", isBytes);
  return hash;
}

function charsOf({ content, tool_calls: calls }: ChatMessage): number {
  let chars = 1;
  if (typeof content === "string") chars += content.length;
  else if (Array.isArray(content)) {
    for (const part of content as readonly ContentPart[]) chars += part.text?.length ?? ATTACHMENT_CHARS;
  }
  for (const { function: made } of calls ?? []) chars += made?.arguments?.length ?? 0;
  return chars;
}

/** About a thousand tokens, as elsewhere. */
const ATTACHMENT_CHARS = 4_000;

function mixText(seed: number, text: string): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = mix(hash, text.charCodeAt(at));
  return hash;
}
