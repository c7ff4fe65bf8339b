// The secret of the installation, which stored responses and provider keys are sealed with.

import { randomBytes } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { isSecretChanged, openSecret } from "../store/secret/secret.ts";

export interface InstallationSecret {
  readonly bytes: Buffer;
  /** False where it is lost with the process: nothing that must last is sealed with it. */
  readonly isLasting: boolean;
}

/** A process that finds no secret serves all the same: responses that it stores last as long as it runs. */
export async function secretOf(
  db: Db,
  settings: Pick<Settings, "secret" | "dataDir">,
  log: Log,
): Promise<InstallationSecret> {
  let bytes: Buffer;
  try {
    bytes = openSecret(settings);
  } catch (error) {
    log.error({ event: "secret.unavailable", err: error }, "the secret file can be neither read nor made");
    return { bytes: randomBytes(32), isLasting: false };
  }
  if (await isSecretChanged(db, bytes))
    log.error({ event: "secret.changed" }, "the database was last used with another secret");
  return { bytes, isLasting: true };
}
