// The ask: the newest human message with real text, without the notes that client programs wrap around it. Linear in the
// length of the messages; long texts are read at their ends.

import { type ChatMessage, messageText } from "../core/chat.ts";

export interface Ask {
  readonly text: string;
  /** Index of the message with the text; -1 when no message has any text. */
  readonly index: number;
}

/** Blocks that client programs put around a human's words: notes, surroundings, outputs of commands, attached files. */
const NOTE_TAGS = [
  "system-reminder",
  "environment_details",
  "environment_context",
  "user_instructions",
  "local-command-caveat",
  "local-command-stdout",
  "local-command-stderr",
  "command-message",
  "command-name",
  "command-output",
  "user-prompt-submit-hook",
  "additional_data",
  "file_contents",
  "attached_files",
] as const;
/** Characters read of a long text, from its beginning and from its end. By hand, to bound the time of a decision. */
const HEAD_CHARS = 8192;
const TAIL_CHARS = 4096;

/** Falls back to the system message where no user message has text. */
export function newestAsk(messages: readonly ChatMessage[]): Ask {
  return askBefore(messages, messages.length) ?? lastInstruction(messages);
}

/** The newest human request that stands before `end` and after `after`; null when there is none. */
export function askBefore(messages: readonly ChatMessage[], end: number, after = -1): Ask | null {
  for (let index = end - 1; index > after; index--) {
    const message = messages[index] as ChatMessage;
    if (message.role !== "user") continue;
    const text = readableText(message);
    if (text !== "") return { text, index };
  }
  return null;
}

/** Tells whether a message is a human request. Most are recognized without decoding. */
export function isAsk(message: ChatMessage): boolean {
  if (message.role !== "user") return false;
  const { content } = message;
  const isPlain = typeof content === "string" && isPrintable(content.charCodeAt(0)) && !content.includes("</");
  return isPlain || readableText(message) !== "";
}

/** ASCII, and neither space nor control character. */
function isPrintable(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

// Some clients put the whole task into the system message and send no user text at all.
function lastInstruction(messages: readonly ChatMessage[]): Ask {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as ChatMessage;
    if (message.role !== "system" && message.role !== "developer") continue;
    const text = readableText(message);
    if (text !== "") return { text, index };
  }
  return { text: "", index: -1 };
}

/** Without the notes of client programs. */
export function readableText(message: ChatMessage): string {
  return readEnds(withoutNotes(messageText(message)).trim());
}

function withoutNotes(text: string): string {
  if (!text.includes("</")) return text;
  return NOTE_TAGS.reduce((rest, tag) => withoutTagged(rest, `<${tag}>`, `</${tag}>`), text);
}

function withoutTagged(text: string, opening: string, closing: string): string {
  let open = text.indexOf(opening);
  if (open < 0) return text;
  const kept: string[] = [];
  let from = 0;
  while (open >= 0) {
    const close = text.indexOf(closing, open + opening.length);
    // An unclosed tag is the human's own text.
    if (close < 0) break;
    kept.push(text.slice(from, open));
    from = close + closing.length;
    open = text.indexOf(opening, from);
  }
  kept.push(text.slice(from));
  return kept.join("");
}

// Instructions stand at the beginning or at the end of pasted material, hardly ever in its middle.
function readEnds(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text;
  return `${text.slice(0, HEAD_CHARS)}\n${text.slice(-TAIL_CHARS)}`;
}
