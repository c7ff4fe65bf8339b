// What the ledger still owes: settlements in the outbox, holds to be given back, and the holds of processes that died.
// Each is tried until it is done; one that cannot be booked does not keep back the others.

import type { LedgerOp, LedgerOutcome, LedgerStore, VoidOp } from "../core/ledger.ts";
import type { Log } from "../core/log.ts";
import type { Outbox } from "./outbox.ts";
import { isGone } from "./owner.ts";

/** Three weeks: nobody is silent for so long, so only what belongs to nobody is found. Fits the database's integers. */
const NEVER_MS = 2_000_000_000;

export interface Recovery {
  /** Gives a hold back with the next retry, for when the store is away now. */
  releaseLater(hold: HeldBy): void;
  /** Gives a hold back. Never rejects: what fails is tried again. */
  release(hold: HeldBy): Promise<void>;
  /** Tries everything that is owed. */
  retry(): Promise<void>;
  /** Says that this process is alive. */
  beat(): Promise<void>;
  /** Releases what dead processes hold, and forgets those that hold nothing. */
  sweep(): Promise<void>;
}

export interface HeldBy {
  readonly holdId: string;
  readonly accountId: string;
}

export interface RecoveryOptions {
  readonly store: Pick<LedgerStore, "beat" | "orphans" | "forgetSilent" | "forgetGone">;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly ownerSilentMs: number;
  readonly submit: (op: LedgerOp) => Promise<LedgerOutcome>;
}

export function createRecovery({ store, outbox, log, ownerSilentMs, submit }: RecoveryOptions): Recovery {
  const releases = new Map<string, VoidOp>();
  const reported = new Set<string>();
  let isSteadySinceMs: number | null = null;

  /** Returns those that are done. What fails is told once. */
  async function submitAll<T extends LedgerOp & { holdId: string }>(ops: readonly T[]): Promise<readonly T[]> {
    const results = await Promise.allSettled(ops.map(submit));
    return ops.filter(({ holdId }, index) => {
      const result = results[index] as PromiseSettledResult<LedgerOutcome>;
      if (result.status === "fulfilled") return true;
      if (!reported.has(holdId)) {
        reported.add(holdId);
        log.error({ event: "hold.resolve_failed", holdId, err: result.reason }, "hold could not be resolved; retrying");
      }
      return false;
    });
  }

  async function finishReleases(ops: readonly VoidOp[]): Promise<void> {
    for (const { holdId } of await submitAll(ops)) {
      releases.delete(holdId);
      reported.delete(holdId);
    }
  }

  async function releaseOrphans(silentMs: number): Promise<void> {
    for (;;) {
      const orphans = await store.orphans(silentMs);
      const expiries = orphans.map(
        ({ id, accountId }) => ({ kind: "void", holdId: id, accountId, isExpiry: true }) as const,
      );
      const released = await submitAll(expiries);
      if (released.length === 0) break;
      log.warn({ event: "hold.abandoned_released", holds: released.length }, "released holds of a dead process");
    }
  }

  function note({ holdId, accountId }: HeldBy): VoidOp {
    const op: VoidOp = { kind: "void", holdId, accountId, isExpiry: false };
    releases.set(holdId, op);
    return op;
  }

  return {
    releaseLater: note,
    async release(hold) {
      // A settlement that waits is a charge, whatever went wrong after it.
      if (!outbox.has(hold.holdId)) await finishReleases([note(hold)]);
    },
    async retry() {
      const settled = await submitAll(await outbox.waiting());
      for (const { holdId } of settled) {
        reported.delete(holdId);
        log.info({ event: "settlement.completed", holdId }, "deferred settlement completed");
      }
      await outbox.done(settled.map(({ holdId }) => holdId));
      await finishReleases([...releases.values()]);
    },
    async beat() {
      try {
        await store.beat();
        isSteadySinceMs ??= performance.now();
      } catch (error) {
        isSteadySinceMs = null;
        throw error;
      }
    },
    async sweep() {
      await store.forgetGone(isGone);
      // After an outage of the database everyone has been silent; only who is still silent a while later is dead.
      const isSteady = isSteadySinceMs !== null && performance.now() - isSteadySinceMs >= ownerSilentMs;
      await releaseOrphans(isSteady ? ownerSilentMs : NEVER_MS);
      if (isSteady) await store.forgetSilent(ownerSilentMs);
    },
  };
}
