// A request written as a program: for curl, for the OpenAI clients and for Anthropic's. It runs as pasted, the
// TypeScript also as plain JavaScript.

/** The body of a chat completion. */
export type ChatBody = Readonly<Record<string, unknown>>;

/** One message of such a body. */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

/** The call that is written down. */
export interface SnippetCall {
  /** `https://host`, without a path. */
  readonly origin: string;
  /** API key of the call. Null where the dashboard does not know the key: then the program reads SWITCHYARD_KEY. */
  readonly key: string | null;
  readonly body: ChatBody;
}

/** One writer per tab, in their order. */
export const WRITERS: Readonly<Record<string, (call: SnippetCall) => string>> = {
  curl: writeCurl,
  Python: writePython,
  TypeScript: writeTypeScript,
  Anthropic: writeAnthropic,
};

/** The body in single quotes, as every POSIX shell reads it. */
function writeCurl({ origin, key, body }: SnippetCall): string {
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key ?? "$SWITCHYARD_KEY"}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

/** The OpenAI client takes fields that it does not know in `extra_body`. */
function writePython({ origin, key, body }: SnippetCall): string {
  const { known, extra } = split(body);
  const keyText = key === null ? 'os.environ["SWITCHYARD_KEY"]' : `"${key}"`;
  return [
    ...(key === null ? ["import os", ""] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin}/v1", api_key=${keyText})`,
    "answer = client.chat.completions.create(",
    ...Object.entries(known).map(([name, value]) => `    ${name}=${toPython(value)},`),
    ...(extra === null ? [] : [`    extra_body=${toPython(extra)},`]),
    ")",
    "print(answer.choices[0].message.content)",
  ].join("\n");
}

/** Writes TypeScript for the OpenAI client. */
function writeTypeScript({ origin, key, body }: SnippetCall): string {
  return [
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: ${keyInScript(key)} });`,
    `const answer = await client.chat.completions.create(${toScript(body)});`,
    "console.log(answer.choices[0].message.content);",
  ].join("\n");
}

/** The same request in Anthropic's format: the system prompt apart, and an output limit that it requires. */
function writeAnthropic({ origin, key, body }: SnippetCall): string {
  const turns = (body.messages ?? []) as readonly ChatMessage[];
  const system = turns.find(({ role }) => role === "system")?.content;
  const message = {
    model: body.model,
    max_tokens: body.max_tokens ?? 1024,
    ...(system === undefined ? {} : { system }),
    messages: turns.filter(({ role }) => role !== "system"),
    ...(Array.isArray(body.tools) ? { tools: body.tools.map(toAnthropicTool) } : {}),
    ...split(body).extra,
  };
  return [
    'import Anthropic from "@anthropic-ai/sdk";',
    "",
    `const client = new Anthropic({ baseURL: "${origin}", apiKey: ${keyInScript(key)} });`,
    `const answer = await client.messages.create(${toScript(message)});`,
    "console.log(answer.content);",
  ].join("\n");
}

/** The key as an expression. */
function keyInScript(key: string | null): string {
  return key === null ? "process.env.SWITCHYARD_KEY" : `"${key}"`;
}

/** An OpenAI tool as Anthropic describes one; anything else stays as it is. */
function toAnthropicTool(tool: unknown): unknown {
  const { function: described } = (tool ?? {}) as { function?: ChatBody };
  if (described === undefined) return tool;
  const { name, description, parameters } = described;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters ?? { type: "object", properties: {} },
  };
}

/** Writes known fields into the call, where the compiler checks them. The compiler accepts ours in a spread. */
function toScript(body: ChatBody): string {
  const { known, extra } = split(body);
  const lines = [
    ...Object.entries(known).map(([name, value]) => `  ${name}: ${literal(value)},`),
    ...(extra === null ? [] : [`  ...${literal(extra)},`]),
  ];
  return ["{", ...lines, "}"].join("\n");
}

/** Writes JSON with unquoted names. In JSON a line begins with a quote only where a name or a whole text does. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^( *)"(\w+)": /gm, "$1$2: ")
    .replaceAll("\n", "\n  ");
}

/** The fields that OpenAI's own clients know by name, and those that are ours. */
function split(body: ChatBody) {
  const entries = Object.entries(body);
  const extra = Object.fromEntries(entries.filter(([name]) => name.startsWith("service_")));
  const known = Object.fromEntries(entries.filter(([name]) => !name.startsWith("service_")));
  return { known, extra: Object.keys(extra).length === 0 ? null : extra };
}

/** Writes JSON as Python, which differs in three words. These are replaced outside of strings only. */
function toPython(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (part) => words[part] ?? part);
}
