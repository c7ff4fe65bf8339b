// The rules of a profile, each in a few words. Used by the list of profiles and the form of a key.

import { plural, usd } from "../format.ts";
import type { Rules } from "../types.ts";
import * as TEXT from "./text.ts";

/** By their number in the API. */
const QUALITIES = ["fast", "balanced", "best"];

/** One chip per rule that is set; "No rules" where none is. */
export function chipsOf(rules: Rules): readonly string[] {
  const chips = [
    rules.tierFloor === null ? null : TEXT.orHigher(rules.tierFloor),
    rules.tierCeiling === null ? null : TEXT.upTo(rules.tierCeiling),
    rules.maxCostUsd === null ? null : TEXT.maxCost(usd(rules.maxCostUsd)),
    rules.bfclMin === null ? null : TEXT.minScore(rules.bfclMin),
    rules.codeQuality === null ? null : TEXT.codeQuality(QUALITIES[rules.codeQuality]),
    rules.chatQuality === null ? null : TEXT.chatQuality(QUALITIES[rules.chatQuality]),
    ...rules.capabilities.map((capability) => TEXT.needsCapability(capability)),
    rules.allowedModels === null ? null : TEXT.modelsAllowed(plural(rules.allowedModels.length, "model")),
    rules.blockedModels.length === 0 ? null : TEXT.modelsBlocked(plural(rules.blockedModels.length, "model")),
    rules.honourModel ? TEXT.honoursModel : null,
    rules.hostOrder === null ? null : TEXT.hostsBy(rules.hostOrder),
  ].filter((chip) => chip !== null);
  return chips.length === 0 ? [TEXT.noRules] : chips;
}
