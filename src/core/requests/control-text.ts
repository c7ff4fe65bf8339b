// Routing controls in words: the values that they take, for the reference page, the command line and the dashboard.

import { TIERS } from "../tiers.ts";
import type { NamedControl, NumberTaken, Takes } from "./controls.ts";

/** The values that a control takes, in words. */
export function describeValues(takes: Takes): string {
  switch (takes.kind) {
    case "choice":
      return takes.words === TIERS ? "tier" : inWords(takes.words);
    case "quality":
      return "0, 1 or 2";
    case "amount":
      return "number, at least 0";
    case "number":
      return `${takes.isWhole ? "whole number" : "number"}, ${describeBounds(takes)}`;
    case "text":
      return `text of at most ${takes.charsMax} characters`;
    case "switch":
      return "true or false";
    case "cascade":
      return "true, false or an object of checks";
    case "names":
      return `list of ${takes.what}`;
    case "list":
      return takes.words === null ? "ids of models" : `list of ${inWords(takes.words)}`;
  }
}

function describeBounds({ min, max, profileMax }: NumberTaken): string {
  if (max === Number.MAX_SAFE_INTEGER) return `at least ${min}`;
  const inProfile = profileMax === undefined ? "" : `, in a profile to ${profileMax}`;
  return `${min} to ${max.toLocaleString("en-US")}${inProfile}`;
}

function inWords(words: readonly string[]): string {
  const quoted = words.map((word) => `\`${word}\``);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/** The values that a control takes, as one word behind its flag. */
export function valueWord({ takes }: Pick<NamedControl, "takes">): string {
  if (takes.kind === "choice") return takes.words === TIERS ? "TIER" : takes.words.join("|");
  return VALUE_WORDS[takes.kind];
}

const VALUE_WORDS = {
  quality: "0|1|2",
  amount: "USD",
  number: "NUMBER",
  text: "TEXT",
  switch: "on|off",
  cascade: "on|off",
  names: "LIST",
  list: "LIST",
};

/** Returns the help of a control without Markdown. */
export function plainHelp({ help }: Pick<NamedControl, "help">): string {
  return help.replaceAll("`", "");
}
