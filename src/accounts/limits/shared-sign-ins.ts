// Failed sign-ins over many processes: counted in the shared windows as well as here, and whoever is over either waits.
// Without the shared store, what this process has counted is all there is to go by.

import { createHash } from "node:crypto";
import { secondsUntil, type Taken } from "../../core/call-window.ts";
import type { SharedCounter } from "./shared-counter.ts";
import { ATTEMPT_WINDOW_MS, type AttemptLimit, type Attempts, createAttempts, refusedFor } from "./sign-ins.ts";

const SPAN_SECONDS = ATTEMPT_WINDOW_MS / 1000;

export function createSharedAttempts(counter: SharedCounter, now: () => number): Attempts {
  const local = createAttempts(now);
  const take = ({ name, most }: AttemptLimit, count: number, unused: Taken | null): Promise<Taken | null> =>
    counter.take(idOf(name), () => ({
      limit: most,
      spanSeconds: SPAN_SECONDS,
      count,
      unused: unused === null ? null : { second: unused.second, count: unused.granted },
    }));

  async function begin(limits: readonly AttemptLimit[]) {
    const here = local.begin(limits);
    if (here.waitSeconds > 0) return here;
    const taken = await Promise.all(limits.map((limit) => take(limit, 1, null)));
    const giveBack = (): void => {
      for (const [index, limit] of limits.entries()) void take(limit, 0, taken[index] ?? null);
    };
    const waits = limits.map(({ most }, index) => waitOf(taken[index] ?? null, most));
    const forgive = (): void => {
      here.forgive();
      giveBack();
    };
    if (Math.max(...waits) === 0) return { waitSeconds: 0, forgive };
    forgive();
    return refusedFor(Math.max(...waits));
  }
  return { begin };
}

function waitOf(taken: Taken | null, most: number): number {
  if (taken === null || taken.granted > 0) return 0;
  return Math.max(1, secondsUntil(taken, most - 1, SPAN_SECONDS));
}

/** The store need not know whose address it is. */
function idOf(name: string): string {
  return `sign-in ${createHash("sha256").update(name).digest("hex")}`;
}
