// Gathers operations while a commit is under way and commits them together. One bad operation does not spoil the others:
// a batch that fails for another reason than the store being away is tried again in halves, until the bad one is alone.
// A store that hangs counts as away: nobody waits for it for long, and nothing is added to what it has not answered.

import type { LedgerOp, LedgerOutcome } from "../core/ledger.ts";
import { StoreUnavailable } from "../core/store-errors.ts";

const BATCH_MAX = 256;
const PATIENCE_MS = 10_000;

interface Waiting {
  readonly op: LedgerOp;
  readonly resolve: (outcome: LedgerOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface Batcher {
  submit(op: LedgerOp): Promise<LedgerOutcome>;
  /** Resolves when nothing waits. */
  idle(): Promise<void>;
}

export function createBatcher(commit: (ops: readonly LedgerOp[]) => Promise<readonly LedgerOutcome[]>): Batcher {
  let waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  let hanging: StoreUnavailable | null = null;

  async function run(): Promise<void> {
    // Lets everything that arrives in this turn of the event loop join the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      const timer = setTimeout(() => giveUp(batch), PATIENCE_MS);
      await runBatch(batch);
      clearTimeout(timer);
      hanging = null;
    }
    running = null;
  }

  /** What was sent may still be done; what was not is dropped. All are told that it is unknown. */
  function giveUp(batch: readonly Waiting[]): void {
    hanging = new StoreUnavailable(new Error(`the store has not answered for ${PATIENCE_MS} ms`));
    for (const { reject } of [...batch, ...waiting]) reject(hanging);
    waiting = [];
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await commit(batch.map(({ op }) => op));
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as LedgerOutcome);
      });
    } catch (error) {
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
        if (hanging !== null) {
          reject(hanging);
          return;
        }
        waiting.push({ op, resolve, reject });
        running ??= run();
      }),
    async idle() {
      while (running !== null) await running;
    },
  };
}
