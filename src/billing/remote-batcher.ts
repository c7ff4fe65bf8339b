// The batcher of a worker process. The primary process commits the operations of all workers together, so that workers
// never wait for each other's wallets.

import type { LedgerOp, LedgerOutcome } from "../core/ledger.ts";
import type { WorkerLink } from "../core/processes/link.ts";
import { StoreUnavailable } from "../core/store-errors.ts";
import type { Batcher } from "./batcher.ts";

export interface RemoteBatcherOptions {
  readonly link: WorkerLink;
  /** Name under which this process keeps holds. */
  readonly owner: string;
  /** Called for each operation that the store could not commit. */
  readonly onUnavailable: () => void;
}

const LEDGER_SERVICE = "ledger";

/** Commits operations of workers, in the primary process. */
export function serveLedger(batcher: Batcher): (link: Pick<WorkerLink, "serve">) => void {
  return (link) => link.serve(LEDGER_SERVICE, (op) => batcher.submit(op as LedgerOp));
}

export function createRemoteBatcher({ link, owner, onUnavailable }: RemoteBatcherOptions): Batcher {
  let open = 0;
  let waiting: (() => void)[] = [];

  function end(): void {
    open -= 1;
    if (open > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    async submit(op: LedgerOp) {
      open += 1;
      try {
        const sent = op.kind === "hold" ? { owner, ...op } : op;
        return (await link.call(LEDGER_SERVICE, sent)) as LedgerOutcome;
      } catch (error) {
        if (error instanceof StoreUnavailable) onUnavailable();
        throw error;
      } finally {
        end();
      }
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
