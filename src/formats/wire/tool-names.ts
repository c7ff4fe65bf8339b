// Tool names made short enough for chat-completions hosts, and found again in the answer. As with ids, the new name
// depends on the old one alone.

import { hashText } from "./tool-ids.ts";

const NAME_LENGTH_MAX = 64;
const HASH_LENGTH = 8;

export function shortToolName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, "_");
  if (safe === name && name.length <= NAME_LENGTH_MAX) return name;
  return `${safe.slice(0, NAME_LENGTH_MAX - HASH_LENGTH - 1)}_${hashText(name, HASH_LENGTH)}`;
}

/** Gives the name the client knows for the one the provider used. */
export function toolNameRestorer(names: Iterable<string>): (name: string) => string {
  const originals = new Map<string, string>();
  for (const name of names) {
    const short = shortToolName(name);
    if (short !== name) originals.set(short, name);
  }
  return (name) => originals.get(name) ?? name;
}
