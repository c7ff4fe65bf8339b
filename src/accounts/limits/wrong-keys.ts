// Wrong keys and tokens by the address they come from: after so many in a minute the rest is refused without a look.
// Bounded: when there are too many addresses, the oldest is forgotten.

import { isIPv6 } from "node:net";

export interface WrongKeys {
  /** 0 while the address may still be wrong, else the seconds to wait. */
  waitSeconds(address: string): number;
  note(address: string): void;
}

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 20_000;

interface Count {
  count: number;
  readonly endsAtMs: number;
}

export function createWrongKeys(mostPerMinute: number, now: () => number = Date.now): WrongKeys {
  /** In the order of insertion, which is the order of ending. */
  const counts = new Map<string, Count>();
  const current = (name: string): Count | null => {
    const known = counts.get(name);
    if (known === undefined || known.endsAtMs > now()) return known ?? null;
    counts.delete(name);
    return null;
  };
  return {
    waitSeconds(address) {
      if (counts.size === 0) return 0;
      const known = current(networkOf(address));
      return known === null || known.count < mostPerMinute ? 0 : Math.ceil((known.endsAtMs - now()) / 1000);
    },
    note(address) {
      const name = networkOf(address);
      const known = current(name);
      if (known !== null) known.count += 1;
      else counts.set(name, { count: 1, endsAtMs: now() + WINDOW_MS });
      if (counts.size <= ADDRESSES_MAX) return;
      const [oldest] = counts.keys();
      if (oldest !== undefined) counts.delete(oldest);
    },
  };
}

/** Whoever has one IPv6 address has the 2^64 beside it. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [before = "", after] = address.split("::");
  const left = before.split(":");
  const groups = after === undefined ? left : [...left, ...Array<string>(4).fill("0")];
  return groups.slice(0, 4).join(":");
}
