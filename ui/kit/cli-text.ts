// A request as `switchyard route`: every control as its flag, quoted for a POSIX shell.

import type { ChatBody, ChatMessage } from "./snippet-text.ts";

/** Where a saved profile is from: its name or id, and whose it is when not the default account's. */
export interface ProfileOrigin {
  readonly profile: string | null;
  readonly account: string | null;
}

const FLAGS: readonly (readonly [string, string])[] = [
  ["service_tier", "tier"],
  ["service_tier_floor", "floor"],
  ["service_tier_ceiling", "ceiling"],
  ["service_code_quality", "code-quality"],
  ["service_chat_quality", "chat-quality"],
  ["service_max_cost", "max-cost"],
  ["service_bfcl_min", "bfcl-min"],
  ["max_tokens", "max-output"],
];

/** `body` is that of a chat completion. */
export function writeCli(body: ChatBody, { profile, account }: ProfileOrigin): string {
  const turns = (body.messages ?? []) as readonly ChatMessage[];
  const system = turns.find(({ role }) => role === "system")?.content;
  const { prompt, earlier } = split(turns.filter(({ role }) => role !== "system"));
  const flags: readonly (readonly [string, unknown])[] = [
    ["profile", profile],
    ["account", profile === null ? null : account],
    ["model", body.service_profile === "direct" ? body.model : null],
    ...FLAGS.map(([field, flag]) => [flag, body[field]] as const),
    ["system", system],
    ["tools", body.tools],
    ["messages", earlier.length === 0 ? null : earlier],
  ];
  const given = flags.filter(([, value]) => value !== null && value !== undefined);
  return [
    "npx switchyard route",
    ...given.map(([flag, value]) => writeFlag(flag, typeof value === "object" ? JSON.stringify(value) : String(value))),
    ...(prompt === null ? [] : [writePrompt(prompt)]),
  ].join(" \\\n  ");
}

/** The prompt is the newest turn, unless the command would read it as "from standard input" or as nothing. */
function split(turns: readonly ChatMessage[]): {
  readonly prompt: string | null;
  readonly earlier: readonly ChatMessage[];
} {
  const last = turns.at(-1);
  const isWord = last?.role === "user" && typeof last.content === "string";
  if (!isWord || last.content === "-" || String(last.content).trim() === "") return { prompt: null, earlier: turns };
  return { prompt: String(last.content), earlier: turns.slice(0, -1) };
}

function writeFlag(flag: string, value: string): string {
  return `--${flag}${value.startsWith("-") ? "=" : " "}${quote(value)}`;
}

function writePrompt(prompt: string): string {
  return prompt.startsWith("-") ? `-- ${quote(prompt)}` : quote(prompt);
}

/** In single quotes nothing has a meaning but the single quote. */
function quote(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
