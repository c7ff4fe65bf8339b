// What `switchyard keys …` was asked to do, read from words and flags before anything is opened.

import type { Arguments } from "./arguments.ts";
import { parseExpiry } from "./expiry.ts";
import { isOn, splitFlags, textOf, UsageError, unknown } from "./usage.ts";

export interface CreateOrder {
  readonly kind: "create";
  readonly name: string;
  readonly profileId: string | null;
  readonly requestsPerMinute: number | null;
  readonly expiresAtMs: number | null;
  /** Null where none was named. */
  readonly accountId: string | null;
  readonly isJson: boolean;
}

export interface ListOrder {
  readonly kind: "list";
  readonly accountId: string | null;
  readonly isJson: boolean;
}

export interface RevokeOrder {
  readonly kind: "revoke";
  readonly id: string;
  readonly accountId: string | null;
  readonly isConfirmed: boolean;
  readonly isJson: boolean;
}

export type KeyOrder = CreateOrder | ListOrder | RevokeOrder;

type Flags = Arguments["flags"];

const OWN_FLAGS: Readonly<Record<KeyOrder["kind"], readonly string[]>> = {
  create: ["name", "profile", "rpm", "expires", "account", "json"],
  list: ["account", "json"],
  revoke: ["account", "json", "yes"],
};

/** The order, and the flags that are the configuration's. Throws UsageError. */
export function readKeyOrder({ words, flags }: Arguments, nowMs: number): { order: KeyOrder; config: Flags } {
  const [kind, ...rest] = words;
  if (!isKind(kind)) {
    if (kind === undefined) throw new UsageError("Say what to do: keys create, keys list or keys revoke.");
    throw unknown({ what: "subcommand", word: kind, known: Object.keys(OWN_FLAGS) });
  }
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "no-color"]);
  return { order: readBy[kind](rest, own, nowMs), config };
}

function isKind(word: string | undefined): word is KeyOrder["kind"] {
  return word !== undefined && Object.hasOwn(OWN_FLAGS, word);
}

const readBy = { create: readCreate, list: readList, revoke: readRevoke };

function readCreate(words: readonly string[], flags: Flags, nowMs: number): CreateOrder {
  const name = textOf(flags, "name")?.trim();
  if (words[0] !== undefined && name === undefined) {
    throw new UsageError(`keys create takes no word. Did you mean --name ${words[0]}?`);
  }
  refuseWords(words);
  if (name === undefined) throw new UsageError("keys create needs --name, such as --name production.");
  if (name.length > 200) throw new UsageError("--name has at most 200 characters.");
  return {
    kind: "create",
    name,
    profileId: textOf(flags, "profile"),
    requestsPerMinute: readRate(textOf(flags, "rpm")),
    expiresAtMs: readExpiry(textOf(flags, "expires"), nowMs),
    accountId: textOf(flags, "account"),
    isJson: isOn(flags, "json"),
  };
}

function readList(words: readonly string[], flags: Flags): ListOrder {
  refuseWords(words);
  return { kind: "list", accountId: textOf(flags, "account"), isJson: isOn(flags, "json") };
}

function readRevoke([id, ...others]: readonly string[], flags: Flags): RevokeOrder {
  if (id === undefined) throw new UsageError("keys revoke needs the id of a key; keys list shows them.");
  refuseWords(others);
  return {
    kind: "revoke",
    id,
    accountId: textOf(flags, "account"),
    isConfirmed: isOn(flags, "yes"),
    isJson: isOn(flags, "json"),
  };
}

function refuseWords([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`'${word}' is one word too many.`);
}

function readRate(text: string | null): number | null {
  if (text === null) return null;
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= 1_000_000) return rate;
  throw new UsageError(`--rpm is a whole number from 1 to 1000000, not '${text}'.`);
}

function readExpiry(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const atMs = parseExpiry(text, nowMs);
  if (atMs !== null) return atMs;
  throw new UsageError(`--expires is a time to come, such as 90d, 12h or 2030-01-31, not '${text}'.`);
}
