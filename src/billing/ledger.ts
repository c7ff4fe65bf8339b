// The ledger as a service. Waiting operations are committed together (one fsync for many requests). Holds come from a
// lease if there is one, otherwise from the store. A settlement that the store cannot take goes to the outbox and is
// retried until it is booked. It is never refunded.

import { setTimeout as delay } from "node:timers/promises";
import { BATCH_OWNER } from "../core/batches/holds.ts";
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
  VoidOp,
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
  /** Takes a hold. Rejects with StoreUnavailable if the store is away; nothing stays on hold then. */
  hold(op: Omit<HoldOp, "kind">): Promise<HoldOutcome>;
  /** Books a charge. Never rejects: a `deferred` settlement is booked later. */
  settle(op: Omit<SettleOp, "kind">): Promise<SettleOutcome | { readonly state: "deferred" }>;
  /** Releases a hold. Never rejects: a failed release is retried until it succeeds. */
  release(hold: { readonly holdId: string; readonly accountId: string }): Promise<void>;
  /**
   * Ends holds, so that nothing can be charged to them any more, not even by a process that seemed dead. A hold with a key
   * that arrives later is refused. Rejects where the store is away.
   */
  end(holds: readonly EndedHold[]): Promise<void>;
  move(op: Omit<MoveOp, "kind">): Promise<MoveOutcome>;
  balance(accountId: string): Promise<Wallet>;
  /** Credit that can be reserved for the account in memory. */
  leased(accountId: string): NanoUsd;
  /** Books settlements of the outbox and releases holds of dead processes. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

type EndedHold = Pick<VoidOp, "holdId" | "accountId" | "keyId">;

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** Name of this process in the store. */
  readonly owner: string;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Time without a beat after which a process is dead and its holds are released. 0 if no other process can be alive. */
  readonly ownerSilentMs: number;
  /** Called for each settlement that goes to the outbox. */
  readonly onDeferred?: () => void;
  /** Called for each failed write. */
  readonly onUnavailable?: () => void;
  /** True while the store accepts no writes. Nothing is reserved from leases then. */
  readonly isStoreFailing?: () => boolean;
  /** Commits operations in the primary process; left out, this process commits. */
  readonly batcher?: Batcher;
}

/** Interval between two retries of open settlements and releases. */
const RETRY_MS = 1_000;
/** Interval between two beats. After each, holds of dead processes are looked for. */
const BEAT_MS = 5_000;
/** Interval at which idle leases are looked for. */
const TIDY_MS = 250;
/** Time that a request without credit waits for returned leases. Other processes notice a recall within a second. */
const RECALL_MS = 5_000;
/** Pause before such a request tries again. */
const RECALL_STEP_MS = 50;

export function createLedger(options: LedgerOptions): Ledger {
  const { store, owner, outbox, log, ownerSilentMs, onUnavailable, isStoreFailing = () => false } = options;
  const batcher = options.batcher ?? createBatcher(batchesOf(store, onUnavailable));
  const clock = createSleepClock();
  // Other processes end leases after the whole time, so half of it leaves room for clocks and delays.
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
      const taken = leases.take(op);
      if (taken !== null) return taken;
      return recalling<HoldOutcome>(toHoldOp(op)).catch((error: unknown) => {
        // The hold may be committed although its outcome was lost. A hold that was never sent needs no release.
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
      // A hold whose settlement is in the outbox is charged, even if the request failed after that.
      if (outbox.has(hold.holdId) || leases.release(hold.holdId)) return;
      await recovery.release(hold);
    },
    end: (holds) => endAll(holds, submit),
    move: (op) => recalling<MoveOutcome>({ kind: "move", ...op, mayRecall: true }),
    balance: async (accountId) => withHeld(await store.balance(accountId), leases.heldFor(accountId)),
    leased: (accountId) => leases.freeFor(accountId),
    ...createLife({ ...options, batcher, leases, recovery, beat }),
  };
}

async function endAll(holds: readonly EndedHold[], submit: Submit): Promise<void> {
  await Promise.all(holds.map((one) => submit({ kind: "void", isExpiry: false, isFinal: true, ...one })));
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

/** Start, stop and the timers between them. */
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
      // Without this, other processes notice the end a minute later.
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

/** Repeats an operation that lacks leased credit while leases come back. The last attempt returns the real refusal. */
function createRecall(submit: Submit, leases: Leases) {
  return async <T extends HoldOutcome | MoveOutcome>(op: HoldOp | MoveOp): Promise<T> => {
    const untilMs = performance.now() + RECALL_MS;
    for (let next = op; ; next = { ...op, mayRecall: performance.now() < untilMs }) {
      const outcome = await submit<T>(next);
      if (outcome.state !== "refused" || outcome.reason !== "leased") return outcome;
      await leases.recall(op.accountId);
      // The lease of this process is back by now. Other processes take a moment.
      if (next !== op) await delay(RECALL_STEP_MS);
    }
  };
}

/** Makes a clock that runs on while the machine sleeps. Setting the wall clock forward only makes it faster. */
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

/** Copies field by field: a spread costs a microsecond on every request. */
function toHoldOp(hold: Omit<HoldOp, "kind">): HoldOp {
  const { id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs, budgets, shared } = hold;
  const kind = "hold";
  const op = {
    kind,
    id,
    accountId,
    keyId,
    amounts,
    atLeast,
    spendLimit,
    isMetered,
    periodStartMs,
    mayRecall: true,
  } as const;
  if (shared !== undefined) return { ...op, shared, owner: BATCH_OWNER };
  return budgets === undefined ? op : { ...op, budgets };
}

function toSettleOp(settlement: Omit<SettleOp, "kind">, reserved: ReservedHold | undefined): SettleOp {
  const { holdId, accountId, charge, usage, periodStartMs, answer, budgets } = settlement;
  const kind = "settle";
  if (reserved === undefined) {
    const op = { kind, holdId, accountId, charge, usage, periodStartMs, answer } as const;
    return budgets === undefined ? op : { ...op, budgets };
  }
  if (budgets !== undefined) {
    return { kind, holdId, accountId, charge, usage, periodStartMs, answer, budgets, reserved };
  }
  return { kind, holdId, accountId, charge, usage, periodStartMs, answer, reserved };
}

/** Runs the work at an interval, never twice at once. A failure is logged and does not end the timer. */
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
