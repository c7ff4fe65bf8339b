// Check of the secret: a gateway with another one than its database does not start.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../../config/doctor.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { fingerprintOf } from "../../store/secret/seal.ts";
import { openSecret, readFingerprint, SECRET_FILE } from "../../store/secret/secret.ts";
import * as TEXT from "../command/text.ts";
import { reasonOf } from "../command/usage.ts";

/** None before the first start. Never makes the secret, which a check must not. */
export async function secretChecks(db: Db, settings: Settings): Promise<readonly Check[]> {
  const noted = await readFingerprint(db);
  if (noted === null) return [];
  const isGiven = settings.secret !== null || existsSync(join(settings.dataDir, SECRET_FILE));
  const problem = isGiven ? problemOf(settings, noted) : TEXT.secretMissing;
  if (problem === null) return [{ state: "ok", what: TEXT.secretMatches, fix: null }];
  return [{ state: "fail", what: problem, fix: TEXT.useItsSecret(SECRET_FILE, command("secret replace")) }];
}

function problemOf(settings: Settings, noted: string): string | null {
  try {
    return fingerprintOf(openSecret(settings)) === noted ? null : TEXT.secretDiffers;
  } catch (error) {
    return TEXT.secretUnreadable(reasonOf(error));
  }
}
