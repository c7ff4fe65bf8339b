// Lost commits of a SQLite file that the operator gave up, so that an audit years later finds the reason for a gap.

import type { Db } from "../../core/db.ts";
import type { StoreLoss } from "../../core/store-errors.ts";

interface AcceptedLoss {
  readonly loss: Pick<StoreLoss, "commits" | "transactions">;
  readonly reason: "accepted" | "restored";
  readonly nowMs: number;
}

export async function recordLoss(db: Db, { loss, reason, nowMs }: AcceptedLoss): Promise<void> {
  await db.query("INSERT INTO store_losses (accepted_at, reason, commits, transactions) VALUES ($1, $2, $3, $4)", [
    nowMs,
    reason,
    loss.commits,
    loss.transactions,
  ]);
}
