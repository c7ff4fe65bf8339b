// Events of providers, from the health that this process knows.

import type { EventSource } from "../../alerting/watch.ts";
import type { Observation } from "../../core/alerts/kinds.ts";
import { KEY_ENDS_SOON_MS, type SignInState } from "../../core/model.ts";
import type { Services } from "../../gateway/services.ts";
import type { KeyEnd } from "../../providers/auth/key-ends.ts";
import type { HealthState } from "../../providers/breaker.ts";

/** Providers that have left the catalogue may still be known. */
export function providerSource(current: () => Pick<Services, "catalog" | "health" | "registry">): EventSource {
  return {
    look(nowMs) {
      const { catalog, health, registry } = current();
      const signIns = [...catalog.providers.keys()].flatMap((id) => {
        const connection = registry.find(id);
        return [...signInOf(id, connection?.signIn(), nowMs), ...endingsOf(id, connection?.keyEnds() ?? [], nowMs)];
      });
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

/** The end is part of the subject, so that the next key has an event of its own. */
function endingsOf(provider: string, ends: readonly KeyEnd[], nowMs: number): readonly Observation[] {
  return ends
    .filter(({ endsAtMs }) => endsAtMs - nowMs <= KEY_ENDS_SOON_MS)
    .map(({ id, endsAtMs }) => ({
      kind: "provider.key_ending",
      accountId: null,
      subject: `${provider} ${id} ${endsAtMs}`,
      data: {
        ...{ provider, key: id === "" ? "its key" : `key ${id}`, ends: endsAtMs <= nowMs ? "ended" : "ends" },
        endsAt: utcMinute(endsAtMs),
      },
    }));
}

function utcMinute(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function standingOf(expiresAtMs: number | null, nowMs: number): string {
  if (expiresAtMs === null) return "It has no credentials.";
  const end = utcMinute(expiresAtMs);
  return expiresAtMs <= nowMs ? `Its credentials ended at ${end}.` : `Its credentials last until ${end}.`;
}

const UNKNOWN = "no details";
