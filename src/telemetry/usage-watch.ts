// Usage counts that a provider left out or that cannot be right: each is counted, and logged now and then, so that a
// provider that never counts does not fill the log.

import type { UsageProblem } from "../core/chat.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "./metrics.ts";

interface UsageWatchContext {
  readonly metrics: Pick<Metrics, "usageProblem">;
  readonly log: Log;
  readonly now: () => number;
}

/** One line for a provider, model and reason in this time. */
const LOGGED_EVERY_MS = 60_000;

/** The problem logged last, and the number of problems since then that were not logged. */
interface Logged {
  atMs: number;
  unlogged: number;
}

export function createUsageWatch({ metrics, log, now }: UsageWatchContext): (problem: UsageProblem) => void {
  const logged = new Map<string, Logged>();
  return (problem) => {
    const { provider, model, reason } = problem;
    metrics.usageProblem({ provider, model, reason });
    const subject = `${provider} ${model} ${reason}`;
    const last = logged.get(subject);
    if (last !== undefined && now() - last.atMs < LOGGED_EVERY_MS) {
      last.unlogged += 1;
      return;
    }
    logged.set(subject, { atMs: now(), unlogged: 0 });
    const { requestId, counted, bounds } = problem;
    log.warn(
      {
        event: "usage.implausible",
        requestId,
        provider,
        model,
        reason,
        counted,
        bounds,
        unlogged: last?.unlogged ?? 0,
      },
      "provider's token counts are missing or implausible",
    );
  };
}
