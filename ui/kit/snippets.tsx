// The same request in the languages people call it from, with address and key filled in.

import { useState } from "preact/hooks";
import { CopyBlock } from "./copy.tsx";
import { Tabs } from "./tabs.tsx";

export interface Call {
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const KEY_PLACE = "$SWITCHYARD_KEY";

export function Snippets({ call, label }: { readonly call: Call; readonly label: string }) {
  const [chosen, setChosen] = useState("curl");
  const tabs = Object.entries(WRITERS).map(([id, write]) => ({
    id,
    label: id,
    show: () => <CopyBlock text={write(call)} label={`${label}: ${id}`} />,
  }));
  return <Tabs label={label} tabs={tabs} chosen={chosen} onChoose={setChosen} />;
}

export function helloBody(): Readonly<Record<string, unknown>> {
  return { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };
}

const WRITERS: Readonly<Record<string, (call: Call) => string>> = {
  curl: writeCurl,
  Python: writePython,
  TypeScript: writeTypeScript,
  Anthropic: writeAnthropic,
};

export function writeCurl({ key, body }: Call): string {
  return [
    `curl ${origin()}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

function writePython({ key, body }: Call): string {
  const { known, extra } = split(body);
  return [
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin()}/v1", api_key="${key}")`,
    "answer = client.chat.completions.create(",
    ...Object.entries(known).map(([name, value]) => `    ${name}=${toPython(value)},`),
    ...(extra === null ? [] : [`    extra_body=${toPython(extra)},`]),
    ")",
    "print(answer.choices[0].message.content)",
  ].join("\n");
}

function writeTypeScript({ key, body }: Call): string {
  return [
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${origin()}/v1", apiKey: "${key}" });`,
    `const body = ${JSON.stringify(body, null, 2)};`,
    `const answer = await client.chat.completions.create(body${split(body).extra === null ? "" : " as never"});`,
    "console.log(answer.choices[0].message.content);",
  ].join("\n");
}

function writeAnthropic({ key, body }: Call): string {
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
    `const client = new Anthropic({ baseURL: "${origin()}", apiKey: "${key}" });`,
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

function origin(): string {
  return location.origin;
}
