// The secret of the installation. It seals stored responses and provider keys.

import { randomBytes } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { StoreUnavailable } from "../core/store-errors.ts";
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
