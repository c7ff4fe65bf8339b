// What `switchyard keys …` was asked to do, read from words and flags before anything is opened.

import type { KeyChange } from "../../core/keys.ts";
import { type NanoUsd, parseUsd } from "../../core/money.ts";
import { SPEND_RESETS, type SpendReset } from "../../core/spend-reset.ts";
import type { Arguments } from "../command/arguments.ts";
import { type ReadOrder, readSubcommand } from "../command/command.ts";
import { parseExpiry } from "../command/expiry.ts";
import { isOn, splitFlags, textOf, UsageError } from "../command/usage.ts";

export interface CreateOrder extends Required<KeyChange> {
  readonly kind: "create";
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

export interface RotateOrder {
  readonly kind: "rotate";
  readonly id: string;
  readonly accountId: string | null;
  /** How long the old key goes on working. */
  readonly graceMs: number;
  readonly isJson: boolean;
}

export interface SetOrder {
  readonly kind: "set";
  readonly id: string;
  readonly accountId: string | null;
  readonly change: KeyChange;
  readonly isJson: boolean;
}

export interface ResetOrder {
  readonly kind: "reset-spend";
  readonly id: string;
  readonly accountId: string | null;
  readonly isJson: boolean;
}

export type KeyOrder = CreateOrder | ListOrder | SetOrder | ResetOrder | RotateOrder | RevokeOrder;

type Flags = Arguments["flags"];

/** Each with how many words follow it; `create` says itself what a word there may have meant. */
const SUBCOMMANDS = { create: 1, list: 0, set: 1, "reset-spend": 1, rotate: 1, revoke: 1 };

const CHANGES = ["name", "profile", "rpm", "spend-limit", "spend-reset", "expires"];

const OWN_FLAGS: Readonly<Record<KeyOrder["kind"], readonly string[]>> = {
  create: [...CHANGES, "account", "json"],
  list: ["account", "json"],
  set: [...CHANGES, "account", "json"],
  "reset-spend": ["account", "json"],
  rotate: ["grace", "account", "json"],
  revoke: ["account", "json", "yes"],
};

/** The order, and the flags that are the configuration's. Throws UsageError. */
export function readKeyOrder({ words, flags }: Arguments, nowMs: number): ReadOrder<KeyOrder> {
  const [kind, ...rest] = readSubcommand(words, "keys", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "no-color"]);
  return { order: readBy[kind](rest, own, nowMs), config };
}

const readBy = {
  ...{ create: readCreate, list: readList, set: readSet },
  ...{ "reset-spend": readResetSpend, rotate: readRotate, revoke: readRevoke },
};

function readCreate([word]: readonly string[], flags: Flags, nowMs: number): CreateOrder {
  const { name, ...limits } = readChange(flags, nowMs);
  if (word !== undefined && name === undefined) {
    throw new UsageError(`keys create takes no word. Did you mean --name ${word}?`);
  }
  if (word !== undefined) throw new UsageError(`'${word}' is one word too many.`);
  if (name === undefined) throw new UsageError("keys create needs --name, such as --name production.");
  const without = { profileId: null, requestsPerMinute: null, spendLimitNano: null, expiresAtMs: null };
  const none = { ...without, spendReset: "never" as const };
  const common = { accountId: textOf(flags, "account"), isJson: isOn(flags, "json") };
  return { kind: "create", name, ...none, ...limits, ...common };
}

/** Where a key may have none of something, `none` says so. */
function readChange(flags: Flags, nowMs: number): KeyChange {
  const orNull = <T>(flag: string, read: (text: string) => T): T | null | undefined => {
    const text = textOf(flags, flag);
    if (text === null) return undefined;
    return text === "none" ? null : read(text);
  };
  const name = textOf(flags, "name")?.trim();
  if ((name?.length ?? 0) > 200) throw new UsageError("--name has at most 200 characters.");
  const profileId = orNull("profile", (text) => text);
  const requestsPerMinute = orNull("rpm", readRate);
  const spendLimitNano = orNull("spend-limit", readAmount);
  const spendReset = orNull("spend-reset", readReset);
  const expiresAtMs = orNull("expires", (text) => readExpiry(text, nowMs));
  return {
    ...(name === undefined ? {} : { name }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(spendLimitNano === undefined ? {} : { spendLimitNano }),
    ...(spendReset === undefined ? {} : { spendReset: spendReset ?? "never" }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function readList(_words: readonly string[], flags: Flags): ListOrder {
  return { kind: "list", accountId: textOf(flags, "account"), isJson: isOn(flags, "json") };
}

function readSet(words: readonly string[], flags: Flags, nowMs: number): SetOrder {
  const id = readId("set", words);
  const change = readChange(flags, nowMs);
  if (Object.keys(change).length === 0) {
    const named = CHANGES.map((flag) => `--${flag}`).join(", ");
    throw new UsageError(`keys set needs something to change, one or more of ${named}.`);
  }
  return { kind: "set", id, accountId: textOf(flags, "account"), change, isJson: isOn(flags, "json") };
}

function readResetSpend(words: readonly string[], flags: Flags): ResetOrder {
  const id = readId("reset-spend", words);
  return { kind: "reset-spend", id, accountId: textOf(flags, "account"), isJson: isOn(flags, "json") };
}

const GRACE_DEFAULT_MS = 24 * 3_600_000;
const GRACE_MAX_MS = 30 * 24 * 3_600_000;

function readRotate(words: readonly string[], flags: Flags): RotateOrder {
  const text = textOf(flags, "grace");
  const graceMs = text === null ? GRACE_DEFAULT_MS : text === "0" ? 0 : parseExpiry(text, 0);
  if (graceMs === null || graceMs > GRACE_MAX_MS) {
    throw new UsageError(
      `--grace is how long the old key still works, such as 0, 1h or 7d, at most 30d; not '${text}'.`,
    );
  }
  const id = readId("rotate", words);
  return { kind: "rotate", id, accountId: textOf(flags, "account"), graceMs, isJson: isOn(flags, "json") };
}

function readId(kind: KeyOrder["kind"], [id]: readonly string[]): string {
  if (id === undefined) throw new UsageError(`keys ${kind} needs the id of a key; keys list shows them.`);
  return id;
}

function readRevoke(words: readonly string[], flags: Flags): RevokeOrder {
  const id = readId("revoke", words);
  return {
    kind: "revoke",
    id,
    accountId: textOf(flags, "account"),
    isConfirmed: isOn(flags, "yes"),
    isJson: isOn(flags, "json"),
  };
}

function readRate(text: string): number {
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= 1_000_000) return rate;
  throw new UsageError(`--rpm is a whole number from 1 to 1000000, not '${text}'.`);
}

function readAmount(text: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount !== null) return amount;
  throw new UsageError(`--spend-limit is an amount in USD, such as 25 or 0.50, not '${text}'.`);
}

function readReset(text: string): SpendReset {
  const found = SPEND_RESETS.find((known) => known === text);
  if (found !== undefined) return found;
  throw new UsageError(`--spend-reset is one of ${SPEND_RESETS.join(", ")}, not '${text}'.`);
}

function readExpiry(text: string, nowMs: number): number {
  const atMs = parseExpiry(text, nowMs);
  if (atMs !== null) return atMs;
  throw new UsageError(`--expires is a time to come, such as 90d, 12h or 2030-01-31, not '${text}'.`);
}
