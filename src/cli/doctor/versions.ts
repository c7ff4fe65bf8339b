// The check of the run-time configuration: which version is in use, and why not the newest.

import type { Check } from "../../config/doctor.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { versionsOf } from "../command/effective.ts";

/** None where nothing was changed at run time. Never makes the secret, which a check must not. */
export async function versionChecks(db: Db, settings: Settings): Promise<readonly Check[]> {
  const versions = versionsOf(db, settings, { isReadOnly: true });
  await versions.start();
  versions.stop();
  const { number: newest } = versions.newest();
  const { number: serving, problems } = versions.serving();
  if (newest === 0) return [];
  if (serving === newest) return [{ state: "ok", what: `Run-time configuration: version ${newest}`, fix: null }];
  const why = problems.map(({ place, message }) => `${place}: ${message}`).join("; ");
  const what = `Run-time configuration: version ${newest} cannot be used, version ${serving} serves (${why})`;
  return [
    {
      state: "fail",
      what,
      fix: `Publish a version that passes, or go back: ${command(`versions rollback ${serving}`)}`,
    },
  ];
}
