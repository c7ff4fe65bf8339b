// An operator's own conversations for the simulator: the request log as the gateway exports it, or requests with their
// messages, one per line as JSON.

import type { ChatMessage, Tool } from "../../src/core/chat.ts";
import { TIERS, type Tier } from "../../src/core/tiers.ts";
import { estimateInputTokens } from "../../src/routing/cost.ts";
import type { Conversation, Turn } from "./conversations.ts";

/** `{"session", "at", "messages", "tools", "outputTokens"}`; `at` is a time, `tools` and `outputTokens` may be missing. */
interface MessagesLine {
  readonly session: string;
  readonly at: string | number;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: Tool }[];
  readonly outputTokens?: number;
}

/** A line of `GET /api/requests/export`, as far as it is read. Null where nothing was routed, or nobody answered. */
interface ExportedLine {
  readonly requestId: string;
  readonly createdAt: string;
  readonly session: string | null;
  readonly tier: Tier | null;
  readonly toolScenario: string | null;
  readonly tokens: {
    readonly input: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly output: number;
  } | null;
}

/** Tokens of an answer where the log does not say. */
const OUTPUT_TOKENS = 300;

export function readConversations(text: string): readonly Conversation[] {
  const own = new Map<string, MessagesLine[]>();
  const exported = new Map<string, ExportedLine[]>();
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const read = JSON.parse(line) as unknown;
    if (isMessages(read)) own.set(read.session, [...(own.get(read.session) ?? []), read]);
    else if (isExported(read)) {
      const session = read.session ?? read.requestId;
      exported.set(session, [...(exported.get(session) ?? []), read]);
    } else throw new Error(`line ${at + 1} is no line of an export, and has no session, time (at) and messages`);
  }
  const known = [...exported].flatMap(([id, lines]) => fromExport(id, lines));
  return [...[...own].map(([id, lines]) => fromMessages(id, lines)), ...known];
}

function isMessages(value: unknown): value is MessagesLine {
  const { session, at, messages } = value as Partial<MessagesLine>;
  return typeof session === "string" && Array.isArray(messages) && Number.isFinite(timeOf(at));
}

function isExported(value: unknown): value is ExportedLine {
  const { requestId, createdAt, tier } = value as Partial<ExportedLine>;
  const isTier = tier === null || TIERS.includes(tier as Tier);
  return typeof requestId === "string" && Number.isFinite(timeOf(createdAt)) && isTier;
}

function timeOf(at: string | number | undefined): number {
  return typeof at === "number" ? at : Date.parse(String(at));
}

/** Requests of one session must send its messages from the beginning, as clients do. */
function fromMessages(id: string, lines: readonly MessagesLine[]): Conversation {
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

/** A request with tools that follows so soon goes on with a tool loop. By hand: the log does not say. */
const LOOP_MS = 20_000;

/**
 * The log has no texts, so there are fillers of the right length and the tier is the one that was decided. A prompt that is
 * shorter than the one before begins a conversation of its own: its client has cut the history.
 */
function fromExport(id: string, lines: readonly ExportedLine[]): readonly Conversation[] {
  const conversations: Grown[] = [];
  const inOrder = [...lines].sort((a, b) => timeOf(a.createdAt) - timeOf(b.createdAt));
  for (const { createdAt, tier, tokens, toolScenario } of inOrder) {
    if (tier === null || tokens === null) continue;
    const atMs = timeOf(createdAt);
    const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
    let grown = conversations.at(-1);
    if (grown === undefined || prompt < grown.tokens) {
      grown = { messages: [], turns: [], tokens: 0, hasTools: toolScenario !== null };
      conversations.push(grown);
    }
    const before = grown.turns.at(-1);
    const isLoop = toolScenario !== null && before !== undefined && atMs - before.atMs <= LOOP_MS;
    grown.messages.push({
      role: before === undefined ? "system" : "assistant",
      content: filler(prompt - grown.tokens),
    });
    grown.messages.push({ role: "user", content: "ok" });
    grown.turns.push({ messages: grown.messages.length, atMs, outputTokens: tokens.output, decided: { tier, isLoop } });
    grown.tokens = prompt;
  }
  return conversations.map(({ messages, turns, hasTools }, at) => {
    const name = at === 0 ? id : `${id} ${at + 1}`;
    return { id: name, application: name, messages, tools: hasTools ? [ANY_TOOL] : [], turns };
  });
}

interface Grown {
  readonly messages: ChatMessage[];
  readonly turns: Turn[];
  tokens: number;
  readonly hasTools: boolean;
}

const ANY_TOOL: Tool = { name: "run", description: "", parameters: null };

const WORDS = "all is well and so it goes on ";
const TOKENS_PER_CHAR =
  estimateInputTokens({ messages: [{ role: "user", content: WORDS.repeat(100) }], tools: [] }) / (WORDS.length * 100);

function filler(tokens: number): string {
  const chars = Math.max(0, Math.round(tokens / TOKENS_PER_CHAR));
  return WORDS.repeat(Math.ceil(chars / WORDS.length)).slice(0, chars);
}
