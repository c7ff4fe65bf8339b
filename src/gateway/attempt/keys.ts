// The keys of a provider in the order in which a request tries them: the one that has its prompt cached, then those that
// its conversation leads to.

import type { Decision } from "../../core/decision.ts";
import type { ProviderKey } from "../../core/model.ts";
import { rankBySession } from "../../routing/session.ts";

const ONLY_KEY: readonly undefined[] = [undefined];

/** `keys`: undefined where the provider has a single one. `conversation`: a name for it where sessions are off. */
export function keyIdsOf(
  keys: readonly ProviderKey[] | undefined,
  { session }: Pick<Decision, "session">,
  conversation: () => string,
): readonly (string | undefined)[] {
  if (keys === undefined) return ONLY_KEY;
  const ids = rankBySession(
    keys,
    () => session?.id ?? conversation(),
    (key) => key,
  ).map(({ id }) => id);
  const warm = session?.keyId ?? null;
  return warm === null || !ids.includes(warm) ? ids : [warm, ...ids.filter((id) => id !== warm)];
}
