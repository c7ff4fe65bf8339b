// Requests with health, rights or savings at stake: an emergency, a lawsuit, a lost home. They are few words long and need
// a good model all the same, so a rule speaks for them.

import type { Category } from "../../core/decision.ts";
import type { Cue } from "./lexicon.ts";
import type { Signals } from "./signals.ts";

/** With one of these, a text or a program is asked for, whatever it is about. */
const OTHER_WORK: readonly Cue[] = ["translation", "summary", "extraction", "creative", "writing", "code"];

/** Tells whether something of the asker's own is at stake. */
export function isAtStake({ cues, codeMarks, hasFence }: Signals): boolean {
  if (cues.stakes === 0 || cues.own === 0) return false;
  return codeMarks <= 1 && !hasFence && OTHER_WORK.every((cue) => cues[cue] === 0);
}

/** A question, or else something to think through. */
export function categoryAtStake(category: Category): Category {
  return category === "simple_qa" || category === "general" ? category : "reasoning";
}
