// The text of one turn, for the search of the request log, and its beginning for the list. Earlier turns have requests of
// their own, so each text is found once.

import { type ChatRequest, messageText } from "../core/chat.ts";
import type { NewContent } from "../core/requests/records.ts";
import { newestAsk } from "../routing/ask.ts";

/** More is not searched. */
const PROMPT_CHARS_MAX = 32 * 1024;
const PREVIEW_CHARS_MAX = 200;

/** Text after the last answer; in a first turn everything, instructions included. */
export function promptTextOf({ messages }: Pick<ChatRequest, "messages">): Pick<NewContent, "prompt" | "preview"> {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  const texts: string[] = [];
  let length = 0;
  for (let at = answered + 1; at < messages.length && length < PROMPT_CHARS_MAX; at++) {
    const text = messageText(messages[at] as ChatRequest["messages"][number]);
    length += text.length;
    texts.push(text);
  }
  const asked = newestAsk(messages).text.slice(0, 2 * PREVIEW_CHARS_MAX);
  const preview = asked
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, PREVIEW_CHARS_MAX);
  return { prompt: texts.join("\n").slice(0, PROMPT_CHARS_MAX), preview };
}
