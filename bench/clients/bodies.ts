// Request bodies in four sizes: a short question, a page of text, and two late turns of a coding agent (a long system
// prompt, twenty tools, a history of calls and results). Texts are in several languages, because a single character
// outside of ASCII makes a body dearer to read. The marks of an agent's body become new numbers when it is sent.

import { CONVERSATION_MARK, TURN_MARK } from "./conversation.ts";

export const SIZES = ["small", "4 KB", "100 KB", "1 MB"] as const;

export type Size = (typeof SIZES)[number];

/** A chat-completions body for `auto`. */
export function bodyOf(size: Size, isStream = false): object {
  return { model: "auto", ...CONTENTS[size](), ...(isStream ? { stream: true } : {}) };
}

/** The same request as a client of the Responses API sends it. */
export function responsesBodyOf(size: Size): object {
  const { messages, tools = [], max_tokens: cap, ...rest } = bodyOf(size) as ChatBody;
  const instructions = messages.find(({ role }) => role === "system")?.content;
  return {
    ...rest,
    ...(instructions === undefined ? {} : { instructions }),
    input: messages.flatMap(inputItems),
    tools: tools.map((tool) => ({ type: "function", ...tool.function })),
    ...(cap === undefined ? {} : { max_output_tokens: cap }),
    // A chat request is not stored either.
    store: false,
  };
}

/** The same request as a client of the Messages API sends it: all content in blocks. */
export function messagesBodyOf(size: Size): object {
  const { messages, tools = [], max_tokens: cap = 1024, ...rest } = bodyOf(size) as ChatBody;
  const instructions = messages.find(({ role }) => role === "system")?.content ?? null;
  return {
    ...rest,
    max_tokens: cap,
    ...(instructions === null ? {} : { system: [textBlock(instructions)] }),
    messages: messages.filter(({ role }) => role !== "system").map(turn),
    tools: tools.map(({ function: { parameters, ...named } }) => ({ ...named, input_schema: parameters })),
  };
}

function turn({ role, content, tool_call_id: id, tool_calls: calls = [] }: ChatMessage): object {
  const texts = content === null ? [] : [textBlock(content)];
  if (role === "tool") return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: texts }] };
  const uses = calls.map((call) => {
    return { type: "tool_use", id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) };
  });
  return { role, content: [...texts, ...uses] };
}

function textBlock(text: string): object {
  return { type: "text", text };
}

interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly parameters: object } }[];
  readonly max_tokens?: number;
}

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

function inputItems({ role, content, tool_call_id: id, tool_calls: calls = [] }: ChatMessage): readonly object[] {
  if (role === "system") return [];
  if (role === "tool") return [{ type: "function_call_output", call_id: id, output: content }];
  if (calls.length === 0) return [{ type: "message", role, content }];
  return calls.map((call) => ({ type: "function_call", call_id: call.id, ...call.function }));
}

const CONTENTS: Readonly<Record<Size, () => object>> = {
  small: () => ({ messages: [{ role: "user", content: "What is the capital of France?" }] }),
  "4 KB": () => ({
    messages: [
      { role: "system", content: "You are a careful editor. Answer in plain English." },
      { role: "user", content: `Summarise the following report in five sentences.\n\n${prose(3_300)}` },
    ],
    max_tokens: 400,
  }),
  "100 KB": () => agentBody(18),
  "1 MB": () => agentBody(280),
};

function agentBody(turns: number): object {
  return {
    messages: [{ role: "system", content: prose(22_000) }, ...agentTurns(turns), LAST_TURN],
    tools: Array.from({ length: 20 }, (_, index) => tool(index)),
    temperature: 0.2,
  };
}

/** A request for real work, so that routing has something to judge. */
const LAST_TURN = {
  role: "user",
  content: `The second test still fails (${TURN_MARK}). Find out why the cache keeps the old entry, fix it and run the tests again.`,
};

/** Each turn is a call of a tool and the file it brought back: about 3.4 KB. The last one is new in every request. */
function agentTurns(count: number): readonly object[] {
  return Array.from({ length: count }, (_, turn) => {
    const mark = turn === count - 1 ? TURN_MARK : CONVERSATION_MARK;
    const id = `call_${String(turn).padStart(6, "0")}_${mark}`;
    const path = `src/part-${turn}.ts`;
    const call = { name: `tool_${turn % 20}`, arguments: JSON.stringify({ path, from: 1 }) };
    return [
      { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] },
      { role: "tool", tool_call_id: id, content: `// ${path} of ${mark}\n${code(2_960)}` },
    ];
  }).flat();
}

/** A tool with a long description, as agents have them. */
function tool(index: number): object {
  const properties = {
    path: { type: "string", description: "The file, relative to the root of the project." },
    from: { type: "integer", minimum: 1, description: "The first line to read." },
    options: { type: "object", properties: { isRecursive: { type: "boolean" }, pattern: { type: "string" } } },
  };
  const parameters = { type: "object", properties, required: ["path"] };
  return { type: "function", function: { name: `tool_${index}`, description: prose(420), parameters } };
}

const SENTENCES = [
  "The committee met on Tuesday and went through the figures of the last quarter.",
  'Two members asked why the cost of "storage" had grown faster than its use.',
  "It was agreed that every team names one person who answers for its budget.",
  "The draft will be sent round before the end of the month, with the changes marked.",
  "Über die Kosten für Größe und Qualität wird nächste Woche noch einmal gesprochen.",
  "L’équipe a déjà résumé les dépenses de l’été, et rien n’a été oublié.",
  "Решение примут после проверки.",
  "会議の議事録は明日までに共有します。",
];

const LINES = [
  "export function readEntry(cache: Map<string, Entry>, key: string): Entry | null {",
  "  const entry = cache.get(key);",
  '  if (entry === undefined || entry.state === "stale") return null;',
  "  // Größe und Alter prüft der Aufrufer.",
  "  return { ...entry, reads: entry.reads + 1 };",
  "}",
  "",
];

/** Natural text of so many characters, mostly English. */
function prose(length: number): string {
  return repeated(SENTENCES, " ", length);
}

/** Source text of so many characters. */
function code(length: number): string {
  return repeated(LINES, "\n", length);
}

function repeated(parts: readonly string[], separator: string, length: number): string {
  const once = parts.join(separator) + separator;
  return once.repeat(Math.ceil(length / once.length)).slice(0, length);
}
