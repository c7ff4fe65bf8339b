// Failed authentication. After so many wrong keys or tokens from one address in a minute, further ones are refused without
// a lookup. Failed sign-ins use the same counts.

import { isIPv6 } from "node:net";

export interface WrongKeys {
  /** 0 while the address may send another wrong key, else the seconds to wait. */
  waitSeconds(address: string): number;
  note(address: string): void;
}

const WINDOW_MS = 60_000;

export function createWrongKeys(mostPerMinute: () => number, now: () => number = Date.now): WrongKeys {
  const failures = createFailureCounts(WINDOW_MS, now);
  return {
    waitSeconds(address) {
      if (failures.isEmpty()) return 0;
      const untilMs = failures.blockedUntilMs(networkOf(address), mostPerMinute());
      return untilMs === 0 ? 0 : Math.ceil((untilMs - now()) / 1000);
    },
    note: (address) => failures.add([networkOf(address)]),
  };
}

/** One client usually has all 2^64 IPv6 addresses of its network, so the network is what counts. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [before = "", after] = address.split("::");
  const left = before.split(":");
  const groups = after === undefined ? left : [...left, ...Array<string>(4).fill("0")];
  return groups.slice(0, 4).join(":");
}

/** Memory stays bounded: beyond this many names the oldest is forgotten. */
const NAMES_MAX = 30_000;

interface FailureCount {
  count: number;
  readonly endsAtMs: number;
}

/** Failures by name. A window opens with a name's first failure and ends after `windowMs`. */
export interface FailureCounts {
  isEmpty(): boolean;
  /** The time at which the name may fail again; 0 when it may now. */
  blockedUntilMs(name: string, most: number): number;
  add(names: readonly string[]): void;
  takeBack(names: readonly string[]): void;
}

export function createFailureCounts(windowMs: number, now: () => number): FailureCounts {
  /** In the order of insertion, which is the order of ending. */
  const counts = new Map<string, FailureCount>();
  const current = (name: string): FailureCount | null => {
    const known = counts.get(name);
    if (known === undefined || known.endsAtMs > now()) return known ?? null;
    counts.delete(name);
    return null;
  };
  return {
    isEmpty: () => counts.size === 0,
    blockedUntilMs(name, most) {
      const known = current(name);
      return known !== null && known.count >= most ? known.endsAtMs : 0;
    },
    add(names) {
      for (const name of names) {
        const known = current(name);
        if (known === null) counts.set(name, { count: 1, endsAtMs: now() + windowMs });
        else known.count += 1;
      }
      for (const name of counts.keys()) {
        if (counts.size <= NAMES_MAX) break;
        counts.delete(name);
      }
    },
    takeBack(names) {
      for (const name of names) {
        const known = current(name);
        if (known !== null) known.count -= 1;
      }
    },
  };
}
