// What helps a host to cache the prompt of a request, where that pays: a cache write costs more than reading a prompt once,
// so something must be likely to come again. Behaviour 5.24.

import type { Decision } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import type { CacheHelp } from "../../formats/format.ts";
import type { Call } from "../call.ts";
import type { Services } from "../services.ts";
import { isContinued } from "../sessions/memory.ts";

export function cacheHelpFor(
  call: Pick<Call, "request">,
  { session, estimatedTokens }: Decision,
  model: HostedModel,
  { routing }: Pick<Services, "routing">,
): CacheHelp | null {
  const { cache } = model;
  if (cache === undefined || session === undefined || estimatedTokens.input < cache.tokensMin) return null;
  const key = cache.takesKey === true && routing.sendsCacheKeys ? session.id : null;
  const marks = cache.isExplicit === true && routing.marksCaches ? marksFor(call, session.isPrefixSeen) : null;
  return key === null && marks === null ? null : { key, marks, tokensMin: cache.tokensMin };
}

/** Conversations and agents go on; instructions that were seen of late come again. */
function marksFor({ request: { chat } }: Pick<Call, "request">, isPrefixSeen: boolean): CacheHelp["marks"] {
  if (chat.tools.length > 0 || isContinued(chat.messages)) return "conversation";
  return isPrefixSeen ? "instructions" : null;
}
