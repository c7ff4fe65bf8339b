// The rules of a profile, each in a few words. Used by the list of profiles and the form of a key.

import { plural, usd } from "../format.ts";
import type { Rules } from "../types.ts";

/** By their number in the API. */
const QUALITIES = ["fast", "balanced", "best"];

/** One chip per rule that is set; "no rules" where none is. */
export function chipsOf(rules: Rules): readonly string[] {
  const chips = [
    rules.tierFloor === null ? null : `at least ${rules.tierFloor}`,
    rules.tierCeiling === null ? null : `at most ${rules.tierCeiling}`,
    rules.maxCostUsd === null ? null : `max. ${usd(rules.maxCostUsd)}`,
    rules.bfclMin === null ? null : `tool score ≥ ${rules.bfclMin}`,
    rules.codeQuality === null ? null : `code: ${QUALITIES[rules.codeQuality]}`,
    rules.chatQuality === null ? null : `chat: ${QUALITIES[rules.chatQuality]}`,
    ...rules.capabilities.map((capability) => `needs ${capability}`),
    rules.allowedModels === null ? null : `only ${plural(rules.allowedModels.length, "model")}`,
    rules.blockedModels.length === 0 ? null : `not ${plural(rules.blockedModels.length, "model")}`,
  ].filter((chip) => chip !== null);
  return chips.length === 0 ? ["no rules"] : chips;
}
