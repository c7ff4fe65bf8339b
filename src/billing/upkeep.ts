// Background upkeep: the audit of the ledger, and the removal of what budgets and repeated requests need no longer.

import type { LedgerVerdict } from "../core/audit/ledger.ts";
import type { Log } from "../core/log.ts";
import type { IdempotencyStore } from "../core/requests/idempotency.ts";

/** The audit reads every transaction, so it runs seldom. */
const AUDIT_MS = 60 * 60 * 1000;
const SWEEP_MS = 10 * 60 * 1000;
/** Time for which a repeated request gets the stored response. Behaviour 7.10. */
const ANSWERS_KEPT_MS = 24 * 60 * 60 * 1000;

export interface UpkeepOptions {
  readonly verify: () => Promise<LedgerVerdict>;
  readonly idempotency: IdempotencyStore;
  /** Returns the number of budgets that had to be freed. */
  readonly sweepBudgets: () => Promise<number>;
  readonly ownerSilentMs: number;
  /** Called after each audit with the number of wrong rows. */
  readonly onAudit: (problems: number) => void;
  readonly log: Log;
}

export interface Upkeep {
  /** Sweeps once before the first request, then at an interval. */
  start(): Promise<void>;
  stop(): void;
}

export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { verify, idempotency, ownerSilentMs, onAudit, log } = options;
  const timers: NodeJS.Timeout[] = [];

  async function audit(): Promise<void> {
    const { ok, problems } = await verify();
    onAudit(problems.length);
    if (!ok) log.error({ event: "ledger.audit_failed", problems }, "ledger audit found problems");
  }
  const sweep = (): Promise<void> => idempotency.sweep(ANSWERS_KEPT_MS, ownerSilentMs);
  const sweepAnswers = (): Promise<void> => idempotency.sweepAnswers(ANSWERS_KEPT_MS);
  const sweepBudgets = async (): Promise<void> => {
    const budgets = await options.sweepBudgets();
    if (budgets > 0) log.warn({ event: "budget.freed", budgets }, "freed budgets from holds that had ended");
  };
  const warn = (error: unknown): void =>
    log.warn({ event: "ledger.upkeep_failed", err: error }, "ledger upkeep failed");
  const every = (ms: number, work: () => Promise<void>): NodeJS.Timeout =>
    setInterval(() => void work().catch(warn), ms).unref();

  return {
    async start() {
      await sweep();
      // Charges do not need the answers, so a damaged file of them stops nothing.
      await sweepAnswers().catch(warn);
      timers.push(
        every(AUDIT_MS, audit),
        every(SWEEP_MS, sweep),
        every(SWEEP_MS, sweepAnswers),
        every(SWEEP_MS, sweepBudgets),
      );
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
