// Conversations for the simulator: agents that loop over tools, chats, and applications with one long system prompt. What
// humans ask comes from our own corpus, so that each turn is classified as a real one would be. Sizes and pauses are drawn.

import type { ChatMessage, Tool } from "../../src/core/chat.ts";
import type { Tier } from "../../src/core/tiers.ts";
import { pick, type Random } from "../random.ts";
import type { Row } from "../rows.ts";

/** One request: the messages up to a point, and what comes of it. */
export interface Turn {
  /** Number of the conversation's messages that the request sends. */
  readonly messages: number;
  readonly atMs: number;
  readonly outputTokens: number;
  /** Part of the usual thinking of an effort that the turn takes. Absent where the output has the thinking in it. */
  readonly thinkingShare?: number;
  /** The tier that was decided, and whether a tool loop was open, where the texts are not known. */
  readonly decided?: { readonly tier: Tier; readonly isLoop: boolean };
}

export interface Conversation {
  readonly id: string;
  /** Conversations of one application share their system prompt. */
  readonly application: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly turns: readonly Turn[];
}

/** Make-up of a kind of conversation. Numbers are ranges, in requests, characters, tokens or seconds. */
interface Kind {
  readonly turns: Range;
  readonly systemChars: Range;
  /** Tool calls for each request of a human; null without tools. */
  readonly loop: Range | null;
  readonly resultChars: Range;
  readonly answerTokens: Range;
  /** Between an answer and the next request of the human. */
  readonly pauseSeconds: Range;
  /** The share of requests that are small ones about what is there already. */
  readonly small: number;
  readonly isCoding: boolean;
  /** Number of conversations that share a system prompt. */
  readonly perApplication: number;
}

/** An answer of this length takes all of the thinking that an effort usually costs, a shorter one less. By hand. */
const THOUGHT_THROUGH_TOKENS = 900;

type Range = readonly [least: number, most: number];

const CODING_AGENT: Kind = {
  turns: [20, 200],
  systemChars: [24_000, 60_000],
  loop: [2, 14],
  resultChars: [400, 9_000],
  answerTokens: [120, 700],
  pauseSeconds: [10, 900],
  small: 0.45,
  isCoding: true,
  perApplication: 8,
};

const CHAT: Kind = {
  turns: [20, 60],
  systemChars: [300, 2_000],
  loop: null,
  resultChars: [0, 0],
  answerTokens: [80, 700],
  pauseSeconds: [15, 600],
  small: 0.35,
  isCoding: false,
  perApplication: 1,
};

const APPLICATION: Kind = {
  turns: [20, 30],
  systemChars: [30_000, 60_000],
  loop: [0, 2],
  resultChars: [300, 2_500],
  answerTokens: [60, 400],
  pauseSeconds: [5, 120],
  small: 0.3,
  isCoding: false,
  perApplication: 20,
};

/** Agents that are given a part of a task: short, and with the same brief. */
const SUB_AGENT: Kind = { ...CODING_AGENT, turns: [3, 12], loop: [2, 8], small: 0, perApplication: 12 };

/** A person who comes back after each answer when every cache is cold. */
const SLOW: Kind = { ...APPLICATION, turns: [6, 12], loop: [0, 0], pauseSeconds: [400, 1_800], perApplication: 1 };

/** One call of a tool with a long text, and its answer. */
const ONE_SHOT: Kind = {
  ...APPLICATION,
  turns: [2, 2],
  systemChars: [600, 1_200],
  loop: [1, 1],
  resultChars: [20_000, 60_000],
};

const MIXES = {
  "coding agents": [CODING_AGENT],
  "sub-agents": [SUB_AGENT],
  "long pauses": [SLOW],
  "one call": [ONE_SHOT],
  chats: [CHAT],
  "one long system prompt": [APPLICATION],
  mixed: [CODING_AGENT, CODING_AGENT, CHAT, APPLICATION],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

export type Mix = keyof typeof MIXES;

export function makeConversations(mix: Mix, count: number, rows: readonly Row[], random: Random): Conversation[] {
  const kinds: readonly Kind[] = MIXES[mix];
  const prompts = {
    coding: rows.filter(({ label, prompt }) => label.coding === true && prompt !== "").map(({ prompt }) => prompt),
    other: rows.filter(({ label, prompt }) => label.coding === false && prompt !== "").map(({ prompt }) => prompt),
  };
  return Array.from({ length: count }, (_, at) => {
    const kind = kinds[at % kinds.length] as Kind;
    const application = `${mix} ${at % kinds.length} ${Math.floor(at / kind.perApplication)}`;
    return makeConversation({ id: `${mix} ${at}`, application, kind, prompts }, random);
  });
}

interface Plan {
  readonly id: string;
  readonly application: string;
  readonly kind: Kind;
  readonly prompts: { readonly coding: readonly string[]; readonly other: readonly string[] };
}

function makeConversation({ id, application, kind, prompts }: Plan, random: Random): Conversation {
  const messages: ChatMessage[] = [{ role: "system", content: instructions(application, kind) }];
  const turns: Turn[] = [];
  const wanted = within(kind.turns, random);
  let atMs = within([0, 3_600], random) * 1000;
  const send = (outputTokens: number, tookSeconds: Range): void => {
    const thinkingShare = Math.min(1, outputTokens / THOUGHT_THROUGH_TOKENS);
    turns.push({ messages: messages.length, atMs, outputTokens, thinkingShare });
    atMs += within(tookSeconds, random) * 1000;
  };
  while (turns.length < wanted) {
    const isFirst = turns.length === 0;
    const isSmall = !isFirst && random() < kind.small;
    const ask = isSmall
      ? pick(kind.isCoding ? SMALL_CODING : SMALL, random)
      : pick(kind.isCoding ? prompts.coding : prompts.other, random);
    messages.push({ role: "user", content: ask });
    const calls = kind.loop === null ? 0 : within(isSmall ? [0, 2] : kind.loop, random);
    for (let call = 0; call < calls && turns.length < wanted - 1; call++) {
      send(within([40, 220], random), [2, 20]);
      messages.push(...toolTurn(`${id} ${turns.length}`, within(kind.resultChars, random), random));
    }
    const answerTokens = within(kind.answerTokens, random);
    send(answerTokens, [4, 30]);
    messages.push({ role: "assistant", content: filler(answerTokens * 4, random) });
    atMs += within(kind.pauseSeconds, random) * 1000;
  }
  return { id, application, messages, tools: kind.loop === null ? [] : TOOLS, turns };
}

/** Small requests inside a conversation, as people write them to agents and to chats. */
const SMALL_CODING = [
  "Run the tests again.",
  "Commit this with a short message.",
  "Thanks. Rename the helper to something clearer.",
  "What does that function return when the list is empty?",
  "Show me the diff.",
  "Now do the same for the other file.",
  "Fix the typo in the comment.",
  "Which files did you change?",
  "Add a line to the changelog.",
  "Looks good, go on.",
] as const;

const SMALL = [
  "Thanks!",
  "Make it shorter.",
  "And in German?",
  "Can you say that as a list?",
  "ok",
  "What was the second one again?",
  "Please translate that into French.",
  "Give me an example.",
  "yes please",
  "Who was that?",
] as const;

const TOOLS: readonly Tool[] = [
  ["read_file", "Reads a file of the repository."],
  ["edit_file", "Replaces a text in a file."],
  ["run", "Runs a command in the shell and returns its output."],
  ["search", "Searches the repository for a text."],
].map(([name, description]) => ({
  name: name as string,
  description: description as string,
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}));

function toolTurn(id: string, resultChars: number, random: Random): readonly ChatMessage[] {
  const tool = pick(TOOLS, random);
  const made = { name: tool.name, arguments: JSON.stringify({ path: `src/${Math.floor(random() * 1e6)}.ts` }) };
  return [
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: made }] },
    { role: "tool", tool_call_id: id, content: filler(resultChars, random) },
  ] as unknown as readonly ChatMessage[];
}

/** The same for all conversations of an application. */
function instructions(application: string, { systemChars }: Kind): string {
  const length = (systemChars[0] + systemChars[1]) / 2;
  return `You work for ${application}. ${"Follow the rules of the house and answer in plain words. ".repeat(Math.ceil(length / 57))}`;
}

const LINES = [
  "const total = rows.reduce((sum, row) => sum + row.amount, 0);\n",
  "if (value === undefined) return null;\n",
  "The table has one row for each request and is read page by page.\n",
  "export function readPage(limit: number): readonly Row[] {\n",
  "  12 passed, 0 skipped in 3.4 s\n",
] as const;

function filler(chars: number, random: Random): string {
  let text = "";
  while (text.length < chars) text += pick(LINES, random);
  return text.slice(0, chars);
}

/** Skewed to the lower end, as sizes and pauses are. */
function within([least, most]: Range, random: Random): number {
  return Math.round(least + (most - least) * random() ** 2);
}
