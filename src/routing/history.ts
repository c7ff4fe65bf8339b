// The history floor: a short follow-up ("yes, do it", "now in Rust") is as hard as the request it continues.
// A new, self-contained question inherits nothing, and neither does a mere reaction ("oh no", "thanks!").

import type { Weights } from "../catalog/weights.ts";
import type { ChatMessage } from "../core/chat.ts";
import type { Tier } from "../core/tiers.ts";
import { type Ask, askBefore } from "./ask.ts";
import type { Classification } from "./classifier/classification.ts";
import { classify } from "./classifier/classify.ts";
import { readSignals, type Signals } from "./classifier/signals.ts";
import { isReaction } from "./small-talk.ts";

const FOLLOW_UP_WORDS_MAX = 12;
const FRAGMENT_WORDS_MAX = 5;
/** How many earlier requests are looked at before giving up on finding the one that is continued. */
const LOOK_BACK_MAX = 8;

export interface HistoryInput {
  readonly messages: readonly ChatMessage[];
  readonly ask: Ask;
  /** What was measured of the ask. */
  readonly signals: Signals;
  readonly weights?: Weights | null;
}

/** The tier of the earlier request that `ask` continues; null where it stands on its own. */
export function findHistoryFloor({ messages, ask, signals, weights = null }: HistoryInput): Tier | null {
  if (ask.index <= 0 || !isFollowUp(withoutEmptyPointers(ask, signals))) return null;
  if (isReaction(ask.text, messages.slice(0, ask.index))) return null;
  let earlier = askBefore(messages, ask.index);
  for (let looked = 0; earlier !== null && looked < LOOK_BACK_MAX; looked++) {
    const earlierSignals = readSignals(earlier.text);
    const classification = classify({ text: earlier.text, signals: earlierSignals, weights });
    if (isSubstantial(earlierSignals, classification)) return classification.tier;
    earlier = askBefore(messages, earlier.index);
  }
  return null;
}

/** Words that look back but mean the hour, the weather or the calendar: "what time is it", "is it raining", "this week". */
const EMPTY_POINTERS = new RegExp(
  [
    "\\b(?:what|which) (?:time|day|date|month|year|season)(?: of the (?:week|month|year))? is it\\b",
    "\\b(?:is|will|does) it (?:be |get |going to )?(?:rain|snow|raining|snowing|sunny|cold|hot|warm|dark|windy|humid)\\b",
    "\\b(?:this|these) (?:week|weekend|month|year|morning|afternoon|evening|spring|summer|autumn|fall|winter|days)\\b",
    "\\bright now\\b",
    "(?:qué hora es|wie spät ist es|quelle heure est-il|che ore sono|que horas são) (?:ahora|jetzt|maintenant|adesso|agora)",
    "现在几点|现在的天气|今何時",
  ].join("|"),
  "g",
);

function withoutEmptyPointers({ text }: Ask, signals: Signals): Signals {
  if (signals.cues.backward === 0 || signals.words > FOLLOW_UP_WORDS_MAX) return signals;
  const lower = text.toLowerCase();
  const rest = lower.replace(EMPTY_POINTERS, "what");
  return rest === lower ? signals : readSignals(rest);
}

export function isFollowUp({ words, cues, questions }: Signals): boolean {
  if (words === 0 || words > FOLLOW_UP_WORDS_MAX) return false;
  const isFarewell = cues.thanks + cues.greeting > 0 && cues.backward === 0;
  if (isFarewell) return cues.proceed > 0;
  if (cues.proceed > 0 || cues.backward > 0) return true;
  const isQuestion = questions > 0 || cues.question > 0;
  return words <= FRAGMENT_WORDS_MAX && !isQuestion && cues.smalltalk === 0;
}

// What reads like a follow-up may still carry a task of its own: "write a parser and test it".
function isSubstantial(signals: Signals, { category }: Classification): boolean {
  if (category === "chitchat") return false;
  const isTask = category !== "general" && category !== "simple_qa";
  return !isFollowUp(signals) || (isTask && signals.words > FRAGMENT_WORDS_MAX);
}
