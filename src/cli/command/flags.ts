// Flags of a command: which are its own, and their text as checked values. What is wrong throws UsageError.

import { optionRows } from "../../config/options/table.ts";
import { LISTED_NAME, type NamedControl, takesInProfile } from "../../core/requests/controls.ts";
import type { Flags } from "./arguments.ts";
import * as TEXT from "./text.ts";
import { UsageError, unknown } from "./usage.ts";

/** Splits a command's own flags from those of the configuration. A flag that neither knows is wrong usage. */
export function splitFlags(flags: Flags, ownNames: readonly string[]): { readonly own: Flags; readonly config: Flags } {
  const configNames = optionRows().flatMap(({ flag }) => (flag === null ? [] : [flag]));
  const own: Record<string, string | undefined> = {};
  const config: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(flags)) {
    if (ownNames.includes(name)) own[name] = value;
    else if (configNames.includes(name)) config[name] = value;
    else
      throw unknown({
        what: "flag",
        word: `--${name}`,
        known: [...ownNames, ...configNames].map((known) => `--${known}`),
      });
  }
  return { own, config };
}

/** The text after a flag; null when the flag is absent. A flag alone arrives as "true", which is nobody's value. */
export function textOf(flags: Flags, name: string): string | null {
  const value = flags[name];
  if (value === undefined) return null;
  if (value === "true" || value.trim() === "") throw new UsageError(TEXT.flagNeedsValue(name));
  return value;
}

/** The address of a gateway as people write it: with or without a slash or /v1 at its end. */
export function gatewayUrl(text: string): string {
  if (!(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) throw new UsageError(TEXT.wrongUrl(text));
  return text.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** Switches take no value: `--json=yes` is more likely a mistake than a wish. */
export function isOn(flags: Flags, name: string): boolean {
  const value = flags[name];
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  throw new UsageError(TEXT.flagTakesNoValue(name));
}

/** One of the known words; tiers may be written in small letters. */
export function parseWord<Word extends string>(text: string, known: readonly Word[], flag: string): Word {
  const found = known.find((word) => word === text || word === text.toUpperCase());
  if (found !== undefined) return found;
  throw new UsageError(TEXT.flagNotOneOf(flag, known.join(", "), text));
}

/** Decimal, as people write amounts; no sign, no hexadecimal. */
export function parseNumber(text: string, flag: string, max = 1e9): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && value <= max) return value;
  throw new UsageError(TEXT.flagNotNumber(flag, max, text));
}

/** A whole number of at least 1. */
export function parseCount(text: string, flag: string): number {
  const value = parseNumber(text, flag);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new UsageError(TEXT.flagNotCount(flag, text));
}

/** The value of a routing control. */
export function parseControl(text: string, control: NamedControl): unknown {
  const { flag = "" } = control;
  const takes = takesInProfile(control);
  switch (takes.kind) {
    case "choice":
      return parseWord(text, takes.words, flag);
    case "quality":
      if (/^[012]$/.test(text)) return Number(text);
      throw new UsageError(TEXT.flagIsNot(flag, "0, 1 or 2", text));
    case "amount":
      return parseNumber(text, flag, takes.max);
    case "number":
      return takes.isWhole ? parseCount(text, flag) : parseNumber(text, flag, takes.max);
    case "text":
      return text;
    case "switch":
    case "cascade":
      return parseWord(text, ["on", "off"], flag) === "on";
    case "names":
      return text.split(",").map((word) => parseName(word.trim(), flag));
    case "list":
      return text.split(",").map((word) => parseListed(word.trim(), takes.words, flag));
  }
}

function parseName(word: string, flag: string): string {
  if (LISTED_NAME.test(word)) return word;
  throw new UsageError(TEXT.flagIsNot(flag, "names between commas", word));
}

function parseListed(word: string, known: readonly string[] | null, flag: string): string {
  return known === null ? word : parseWord(word, known, flag);
}
