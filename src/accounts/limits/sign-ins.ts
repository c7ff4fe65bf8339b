// Limits on failed sign-ins. An attempt is counted before the password is checked, so that attempts made at the same time
// count too; a success takes its own count back. With several processes they also count in the shared windows.

import { createHash } from "node:crypto";
import { msUntil, type Taken } from "../../core/processes/call-window.ts";
import type { SharedCounter } from "./shared-counter.ts";
import { createFailureCounts } from "./wrong-keys.ts";

export interface SignInLimiter {
  /** Counts the attempt under every name, if it may be made. */
  begin(limits: readonly SignInLimit[]): Promise<SignInAttempt>;
}

export interface SignInAttempt {
  /** 0 when the attempt may be made. */
  readonly waitSeconds: number;
  /** Takes the count back after a success. */
  succeeded(): void;
}

export interface SignInLimit {
  /** The thing that the attempts have in common, such as an account or a network address. */
  readonly name: string;
  readonly most: number;
}

export const SIGN_IN_WINDOW_MS = 5 * 60_000;
const WINDOW_SECONDS = SIGN_IN_WINDOW_MS / 1000;

/** Counts in this process alone. */
export function createSignInLimiter(now: () => number): SignInLimiter {
  const failures = createFailureCounts(SIGN_IN_WINDOW_MS, now);
  return {
    async begin(limits) {
      const untilMs = Math.max(...limits.map(({ name, most }) => failures.blockedUntilMs(name, most)));
      const waitMs = untilMs - now();
      if (waitMs > 0) return refusedFor(Math.ceil(waitMs / 1000));
      const names = limits.map(({ name }) => name);
      failures.add(names);
      return { waitSeconds: 0, succeeded: () => failures.takeBack(names) };
    },
  };
}

/** Counts in the shared windows as well as here. Without the shared store, only the local counts remain. */
export function createSharedSignInLimiter(counter: SharedCounter, now: () => number): SignInLimiter {
  const local = createSignInLimiter(now);
  const take = ({ name, most }: SignInLimit, count: number, unused: Taken | null): Promise<Taken | null> =>
    counter.take(windowIdOf(name), () => ({
      limit: most,
      spanSeconds: WINDOW_SECONDS,
      count,
      unused: unused === null ? null : { second: unused.second, count: unused.granted },
    }));

  async function begin(limits: readonly SignInLimit[]): Promise<SignInAttempt> {
    const here = await local.begin(limits);
    if (here.waitSeconds > 0) return here;
    const taken = await Promise.all(limits.map((limit) => take(limit, 1, null)));
    const giveBack = (): void => {
      here.succeeded();
      for (const [index, limit] of limits.entries()) void take(limit, 0, taken[index] ?? null);
    };
    const waitSeconds = Math.max(...limits.map(({ most }, index) => waitSecondsOf(taken[index] ?? null, most)));
    if (waitSeconds === 0) return { waitSeconds: 0, succeeded: giveBack };
    giveBack();
    return refusedFor(waitSeconds);
  }
  return { begin };
}

/** Nothing was counted that a success could take back. */
function refusedFor(waitSeconds: number): SignInAttempt {
  return { waitSeconds, succeeded: () => undefined };
}

/** A store that did not respond (null) refuses nobody. */
function waitSecondsOf(taken: Taken | null, most: number): number {
  if (taken === null || taken.granted > 0) return 0;
  return Math.max(1, Math.ceil(msUntil(taken, most - 1, WINDOW_SECONDS) / 1000));
}

/** Hashed: the shared store need not know whose address it is. */
function windowIdOf(name: string): string {
  return `sign-in ${createHash("sha256").update(name).digest("hex")}`;
}
