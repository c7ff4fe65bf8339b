// An operator's own conversations for the simulator: one request per line, as JSON.

import { readFileSync } from "node:fs";
import type { ChatMessage, Tool } from "../../src/core/chat.ts";
import type { Conversation, Turn } from "./conversations.ts";

/** `{"session", "at", "messages", "tools", "outputTokens"}`; `at` is a time, `tools` and `outputTokens` may be missing. */
interface Line {
  readonly session: string;
  readonly at: string | number;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: Tool }[];
  readonly outputTokens?: number;
}

/** What an answer has where the log does not say. */
const OUTPUT_TOKENS = 300;

/** Requests of one session must send its messages from the beginning, as clients do. */
export function readConversations(file: string): readonly Conversation[] {
  const sessions = new Map<string, Line[]>();
  for (const [at, text] of readFileSync(file, "utf8").split("\n").entries()) {
    if (text.trim() === "") continue;
    const line = readLine(text, at + 1);
    sessions.set(line.session, [...(sessions.get(line.session) ?? []), line]);
  }
  return [...sessions].map(([id, lines]) => toConversation(id, lines));
}

function readLine(text: string, number: number): Line {
  const line = JSON.parse(text) as Partial<Line>;
  const isValid = typeof line.session === "string" && Array.isArray(line.messages) && Number.isFinite(timeOf(line.at));
  if (!isValid) throw new Error(`line ${number} needs a session, a time (at) and messages`);
  return line as Line;
}

function timeOf(at: Line["at"] | undefined): number {
  return typeof at === "number" ? at : Date.parse(String(at));
}

function toConversation(id: string, lines: readonly Line[]): Conversation {
  const longest = lines.reduce((most, line) => (line.messages.length > most.messages.length ? line : most));
  const turns = lines.map(
    ({ messages, at, outputTokens = OUTPUT_TOKENS }): Turn => ({
      messages: messages.length,
      atMs: timeOf(at),
      outputTokens,
    }),
  );
  const tools = (longest.tools ?? []).map(({ function: tool }) => tool);
  const system = longest.messages[0]?.role === "system" ? JSON.stringify(longest.messages[0].content) : id;
  return { id, application: system, messages: longest.messages, tools, turns };
}
