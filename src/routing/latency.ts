// The limit for the time to the first token: which hosts are slower, as observed, and how a decision says so.
// Behaviour 5.26.

import type { RoutingQuestion } from "../core/decision.ts";
import type { HostedModel } from "../core/model.ts";
import * as TEXT from "./text.ts";

export interface LatencyLimit {
  readonly name: string;
  isMetBy(host: HostedModel): boolean;
  /** Explains why a host is left out. */
  unmet(host: HostedModel): string;
}

/** The lower limit of request and profile; null where neither has one. */
export function latencyLimit({ controls, constraints, hostSpeeds }: RoutingQuestion): LatencyLimit | null {
  const maxMs = Math.min(controls.maxLatencyMs ?? NO_LIMIT, constraints.maxLatencyMs ?? NO_LIMIT);
  if (maxMs === NO_LIMIT) return null;
  // A host that nobody has seen answer of late is not slow, so that it is tried and observed. Streams tell exactly; the
  // head of a whole answer stands in for them where a host had none.
  const observedMs = ({ hostKey }: HostedModel): number => {
    const { firstMs = 0, headMs = 0 } = hostSpeeds?.get(hostKey) ?? {};
    return firstMs || headMs;
  };
  return {
    name: TEXT.maxLatency(maxMs),
    isMetBy: (host) => observedMs(host) <= maxMs,
    unmet: (host) => TEXT.tooSlow(Math.round(observedMs(host)), host.host, maxMs),
  };
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Names the hosts that are left out of a model that keeps others. */
export function leftOutNotes(id: string, hosts: readonly HostedModel[], limit: LatencyLimit | null): readonly string[] {
  const slow = limit === null ? [] : hosts.filter((host) => !limit.isMetBy(host));
  if (limit === null || slow.length === 0 || slow.length === hosts.length) return [];
  return [TEXT.hostsLeftOut(id, slow.map(limit.unmet))];
}

/** The hosts of a model that was asked for by name, without the slow ones if others remain. */
export function withinLimit(
  id: string,
  hosts: readonly HostedModel[],
  limit: LatencyLimit | null,
): { readonly hosts: readonly HostedModel[]; readonly notes: readonly string[] } {
  if (limit === null) return { hosts, notes: [] };
  const kept = hosts.filter(limit.isMetBy);
  if (kept.length === 0) return { hosts, notes: [TEXT.latencyIgnored(limit.name, id)] };
  return { hosts: kept, notes: leftOutNotes(id, hosts, limit) };
}
