// Holds of batches. A batch has one hold over all its lines. The hold of a line is taken from it, and what the line did not
// cost goes back to it. So a batch never needs credits that its owner has spent elsewhere meanwhile.

import { sharedHoldOf } from "../core/batches/holds.ts";
import type { Hold, SharedHold, Wallet } from "../core/ledger.ts";
import { assert, availableIn, type Draft, holding } from "./draft.ts";

/** The open hold of a batch. */
export interface SharedPool {
  readonly hold: Hold;
  readonly shared: SharedHold;
}

/**
 * Finds the hold that this one is taken from. Null for others, where that of the batch has ended, and where the account
 * is billed in another way by now.
 */
export function poolOf(draft: Draft, { id, isMetered }: Pick<Hold, "id" | "isMetered">): SharedPool | null {
  const sharedId = sharedHoldOf(id);
  const hold = sharedId === null ? undefined : draft.hold(sharedId);
  if (hold?.state !== "open" || hold.shared === undefined || hold.isMetered !== isMetered) return null;
  return { hold, shared: hold.shared };
}

/** Amount that the hold of a line can have. Without a price that the caller named, other credits of the wallet count too. */
export function availableFor({ hold, shared }: SharedPool, wallet: Wallet): bigint {
  return shared.isCapped ? hold.amount : hold.amount + availableIn(wallet);
}

/** Takes the hold of a line from that of its batch. Returns the part that the batch had on hold. */
export function lend(draft: Draft, { hold, shared }: SharedPool, amount: bigint): bigint {
  const taken = amount < hold.amount ? amount : hold.amount;
  const lent = shared.lent + amount;
  draft.putShared({ ...hold, amount: hold.amount - taken, shared: { ...shared, lent } });
  return taken;
}

/** A line that ended: its hold, the part that was still on hold, and what was paid. */
interface LineEnd {
  readonly held: Hold;
  readonly freed: bigint;
  readonly paid: bigint;
}

/** Puts what is left on hold again. The amounts of both holds were freed before. */
export function takeBack(draft: Draft, { hold, shared }: SharedPool, { held, freed, paid }: LineEnd): void {
  assert(hold.accountId === held.accountId, "a line is paid from the hold of its own account");
  const left = hold.amount + freed - paid;
  const amount = left > 0n ? left : 0n;
  draft.putShared({ ...hold, amount, shared: { ...shared, lent: shared.lent - freed } });
  if (hold.isMetered) return;
  const wallet = draft.wallet(hold.accountId);
  draft.putWallet(holding(wallet, wallet.held + amount));
}
