// The ledger as a service. Operations that wait are committed together (one fsync for many requests). What could not be
// settled because the store was away goes to the outbox and is retried until it is done. It is never a refund.

import type {
  HoldOp,
  HoldOutcome,
  LedgerOp,
  LedgerOutcome,
  LedgerStore,
  MoveOp,
  MoveOutcome,
  SettleOp,
  SettleOutcome,
  Wallet,
} from "../core/ledger.ts";
import type { Log } from "../core/log.ts";
import { StoreUnavailable } from "../core/store-errors.ts";
import { createBatcher } from "./batcher.ts";
import type { Outbox } from "./outbox.ts";
import { post } from "./post.ts";
import { createRecovery } from "./recovery.ts";

export interface Ledger {
  /** Rejects with StoreUnavailable when the store is away; then nothing stays on hold. */
  hold(op: Omit<HoldOp, "kind">): Promise<HoldOutcome>;
  /** Never rejects: what cannot be booked now is `deferred`, and done later. */
  settle(op: Omit<SettleOp, "kind">): Promise<SettleOutcome | { readonly state: "deferred" }>;
  /** Releases a hold. Never rejects; it is retried until it is done. */
  release(hold: { readonly holdId: string; readonly accountId: string }): Promise<void>;
  move(op: Omit<MoveOp, "kind">): Promise<MoveOutcome>;
  balance(accountId: string): Promise<Wallet>;
  /** Settles what the outbox kept and releases what dead processes left. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  readonly outbox: Outbox;
  readonly log: Log;
  /** How long a process may be silent before its holds are released. 0 when it cannot be alive. */
  readonly ownerSilentMs: number;
  /** Told of each settlement that has to wait. */
  readonly onDeferred?: () => void;
  /** Told when the store could not be written. */
  readonly onUnavailable?: () => void;
}

/** How often open settlements and releases are retried. */
const RETRY_MS = 1_000;
/** How often this process says that it is alive, and looks for the holds of others that are not. */
const BEAT_MS = 5_000;

export function createLedger(options: LedgerOptions): Ledger {
  const { store, outbox, log, ownerSilentMs, onDeferred, onUnavailable } = options;
  const batcher = createBatcher((ops) => store.commit(ops, post), onUnavailable);
  const submit = <T extends LedgerOutcome>(op: LedgerOp): Promise<T> => batcher.submit(op) as Promise<T>;
  const recovery = createRecovery({ store, outbox, log, ownerSilentMs, submit });
  const timers: NodeJS.Timeout[] = [];
  const failBeat = (error: unknown): never => {
    if (error instanceof StoreUnavailable) onUnavailable?.();
    throw error;
  };

  return {
    async hold(op) {
      try {
        return await submit<HoldOutcome>(toHoldOp(op));
      } catch (error) {
        // The commit may have gone through although its outcome was lost.
        if (error instanceof StoreUnavailable) recovery.releaseLater({ holdId: op.id, accountId: op.accountId });
        throw error;
      }
    },
    async settle(op) {
      const { holdId, accountId, charge, usage, periodStartMs, answer } = op;
      const settlement: SettleOp = { kind: "settle", holdId, accountId, charge, usage, periodStartMs, answer };
      try {
        return await submit<SettleOutcome>(settlement);
      } catch (error) {
        onDeferred?.();
        await outbox.add(settlement);
        log.error(
          { event: "settlement.deferred", holdId: op.holdId, err: error },
          "settlement could not be booked; it is kept and booked later",
        );
        return { state: "deferred" };
      }
    },
    release: (hold) => recovery.release(hold),
    move: (op) => submit<MoveOutcome>({ kind: "move", ...op }),
    balance: (accountId) => store.balance(accountId),
    async start() {
      await recovery.beat();
      await recovery.retry();
      await recovery.sweep();
      timers.push(
        repeat(BEAT_MS, () => recovery.beat().then(recovery.sweep, failBeat), log),
        repeat(RETRY_MS, recovery.retry, log),
      );
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await batcher.idle();
      await recovery
        .retry()
        .catch((error) => log.error({ event: "outbox.left_pending", err: error }, "outbox waits for the next start"));
      // Other processes would find out by themselves, a minute later.
      await store.leave().catch(() => undefined);
    },
  };
}

/** Field by field: copying with a spread costs a microsecond on every request. */
function toHoldOp(wanted: Omit<HoldOp, "kind">): HoldOp {
  const { id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs } = wanted;
  return { kind: "hold", id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs };
}

/** Runs again and again, never twice at once, and survives failures. */
function repeat(everyMs: number, work: () => Promise<void>, log: Log): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    work()
      .catch((error) => log.debug({ event: "ledger.retry_failed", err: error }, "ledger upkeep failed; retrying"))
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
}
