// A request written as a program: for curl, for the OpenAI clients and for Anthropic's.

export interface Call {
  /** `https://host`, without a path. */
  readonly origin: string;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const WRITERS: Readonly<Record<string, (call: Call) => string>> = {
  curl: writeCurl,
  Python: writePython,
  TypeScript: writeTypeScript,
  Anthropic: writeAnthropic,
};

function writeCurl({ origin, key, body }: Call): string {
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

function writePython({ origin, key, body }: Call): string {
  const { known, extra } = split(body);
  return [
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin}/v1", api_key="${key}")`,
    "answer = client.chat.completions.create(",
    ...Object.entries(known).map(([name, value]) => `    ${name}=${toPython(value)},`),
    ...(extra === null ? [] : [`    extra_body=${toPython(extra)},`]),
    ")",
    "print(answer.choices[0].message.content)",
  ].join("\n");
}

function writeTypeScript({ origin, key, body }: Call): string {
  return [
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${key}" });`,
    `const body = ${JSON.stringify(body, null, 2)};`,
    `const answer = await client.chat.completions.create(body${split(body).extra === null ? "" : " as never"});`,
    "console.log(answer.choices[0].message.content);",
  ].join("\n");
}

function writeAnthropic({ origin, key, body }: Call): string {
  const turns = (body.messages ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  const system = turns.find(({ role }) => role === "system")?.content;
  const { extra } = split(body);
  const message = {
    model: body.model,
    max_tokens: body.max_tokens ?? 1024,
    ...(system === undefined ? {} : { system }),
    messages: turns.filter(({ role }) => role !== "system"),
    ...extra,
  };
  return [
    'import Anthropic from "@anthropic-ai/sdk";',
    "",
    `const client = new Anthropic({ baseURL: "${origin}", apiKey: "${key}" });`,
    `const body = ${JSON.stringify(message, null, 2)};`,
    `const answer = await client.messages.create(body${extra === null ? "" : " as never"});`,
    "console.log(answer.content);",
  ].join("\n");
}

/** What OpenAI's own clients know by name, and what is ours. */
function split(body: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(body);
  const extra = Object.fromEntries(entries.filter(([name]) => name.startsWith("service_")));
  const known = Object.fromEntries(entries.filter(([name]) => !name.startsWith("service_")));
  return { known, extra: Object.keys(extra).length === 0 ? null : extra };
}

/** JSON is Python but for three words, which are replaced outside of strings only. */
function toPython(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (part) => words[part] ?? part);
}
