// Recovery of the ledger: books settlements of the outbox, and releases holds that were given up or whose process died.
// Each is retried until it succeeds, and a failing one does not delay the others.

import type { LedgerOp, LedgerOutcome, LedgerStore, VoidOp } from "../core/ledger.ts";
import type { Log } from "../core/log.ts";
import type { Outbox } from "./outbox.ts";
import { isGone } from "./owner.ts";

/** Three weeks: longer than a live process is silent, so only holds without an owner are found. Fits into 32 bits. */
const NEVER_MS = 2_000_000_000;

export interface Recovery {
  /** Releases a hold with the next retry, if its outcome is unknown because the store is away. */
  releaseLater(hold: HeldBy & { readonly keyId: string }): void;
  /** Releases a hold. Never rejects: a failed release is retried. */
  release(hold: HeldBy): Promise<void>;
  /** Retries all open settlements and releases. */
  retry(): Promise<void>;
  /** Reports that this process is alive. */
  beat(): Promise<void>;
  /** Releases holds and leases of dead processes, and deletes the rows of processes that have none. */
  sweep(): Promise<void>;
}

/** A hold and the account it was taken for. */
interface HeldBy {
  readonly holdId: string;
  readonly accountId: string;
}

export interface RecoveryOptions {
  readonly store: Pick<LedgerStore, "beat" | "orphans" | "orphanLeases" | "forgetSilent" | "forgetGone">;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Time without a beat after which the holds of a process are released. */
  readonly ownerSilentMs: number;
  readonly submit: (op: LedgerOp) => Promise<LedgerOutcome>;
}

export function createRecovery({ store, outbox, log, ownerSilentMs, submit }: RecoveryOptions): Recovery {
  const releases = new Map<string, VoidOp>();
  const submitAll = createSubmitAll(submit, log);
  const releaseOrphans = createOrphanRelease({ store, log, submit, submitAll });
  let isSteadySinceMs: number | null = null;

  async function finishReleases(ops: readonly VoidOp[]): Promise<void> {
    for (const { holdId } of await submitAll(ops)) releases.delete(holdId);
  }

  function note({ holdId, accountId }: HeldBy): VoidOp {
    const op: VoidOp = { kind: "void", holdId, accountId, isExpiry: false };
    releases.set(holdId, op);
    return op;
  }

  return {
    releaseLater: ({ keyId, ...hold }) => releases.set(hold.holdId, { ...note(hold), keyId }),
    async release(hold) {
      await finishReleases([note(hold)]);
    },
    async retry() {
      const settled = await submitAll(await outbox.waiting());
      for (const { holdId } of settled) {
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
      // After a database outage every process was silent. Only those that stay silent are dead.
      const isSteady = isSteadySinceMs !== null && performance.now() - isSteadySinceMs >= ownerSilentMs;
      const silentMs = isSteady ? ownerSilentMs : NEVER_MS;
      await releaseOrphans(silentMs);
      if (isSteady) await store.forgetSilent(ownerSilentMs);
    },
  };
}

interface OrphanContext extends Pick<RecoveryOptions, "store" | "log" | "submit"> {
  readonly submitAll: ReturnType<typeof createSubmitAll>;
}

/** Ends the holds and leases of processes without a beat for `silentMs`. */
function createOrphanRelease({ store, log, submit, submitAll }: OrphanContext): (silentMs: number) => Promise<void> {
  async function releaseHolds(silentMs: number): Promise<void> {
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

  async function returnLeases(silentMs: number): Promise<void> {
    for (let before = ""; ; ) {
      const orphans = await store.orphanLeases(silentMs);
      // Leases that a round left are no work for the next one.
      const names = orphans.map(({ owner, accountId }) => `${owner} ${accountId}`).join();
      if (names === before) break;
      before = names;
      const ends = orphans.map(
        ({ owner, accountId }) => ({ kind: "return", owner, accountId, holds: [], isExpiry: true }) as const,
      );
      const results = await Promise.allSettled(ends.map(submit));
      const leases = results.filter(({ status }) => status === "fulfilled").length;
      if (leases === 0) break;
      log.warn({ event: "lease.abandoned_returned", leases }, "returned leases of a dead process");
    }
  }

  return async (silentMs) => {
    await releaseHolds(silentMs);
    await returnLeases(silentMs);
  };
}

/** An operation that ends a hold: a settlement or a release. */
type HoldEnd = LedgerOp & { readonly holdId: string };

/** Submits many operations and returns those that succeeded. Logs a failing hold once, not with every retry. */
function createSubmitAll(submit: RecoveryOptions["submit"], log: Log) {
  const reported = new Set<string>();

  function isDone(holdId: string, result: PromiseSettledResult<LedgerOutcome>): boolean {
    if (result.status === "fulfilled") {
      reported.delete(holdId);
      return true;
    }
    if (!reported.has(holdId)) {
      reported.add(holdId);
      log.error({ event: "hold.resolve_failed", holdId, err: result.reason }, "hold could not be resolved; retrying");
    }
    return false;
  }

  return async <T extends HoldEnd>(ops: readonly T[]): Promise<readonly T[]> => {
    const results = await Promise.allSettled(ops.map(submit));
    return ops.filter(({ holdId }, index) => isDone(holdId, results[index] as PromiseSettledResult<LedgerOutcome>));
  };
}
