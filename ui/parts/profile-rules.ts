// The rules of a profile, each in a few words. Used by the list of profiles and the form of a key.

import { PROFILE_CONTROLS, type ProfileControl } from "../../src/core/requests/controls.ts";
import { plural, usd } from "../format.ts";
import type { Rules } from "../types.ts";
import * as TEXT from "./text.ts";

/** Names of the qualities by their number in the API. */
const QUALITIES = ["fast", "balanced", "best"];

/** One chip per rule that is set; "No rules" where none is. */
export function chipsOf(rules: Rules): readonly string[] {
  const chips = PROFILE_CONTROLS.flatMap((control) => chipsOfRule(control, (rules as Values)[control.rule]));
  return chips.length === 0 ? [TEXT.noRules] : chips;
}

type Values = Readonly<Record<string, unknown>>;

function chipsOfRule({ takes, rule, label = rule, chip = `${label}: {}` }: ProfileControl, value: unknown): string[] {
  if (value === takes.unset || value === undefined) return [];
  const written = (each: unknown): string => chip.replace("{}", () => String(each));
  switch (takes.kind) {
    case "list": {
      const words = value as readonly string[];
      if (takes.words !== null) return words.map(written);
      return words.length === 0 && takes.unset !== null ? [] : [written(plural(words.length, "model"))];
    }
    case "names":
      return [written((value as readonly string[]).join(", "))];
    case "amount":
      return [written(usd(String(value)))];
    case "quality":
      return [written(QUALITIES[value as number])];
    case "cascade":
      return [written(value ? TEXT.on : TEXT.off)];
    default:
      return [written(value)];
  }
}
