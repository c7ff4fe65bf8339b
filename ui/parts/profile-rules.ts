// The rules of a profile, each in a few words. Used by the list of profiles and the form of a key.

import { plural, usd } from "../format.ts";
import type { Rules } from "../types.ts";

/** By their number in the API. */
const QUALITIES = ["fast", "balanced", "best"];

/** One chip per rule that is set; "No rules" where none is. */
export function chipsOf(rules: Rules): readonly string[] {
  const chips = [
    rules.tierFloor === null ? null : `${rules.tierFloor} or higher`,
    rules.tierCeiling === null ? null : `Up to ${rules.tierCeiling}`,
    rules.maxCostUsd === null ? null : `Max ${usd(rules.maxCostUsd)}`,
    rules.bfclMin === null ? null : `BFCL ≥ ${rules.bfclMin}`,
    rules.codeQuality === null ? null : `Code: ${QUALITIES[rules.codeQuality]}`,
    rules.chatQuality === null ? null : `Chat: ${QUALITIES[rules.chatQuality]}`,
    ...rules.capabilities.map((capability) => `Needs ${capability}`),
    rules.allowedModels === null ? null : `${plural(rules.allowedModels.length, "model")} allowed`,
    rules.blockedModels.length === 0 ? null : `${plural(rules.blockedModels.length, "model")} blocked`,
  ].filter((chip) => chip !== null);
  return chips.length === 0 ? ["No rules"] : chips;
}
