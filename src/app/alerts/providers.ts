// Events of providers, from the health that this process knows.

import type { EventSource } from "../../alerting/watch.ts";
import type { Observation } from "../../core/alerts/kinds.ts";
import type { SignInState } from "../../core/model.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState } from "../../providers/breaker.ts";

/** Providers that have left the catalogue may still be known. */
export function providerSource(current: () => Pick<Services, "catalog" | "health" | "registry">): EventSource {
  return {
    look(nowMs) {
      const { catalog, health, registry } = current();
      const signIns = [...catalog.providers.keys()].flatMap((id) => signInOf(id, registry.find(id)?.signIn(), nowMs));
      const others = health.overview().flatMap(({ id, provider, credential, keys }): readonly Observation[] => {
        if (!catalog.providers.has(id)) return [];
        const refused = keys.length === 0 ? [{ ...credential, id: "" }] : keys;
        return [
          ...(isTroubled(provider) ? [downOf(id, provider)] : []),
          ...refused.filter(isTroubled).map((key) => refusedOf(id, key)),
        ];
      });
      return [...signIns, ...others];
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

function signInOf(provider: string, state: SignInState | null | undefined, nowMs: number): readonly Observation[] {
  const { problem = null, expiresAtMs = null } = state ?? {};
  if (problem === null) return [];
  const data = { provider, standing: standingOf(expiresAtMs, nowMs), error: problem };
  return [{ kind: "provider.sign_in", accountId: null, subject: provider, data }];
}

function standingOf(expiresAtMs: number | null, nowMs: number): string {
  if (expiresAtMs === null) return "It has no credentials.";
  const end = `${new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return expiresAtMs <= nowMs ? `Its credentials ended at ${end}.` : `Its credentials last until ${end}.`;
}

const UNKNOWN = "no details";
