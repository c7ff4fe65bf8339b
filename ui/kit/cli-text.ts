// A request as the command `route`. Every control becomes its option, quoted for a POSIX shell.

import { REQUEST_CONTROLS } from "../../src/core/requests/controls.ts";
import type { ChatBody, ChatMessage } from "./snippet-text.ts";

interface Origin {
  /** The command `route` as it is typed in the installation of the gateway. */
  readonly command: string;
  /** Name or id of a saved profile, and its account when not the default one. */
  readonly profile: string | null;
  readonly account: string | null;
}

/** Request fields and the options that stand for them. */
const FLAGS: readonly (readonly [field: string, flag: string])[] = [
  ...REQUEST_CONTROLS.flatMap(({ field, flag }) => (flag === undefined ? [] : [[field, flag] as const])),
  ["max_tokens", "max-output"],
];

/** The command, one option per line. `body` is that of a chat completion. */
export function writeCli(body: ChatBody, { command, profile, account }: Origin): string {
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
  // Unset values are not written: the command has the same defaults.
  const given = flags.filter(([, value]) => value !== null && value !== undefined);
  return [
    command,
    ...given.map(([flag, value]) => writeFlag(flag, worded(value))),
    ...(prompt === null ? [] : [writePrompt(prompt)]),
  ].join(" \\\n  ");
}

function worded(value: unknown): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The prompt is the newest message, unless the command would read it as "from standard input" or as nothing. */
function split(turns: readonly ChatMessage[]): {
  readonly prompt: string | null;
  readonly earlier: readonly ChatMessage[];
} {
  const last = turns.at(-1);
  const isWord = last?.role === "user" && typeof last.content === "string";
  if (!isWord || last.content === "-" || String(last.content).trim() === "") return { prompt: null, earlier: turns };
  return { prompt: String(last.content), earlier: turns.slice(0, -1) };
}

/** Joins flag and value with `=` where the value begins with a dash, which would be read as an option. */
function writeFlag(flag: string, value: string): string {
  return `--${flag}${value.startsWith("-") ? "=" : " "}${quote(value)}`;
}

/** Writes the prompt behind `--` where it begins with a dash, for the same reason. */
function writePrompt(prompt: string): string {
  return prompt.startsWith("-") ? `-- ${quote(prompt)}` : quote(prompt);
}

/** Puts text into single quotes, in which only the single quote itself has a meaning. */
function quote(text: string): string {
  return /^[\w.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
