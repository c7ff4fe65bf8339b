// The name by which all processes of a gateway recognise requests that come back to it.

import { createHmac } from "node:crypto";
import type { Db } from "../core/db.ts";
import { loopName } from "../core/requests/loops.ts";
import { madeAtMs } from "../store/migrate.ts";

/** Providers see the name, so it tells nothing of the secret, and two gateways with one secret have different names. */
export async function loopNameOf(db: Db, secret: Buffer): Promise<string> {
  const digest = createHmac("sha256", secret).update(`loop ${await madeAtMs(db)}`);
  return loopName(digest.digest("hex").slice(0, 16));
}
