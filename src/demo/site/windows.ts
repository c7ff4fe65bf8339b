// Counts of what an address does, in windows of fixed length. Made for strangers: addresses that come and go cost no memory.

import { isIPv6 } from "node:net";

export interface AddressWindows {
  /** Counts one, and returns the seconds to wait; 0 where it is within the limit. */
  take(address: string): number;
}

interface WindowTerms {
  readonly max: number;
  readonly windowMs: number;
  readonly now: () => number;
}

/** Beyond this, all addresses of a window share the last place. */
const ADDRESSES_MAX = 20_000;
const OTHERS = "";

export function createCallWindows({ max, windowMs, now }: WindowTerms): AddressWindows {
  let counts = new Map<string, number>();
  let endsAtMs = 0;
  return {
    take(address) {
      const atMs = now();
      if (atMs >= endsAtMs) {
        counts = new Map();
        endsAtMs = atMs + windowMs;
      }
      const network = networkOf(address);
      const key = counts.has(network) || counts.size < ADDRESSES_MAX ? network : OTHERS;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count <= max ? 0 : Math.max(1, Math.ceil((endsAtMs - atMs) / 1000));
    },
  };
}

const GROUPS = 8;
/** One customer of a provider has all addresses of these groups. */
const NETWORK_GROUPS = 4;

/** An IPv4 address, or the network of an IPv6 address. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail = ""] = address.split("::");
  const [first, last] = [head, tail].map((part) => part.split(":").filter((group) => group !== "")) as [
    string[],
    string[],
  ];
  const gap = address.includes("::") ? Array<string>(GROUPS - first.length - last.length).fill("0") : [];
  const groups = [...first, ...gap, ...last].slice(0, NETWORK_GROUPS);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
