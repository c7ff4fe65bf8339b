// The times that a gateway takes of its own work, read from two of its histograms on /metrics. Other servers have none.

import type { Server } from "./server.ts";
import { show } from "./table.ts";

const TO_PROVIDER = "switchyard_to_provider_seconds_bucket{";
const TO_CLIENT = "switchyard_to_client_seconds_bucket{";

/** The parts of a request that a client waits for, by the beginning of their series and a label in it. */
const PARTS = {
  "to provider": [TO_PROVIDER, ""],
  "to client": [TO_CLIENT, 'part="whole"'],
  first: [TO_CLIENT, 'part="first"'],
  last: [TO_CLIENT, 'part="last"'],
} as const;

export type OwnPart = keyof typeof PARTS;

/** A bucket's upper bound in seconds, and the requests up to it. */
type Buckets = readonly (readonly [bound: number, count: number])[];

/** Requests so far in each part's buckets; null for servers without them. */
export type OwnTimes = Readonly<Record<OwnPart, Buckets>> | null;

/** Reads a server by the address that the load is sent to. */
export async function readOwnTimes({ target }: Server): Promise<OwnTimes> {
  const text = await fetch(`http://127.0.0.1:${target.port}/metrics`).then(
    (response) => (response.ok ? response.text() : ""),
    () => "",
  );
  return ownTimesIn(text);
}

export function ownTimesIn(text: string): OwnTimes {
  if (!text.includes(TO_PROVIDER)) return null;
  const lines = text.split("\n");
  return {
    "to provider": bucketsOf(lines, "to provider"),
    "to client": bucketsOf(lines, "to client"),
    first: bucketsOf(lines, "first"),
    last: bucketsOf(lines, "last"),
  };
}

function bucketsOf(lines: readonly string[], part: OwnPart): Buckets {
  const [beginning, label] = PARTS[part];
  return lines
    .filter((line) => line.startsWith(beginning) && line.includes(label))
    .map((line) => {
      const bound = /le="([^"]+)"/.exec(line)?.[1] ?? "+Inf";
      return [bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound), Number(line.split(" ").at(-1))] as const;
    })
    .sort(([one], [other]) => one - other);
}

/** The median and the 99th percentile between two readings in microseconds, within a bucket by proportion. */
export function showOwn(before: OwnTimes, after: OwnTimes, part: OwnPart): string {
  if (after === null) return "";
  const earlier = new Map(before?.[part] ?? []);
  const counted = after[part].map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)] as const);
  return [0.5, 0.99].map((share) => show(quantileUs(counted, share))).join(" / ");
}

const US = 1e6;

function quantileUs(buckets: Buckets, share: number): number {
  const wanted = (buckets.at(-1)?.[1] ?? 0) * share;
  let below = 0;
  let from = 0;
  for (const [bound, count] of buckets) {
    // Nothing is known beyond the last bound.
    if (bound === Number.POSITIVE_INFINITY) return from * US;
    if (count >= wanted && count > below) return (from + ((wanted - below) / (count - below)) * (bound - from)) * US;
    below = count;
    from = bound;
  }
  return Number.NaN;
}
