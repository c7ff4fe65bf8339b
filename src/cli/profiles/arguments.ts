// What `switchyard profiles …` was asked to do, read from words and flags before anything is opened.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import type { Constraints, Quality } from "../../core/decision.ts";
import { CAPABILITIES, type Capability } from "../../core/model.ts";
import { TIERS } from "../../core/tiers.ts";
import type { Arguments } from "../command/arguments.ts";
import { type ReadOrder, readSubcommand } from "../command/command.ts";
import { isOn, splitFlags, textOf, UsageError } from "../command/usage.ts";

interface Common {
  readonly accountId: string;
  readonly isJson: boolean;
}

export type ProfileOrder = Common &
  (
    | { readonly kind: "list" }
    | { readonly kind: "show"; readonly named: string }
    | {
        readonly kind: "set";
        readonly named: string;
        readonly changes: Partial<Constraints>;
        readonly description?: string | null;
      }
    | { readonly kind: "delete"; readonly named: string; readonly isConfirmed: boolean }
  );

type Flags = Arguments["flags"];

/** Each flag that sets a rule, and how its text is read; `none` takes the rule away. */
const RULES: Readonly<Record<string, (text: string, flag: string) => Partial<Constraints>>> = {
  floor: (text, flag) => ({ tierFloor: readOptional(text, (word) => readWord(word, TIERS, flag)) }),
  ceiling: (text, flag) => ({ tierCeiling: readOptional(text, (word) => readWord(word, TIERS, flag)) }),
  needs: (text, flag) => ({ capabilities: (readList(text) ?? []).map((word) => readCapability(word, flag)) }),
  "max-cost": (text, flag) => ({ maxCostUsd: readOptional(text, (word) => readNumber(word, flag)) }),
  "bfcl-min": (text, flag) => ({ toolScoreMin: readOptional(text, (word) => readNumber(word, flag, 100)) }),
  "code-quality": (text, flag) => ({ codeQuality: readOptional(text, (word) => readQuality(word, flag)) }),
  "chat-quality": (text, flag) => ({ chatQuality: readOptional(text, (word) => readQuality(word, flag)) }),
  allow: (text) => ({ allowedModels: readList(text) }),
  block: (text) => ({ blockedModels: readList(text) ?? [] }),
};

const DESCRIPTION = "description";

/** Each with how many words follow it. */
const SUBCOMMANDS = { list: 0, show: 1, set: 1, delete: 1 };

const OWN_FLAGS: Readonly<Record<ProfileOrder["kind"], readonly string[]>> = {
  list: [],
  show: [],
  set: [...Object.keys(RULES), DESCRIPTION],
  delete: ["yes"],
};

/** The order, and the flags that are the configuration's. Throws UsageError. */
export function readProfileOrder({ words, flags }: Arguments): ReadOrder<ProfileOrder> {
  const [kind, named] = readSubcommand(words, "profiles", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "account", "json", "no-color"]);
  const common = { accountId: textOf(own, "account") ?? DEFAULT_ACCOUNT, isJson: isOn(own, "json") };
  if (kind === "list") return { order: { kind, ...common }, config };
  if (named === undefined) throw new UsageError(`profiles ${kind} needs the name or the id of a profile.`);
  if (kind === "show") return { order: { kind, named, ...common }, config };
  if (kind === "delete") return { order: { kind, named, isConfirmed: isOn(own, "yes"), ...common }, config };
  return { order: { kind, named, changes: readRules(own), ...readDescription(own), ...common }, config };
}

function readRules(flags: Flags): Partial<Constraints> {
  const changes = Object.entries(RULES).map(([flag, read]) => {
    const text = textOf(flags, flag);
    return text === null ? {} : read(text, flag);
  });
  return Object.assign({}, ...changes) as Partial<Constraints>;
}

/** Left out, it stays as it is. */
function readDescription(flags: Flags): { description?: string | null } {
  const text = textOf(flags, DESCRIPTION);
  return text === null ? {} : { description: readOptional(text, (words) => words) };
}

const NONE = "none";

function readOptional<T>(text: string, read: (word: string) => T): T | null {
  return text === NONE ? null : read(text);
}

export function readWord<Word extends string>(text: string, known: readonly Word[], flag: string): Word {
  const found = known.find((word) => word === text || word === text.toUpperCase());
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} is one of ${known.join(", ")}, not '${text}'.`);
}

function readCapability(text: string, flag: string): Capability {
  return readWord(text, CAPABILITIES, flag);
}

export function readNumber(text: string, flag: string, max = 1e9): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && value <= max) return value;
  throw new UsageError(`--${flag} is a number from 0 to ${max}, not '${text}'.`);
}

export function readCount(text: string, flag: string): number {
  const value = readNumber(text, flag);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new UsageError(`--${flag} is a whole number from 1, not '${text}'.`);
}

export function readQuality(text: string, flag: string): Quality {
  if (/^[012]$/.test(text)) return Number(text) as Quality;
  throw new UsageError(`--${flag} is 0, 1 or 2, not '${text}'.`);
}

function readList(text: string): readonly string[] | null {
  return text === NONE ? null : text.split(",").map((word) => word.trim());
}
