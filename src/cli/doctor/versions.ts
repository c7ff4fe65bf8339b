// The checks of the run-time configuration: which version is in use, why not the newest, and which keys cannot be read.

import type { Check } from "../../config/doctor.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { SECRET_FILE } from "../../store/secret/secret.ts";
import { versionsOf } from "../command/effective.ts";
import * as TEXT from "../command/text.ts";

/** None where nothing was changed at run time. Never makes the secret, which a check must not. */
export async function versionChecks(db: Db, settings: Settings): Promise<readonly Check[]> {
  const unreadable = new Set<string>();
  const versions = versionsOf(db, settings, {
    isReadOnly: true,
    onEvent(event) {
      if (event.kind === "keyUnreadable") unreadable.add(event.provider);
    },
  });
  await versions.start();
  versions.stop();
  const { number: newest } = versions.newest();
  const { number: serving, problems } = versions.serving();
  if (newest === 0) return [];
  const sealed = [...unreadable].map(sealedCheck);
  if (serving === newest) return [{ state: "ok", what: TEXT.versionFine(newest), fix: null }, ...sealed];
  const why = problems.map(({ place, message }) => `${place}: ${message}`).join("; ");
  const what = TEXT.versionUnusable(newest, serving, why);
  return [
    {
      state: "fail",
      what,
      fix: TEXT.publishAnother(command(`versions rollback ${serving}`)),
    },
    ...sealed,
  ];
}

/** Reports a key that cannot be opened, as after a restore on another machine. The provider's refusal alone would mislead. */
function sealedCheck(provider: string): Check {
  return {
    state: "fail",
    what: TEXT.keyOfOtherSecret(provider),
    fix: TEXT.useThatSecret(SECRET_FILE),
  };
}
