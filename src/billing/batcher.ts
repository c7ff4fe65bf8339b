// The batcher: operations that arrive while a commit is under way are committed together. One bad operation does not spoil
// the others: a batch that fails although the store is there is retried in halves, until the bad one is alone.
// A store that hangs counts as away: waiting requests are rejected, and nothing is added to what it has not answered.

import type { LedgerOp, LedgerOutcome } from "../core/ledger.ts";
import { StoreUnavailable } from "../core/store-errors.ts";

/** Bounds one transaction, so that the first request of a batch does not wait for a very long commit. */
const BATCH_MAX = 256;
/** Far above any commit that works, below the time clients wait. */
const COMMIT_TIMEOUT_MS = 10_000;

/** An operation and who waits for its outcome. */
interface QueuedOp {
  readonly op: LedgerOp;
  readonly resolve: (outcome: LedgerOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface Batcher {
  /** Rejects with StoreUnavailable where the store is away or hangs; then the outcome is unknown. */
  submit(op: LedgerOp): Promise<LedgerOutcome>;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
}

/** `onUnavailable` is told of each batch that the store could not commit. */
export function createBatcher(
  commit: (ops: readonly LedgerOp[]) => Promise<readonly LedgerOutcome[]>,
  onUnavailable: () => void = () => undefined,
): Batcher {
  let waiting: QueuedOp[] = [];
  let running: Promise<void> | null = null;
  let hanging: StoreUnavailable | null = null;

  async function run(): Promise<void> {
    // Lets everything that arrives in this turn of the event loop join the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      const timer = setTimeout(() => giveUp(batch), COMMIT_TIMEOUT_MS);
      await runBatch(batch);
      clearTimeout(timer);
      hanging = null;
    }
    running = null;
  }

  /** What was sent may still be committed; what was not is dropped. All callers learn that the outcome is unknown. */
  function giveUp(batch: readonly QueuedOp[]): void {
    hanging = new StoreUnavailable(new Error(`the store has not answered for ${COMMIT_TIMEOUT_MS} ms`));
    for (const { reject } of [...batch, ...waiting]) reject(hanging);
    waiting = [];
    onUnavailable();
  }

  async function runBatch(batch: readonly QueuedOp[]): Promise<void> {
    try {
      const outcomes = await commit(batch.map(({ op }) => op));
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as LedgerOutcome);
      });
    } catch (error) {
      if (error instanceof StoreUnavailable) onUnavailable();
      if (batch.length === 1 || error instanceof StoreUnavailable) for (const { reject } of batch) reject(error);
      else {
        const middle = batch.length >> 1;
        await runBatch(batch.slice(0, middle));
        await runBatch(batch.slice(middle));
      }
    }
  }

  return {
    submit: (op) =>
      new Promise((resolve, reject) => {
        if (hanging !== null) return reject(hanging);
        waiting.push({ op, resolve, reject });
        running ??= run();
      }),
    async idle() {
      while (running !== null) await running;
    },
  };
}
