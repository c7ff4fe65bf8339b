// Whether made-up traffic may be written into a store: only where nothing real could be mixed up with it.

import type { Db } from "../core/db.ts";
import { PRODUCTION_ID } from "./pool.ts";

/** `demo`: filled already. `taken`: it holds requests or money of somebody. */
export type DemoState = "fresh" | "demo" | "taken";

/** What the first start on the sandbox gives, which is play money too. */
const PLAY_MONEY = "demo credits";

/** The database is migrated already. */
export async function demoStateOf(db: Db): Promise<DemoState> {
  const [booked] = await db.query("SELECT id FROM ledger_transactions LIMIT 1");
  const [demoKey] = await db.query("SELECT id FROM api_keys WHERE id = $1", [PRODUCTION_ID]);
  // The money is written last, so a demo without any was broken off.
  if (demoKey !== undefined && booked !== undefined) return "demo";
  const [request] = await db.query("SELECT id FROM requests LIMIT 1");
  const [real] = await db.query("SELECT id FROM ledger_transactions WHERE note IS NULL OR note <> $1 LIMIT 1", [
    PLAY_MONEY,
  ]);
  return request === undefined && real === undefined ? "fresh" : "taken";
}
