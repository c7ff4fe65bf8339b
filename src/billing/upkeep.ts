// What is looked after in the background: the audit of the ledger, and answers kept for repeated requests.

import type { LedgerVerdict } from "../core/audit.ts";
import type { IdempotencyStore } from "../core/idempotency.ts";
import type { Log } from "../core/ports.ts";

const AUDIT_MS = 60 * 60 * 1000;
const SWEEP_MS = 10 * 60 * 1000;
const ANSWERS_KEPT_MS = 24 * 60 * 60 * 1000;

export interface UpkeepOptions {
  readonly verify: () => Promise<LedgerVerdict>;
  readonly idempotency: IdempotencyStore;
  readonly ownerSilentMs: number;
  /** Told after each audit how many rows do not fit. */
  readonly onAudit: (problems: number) => void;
  readonly log: Log;
}

export interface Upkeep {
  start(): Promise<void>;
  stop(): void;
}

export function createUpkeep({ verify, idempotency, ownerSilentMs, onAudit, log }: UpkeepOptions): Upkeep {
  const timers: NodeJS.Timeout[] = [];

  async function audit(): Promise<void> {
    const { ok, problems } = await verify();
    onAudit(problems.length);
    if (!ok) log.error({ problems }, "the ledger does not fit");
  }
  const sweep = (): Promise<void> => idempotency.sweep(ANSWERS_KEPT_MS, ownerSilentMs);
  const every = (ms: number, work: () => Promise<void>): NodeJS.Timeout =>
    setInterval(() => void work().catch((error) => log.warn({ err: error }, "upkeep failed")), ms).unref();

  return {
    async start() {
      await sweep();
      timers.push(every(AUDIT_MS, audit), every(SWEEP_MS, sweep));
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
