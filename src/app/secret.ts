// The secret of the installation. It seals stored responses and provider keys, and names the gateway to itself.

import { createHmac, randomBytes } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { loopName } from "../core/requests/loops.ts";
import { StoreUnavailable } from "../core/store-errors.ts";
import { madeAtMs } from "../store/migrate.ts";
import { openSecretFor } from "../store/secret/secret.ts";

export interface InstallationSecret {
  readonly bytes: Buffer;
  /** False if the secret is lost with the process. Then nothing that must last is sealed with it. */
  readonly isLasting: boolean;
}

/**
 * Opens the secret. Throws if the database belongs to another one. Where none can be kept, stored responses last only as
 * long as the process.
 */
export async function secretOf(
  db: Db,
  settings: Pick<Settings, "secret" | "dataDir">,
  log: Log,
): Promise<InstallationSecret> {
  try {
    return { bytes: await openSecretFor(db, settings), isLasting: true };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    log.error({ event: "secret.unavailable", err: error }, "the secret file can be neither read nor made");
    return { bytes: randomBytes(32), isLasting: false };
  }
}

/**
 * The name by which all processes of a gateway recognise requests that come back to it. Providers see the name, so it tells
 * nothing of the secret, and two gateways with one secret have different names.
 */
export async function loopNameOf(db: Db, secret: Buffer): Promise<string> {
  const digest = createHmac("sha256", secret).update(`loop ${await madeAtMs(db)}`);
  return loopName(digest.digest("hex").slice(0, 16));
}
