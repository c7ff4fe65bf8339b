// The ledger as a service. Operations that wait are committed together (one fsync for many requests). Holds come from a
// lease where there is one, and from the store otherwise. What could not be settled because the store was away goes to
// the outbox and is retried until it is done. It is never a refund.

import { setTimeout as delay } from "node:timers/promises";
import type {
  HoldOp,
  HoldOutcome,
  LedgerOp,
  LedgerOutcome,
  LedgerStore,
  MoveOp,
  MoveOutcome,
  ReservedHold,
  SettleOp,
  SettleOutcome,
  Wallet,
} from "../core/ledger.ts";
import type { Log } from "../core/log.ts";
import type { NanoUsd } from "../core/money.ts";
import { StoreUnavailable } from "../core/store-errors.ts";
import { type Batcher, type BatcherOptions, createBatcher } from "./batcher.ts";
import { Leases } from "./leases.ts";
import type { Outbox } from "./outbox.ts";
import { post } from "./post.ts";
import { createRecovery, type Recovery } from "./recovery.ts";

export interface Ledger {
  /** Takes a hold. Rejects with StoreUnavailable when the store is away; then nothing stays on hold. */
  hold(op: Omit<HoldOp, "kind">): Promise<HoldOutcome>;
  /** Never rejects: what cannot be booked now is `deferred`, and done later. */
  settle(op: Omit<SettleOp, "kind">): Promise<SettleOutcome | { readonly state: "deferred" }>;
  /** Releases a hold. Never rejects; it is retried until it is done. */
  release(hold: { readonly holdId: string; readonly accountId: string }): Promise<void>;
  move(op: Omit<MoveOp, "kind">): Promise<MoveOutcome>;
  balance(accountId: string): Promise<Wallet>;
  /** Credit that can be reserved for the account without asking the store. */
  leased(accountId: string): NanoUsd;
  /** Settles what the outbox kept and releases what dead processes left. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** The name of this process, as the store has it. */
  readonly owner: string;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Silence after which the holds of another process are released. 0 if no other process can be alive. */
  readonly ownerSilentMs: number;
  /** Hears of each settlement that has to wait. */
  readonly onDeferred?: () => void;
  /** Hears of each failed write of the store. */
  readonly onUnavailable?: () => void;
  /** True while the store is known to take no writes: then nothing is reserved from leases. */
  readonly isStoreFailing?: () => boolean;
  /** Commits operations in another process. */
  readonly batcher?: Batcher;
}

/** Interval at which open settlements and releases are retried. */
const RETRY_MS = 1_000;
/** Interval at which this process reports that it is alive, and looks for holds of dead processes. */
const BEAT_MS = 5_000;
/** Interval at which idle leases are looked for. */
const TIDY_MS = 250;
/** Time that a request without credit waits for leases: other processes learn of a recall within a second. */
const RECALL_MS = 5_000;
/** Interval at which such a request looks for returned leases. */
const RECALL_STEP_MS = 50;

export function createLedger(options: LedgerOptions): Ledger {
  const { store, owner, outbox, log, ownerSilentMs, onUnavailable, isStoreFailing = () => false } = options;
  const batcher = options.batcher ?? createBatcher(batchesOf(store, onUnavailable));
  const clock = createSleepClock();
  // Others end the leases of a process that was silent for long; half of that allows for clocks and delays.
  const trustMs = ownerSilentMs === 0 ? Number.POSITIVE_INFINITY : ownerSilentMs / 2;
  const leases = new Leases({ owner, submit, epochs: store.epochs, isStoreFailing, trustMs, clock });
  const recovery = createRecovery({ store, outbox, log, ownerSilentMs, submit });
  const fail = (error: unknown): never => {
    if (error instanceof StoreUnavailable) leases.doubt();
    throw error;
  };
  function submit<T extends LedgerOutcome>(op: LedgerOp): Promise<T> {
    return batcher.submit(op).then((outcome) => {
      leases.committed(op, outcome);
      return outcome as T;
    }, fail);
  }
  const recalling = createRecall(submit, leases);

  async function beat(): Promise<void> {
    const sentAtMs = clock();
    await recovery.beat().catch((error: unknown) => {
      if (error instanceof StoreUnavailable) onUnavailable?.();
      return fail(error);
    });
    leases.alive(sentAtMs);
  }

  return {
    async hold(op) {
      const amount = leases.take(op);
      if (amount !== null) return { state: "held", amount };
      return recalling<HoldOutcome>(toHoldOp(op)).catch((error: unknown) => {
        // The commit may have gone through although its outcome was lost. In an outage most were never sent.
        const { id: holdId, accountId, keyId } = op;
        if (error instanceof StoreUnavailable && !error.isUnsent) recovery.releaseLater({ holdId, accountId, keyId });
        throw error;
      });
    },
    settle(op) {
      const reserved = leases.reserved(op.holdId);
      return submit<SettleOutcome>(toSettleOp(op, reserved)).catch(async (error: unknown) => {
        await defer(toSettleOp(op, reserved && { ...reserved, isFresh: false }), error, options);
        return { state: "deferred" };
      });
    },
    async release(hold) {
      // A settlement in the outbox is a charge, whatever went wrong after it.
      if (outbox.has(hold.holdId) || leases.release(hold.holdId)) return;
      await recovery.release(hold);
    },
    move: (op) => recalling<MoveOutcome>({ kind: "move", ...op, mayRecall: true }),
    balance: async (accountId) => withHeld(await store.balance(accountId), leases.heldFor(accountId)),
    leased: (accountId) => leases.freeFor(accountId),
    ...createLife({ ...options, batcher, leases, recovery, beat }),
  };
}

/** Commits batches of operations to this store. */
export function batchesOf(store: LedgerStore, onUnavailable?: () => void): BatcherOptions {
  return { commit: (ops) => store.commit(ops, post), atOnceMax: store.commitsMax, onUnavailable };
}

interface LifeOptions extends Pick<LedgerOptions, "store" | "log"> {
  readonly batcher: Batcher;
  readonly leases: Leases;
  readonly recovery: Recovery;
  readonly beat: () => Promise<void>;
}

/** Start and stop, and what is repeated in between. */
function createLife({ store, log, batcher, leases, recovery, beat }: LifeOptions): Pick<Ledger, "start" | "stop"> {
  const timers: NodeJS.Timeout[] = [];
  return {
    async start() {
      await beat();
      await recovery.retry();
      await recovery.sweep();
      timers.push(
        repeat(BEAT_MS, () => beat().then(recovery.sweep), log),
        repeat(RETRY_MS, recovery.retry, log),
        repeat(TIDY_MS, () => leases.tidy(), log),
      );
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await batcher.idle();
      await leases.close();
      await recovery
        .retry()
        .catch((error) => log.error({ event: "outbox.left_pending", err: error }, "outbox waits for the next start"));
      // Other processes would find out by themselves, a minute later.
      await store.leave().catch(() => undefined);
    },
  };
}

function withHeld(wallet: Wallet, reserved: NanoUsd): Wallet {
  return reserved === 0n ? wallet : { ...wallet, held: wallet.held + reserved };
}

/** Keeps a settlement until it can be booked. */
async function defer(op: SettleOp, err: unknown, { outbox, log, onDeferred }: LedgerOptions): Promise<void> {
  onDeferred?.();
  await outbox.add(op);
  log.error(
    { event: "settlement.deferred", holdId: op.holdId, err },
    "settlement could not be booked; it is kept and booked later",
  );
}

type Submit = <T extends LedgerOutcome>(op: LedgerOp) => Promise<T>;

/** Tries again while leases come back; the last time it is refused for what it is. */
function createRecall(submit: Submit, leases: Leases) {
  return async <T extends HoldOutcome | MoveOutcome>(op: HoldOp | MoveOp): Promise<T> => {
    const untilMs = performance.now() + RECALL_MS;
    for (let next = op; ; next = { ...op, mayRecall: performance.now() < untilMs }) {
      const outcome = await submit<T>(next);
      if (outcome.state !== "refused" || outcome.reason !== "leased") return outcome;
      await leases.recall(op.accountId);
      // This process's own lease is back by now. Others take a moment.
      if (next !== op) await delay(RECALL_STEP_MS);
    }
  };
}

/** Milliseconds that go on while the machine sleeps. A wall clock that is set forward only makes them pass sooner. */
function createSleepClock(): () => number {
  let steadyMs = performance.now();
  let wallMs = Date.now();
  let totalMs = 0;
  return () => {
    const nowMs = { steady: performance.now(), wall: Date.now() };
    totalMs += Math.max(nowMs.steady - steadyMs, nowMs.wall - wallMs);
    steadyMs = nowMs.steady;
    wallMs = nowMs.wall;
    return totalMs;
  };
}

/** Field by field: copying with a spread costs a microsecond on every request. */
function toHoldOp(hold: Omit<HoldOp, "kind">): HoldOp {
  const { id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs } = hold;
  const kind = "hold";
  return { kind, id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs, mayRecall: true };
}

function toSettleOp(settlement: Omit<SettleOp, "kind">, reserved: ReservedHold | undefined): SettleOp {
  const { holdId, accountId, charge, usage, periodStartMs, answer } = settlement;
  const kind = "settle";
  if (reserved === undefined) return { kind, holdId, accountId, charge, usage, periodStartMs, answer };
  return { kind, holdId, accountId, charge, usage, periodStartMs, answer, reserved };
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
