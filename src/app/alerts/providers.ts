// Events of providers, from the health that this process knows.

import type { EventSource } from "../../alerting/watch.ts";
import type { Observation } from "../../core/alerts/kinds.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState } from "../../providers/breaker.ts";

/** Providers that have left the catalogue may still be known. */
export function providerSource(current: () => Pick<Services, "catalog" | "health">): EventSource {
  return {
    look() {
      const { catalog, health } = current();
      return health.overview().flatMap(({ id, provider, credential, keys }): readonly Observation[] => {
        if (!catalog.providers.has(id)) return [];
        const refused = keys.length === 0 ? [{ ...credential, id: "" }] : keys;
        return [
          ...(isTroubled(provider) ? [downOf(id, provider)] : []),
          ...refused.filter(isTroubled).map((key) => refusedOf(id, key)),
        ];
      });
    },
  };
}

/** A breaker that lets one call through to try is no better yet. */
function isTroubled({ state }: HealthState): boolean {
  return state !== "closed";
}

function downOf(provider: string, { lastError }: HealthState): Observation {
  const data = { provider, error: lastError ?? UNKNOWN };
  return { kind: "provider.down", accountId: null, subject: provider, data };
}

function refusedOf(provider: string, { id, lastError }: HealthState & { readonly id: string }): Observation {
  const subject = id === "" ? provider : `${provider} ${id}`;
  const data = { provider, key: id, error: lastError ?? UNKNOWN };
  return { kind: "provider.key_refused", accountId: null, subject, data };
}

const UNKNOWN = "no details";
