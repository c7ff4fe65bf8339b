// What this process last wrote of wallets, open holds and key spends, so that a batch need not read them again. Every write
// names the wallet as it is remembered: where somebody else has changed it the batch is refused, and what is true is read.

import type { Hold, KeySpend, LedgerChanges, LedgerOp, LedgerState, Transaction, Wallet } from "../../core/ledger.ts";

/** After somebody else's change more of them are likely: for so many batches it is better to read first. */
const READS_AFTER_SURPRISE = 100;
const ENTRIES_MAX = 10_000;

export class LedgerMemory {
  readonly #wallets = new Map<string, Wallet>();
  /** Open ones, taken by this process: as many as there are requests under way. */
  readonly #holds = new Map<string, Hold>();
  readonly #keySpends = new Map<string, KeySpend>();
  readonly #readsAfterSurprise: number;
  #readsLeft = 0;

  constructor(readsAfterSurprise = READS_AFTER_SURPRISE) {
    this.#readsAfterSurprise = readsAfterSurprise;
  }

  /** Null when these operations refer to something that is not remembered. */
  recall(ops: readonly LedgerOp[]): LedgerState | null {
    if (this.#readsLeft > 0) {
      this.#readsLeft -= 1;
      return null;
    }
    if (!ops.every((op) => this.#knows(op))) return null;
    return { wallets: this.#wallets, holds: this.#holds, keySpends: this.#keySpends, moves: NO_MOVES };
  }

  /** What was read and what became of it, once that is committed. */
  learn(state: LedgerState, { wallets, newHolds, resolvedHolds, keySpends }: LedgerChanges): void {
    if (this.#wallets.size + this.#keySpends.size > ENTRIES_MAX) this.forget();
    if (state.wallets !== this.#wallets) copy(state.wallets, this.#wallets);
    if (state.keySpends !== this.#keySpends) copy(state.keySpends, this.#keySpends);
    for (const wallet of wallets) this.#wallets.set(wallet.accountId, wallet);
    for (const hold of newHolds) if (hold.state === "open") this.#holds.set(hold.id, hold);
    for (const { id } of resolvedHolds) this.#holds.delete(id);
    for (const spend of keySpends) this.#keySpends.set(spend.keyId, spend);
  }

  forget(): void {
    this.#wallets.clear();
    this.#holds.clear();
    this.#keySpends.clear();
  }

  /** Somebody else writes to the same wallets. */
  surprise(): void {
    this.forget();
    this.#readsLeft = this.#readsAfterSurprise;
  }

  #knows(op: LedgerOp): boolean {
    if (op.kind === "move" || !this.#wallets.has(op.accountId)) return false;
    if (op.kind === "hold") return op.spendLimit === null || this.#keySpends.has(op.keyId);
    const hold = this.#holds.get(op.holdId);
    return hold !== undefined && (!hold.isLimited || this.#keySpends.has(hold.keyId));
  }
}

const NO_MOVES: ReadonlyMap<string, Transaction> = new Map();

function copy<Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>): void {
  for (const [name, value] of from) to.set(name, value);
}
