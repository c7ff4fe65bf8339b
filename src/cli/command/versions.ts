// The run-time configuration for commands: directly on the store, beside a server that notices within seconds.

import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { createSealer } from "../../store/secret/seal.ts";
import { openSecret } from "../../store/secret/secret.ts";
import { createVersionStore } from "../../store/versions/versions.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import { createVersions, type Published, type Versions } from "../../versions/versions.ts";
import { printJson } from "./command.ts";
import { withStore } from "./store.ts";
import type { Terminal } from "./terminal.ts";

/** Caught up with the newest version; `work` may publish. */
export function withVersions<T>(settings: Settings, work: (versions: Versions) => Promise<T>): Promise<T> {
  return withStore(settings.database, async ({ db }) => {
    const versions = versionsOf(db, settings);
    await versions.start();
    try {
      return await work(versions);
    } finally {
      versions.stop();
    }
  });
}

export function versionsOf(db: Db, settings: Settings): Versions {
  return createVersions({
    store: createVersionStore(db),
    configuration: settings.configuration,
    sealer: createSealer(openSecret(settings), "provider keys"),
    onServe: () => undefined,
    log: SILENT_LOG,
    now: Date.now,
  });
}

export function printPublished(published: Published, isJson: boolean, terminal: Terminal): void {
  const { version, changes, warnings } = published;
  for (const { place, message } of warnings) terminal.say(`! ${place}: ${message}.\n`);
  if (isJson) printJson({ version: version.number, changes }, terminal);
  else if (changes.length === 0) terminal.say(`Nothing differs from version ${version.number}.\n`);
  else terminal.say(`Version ${version.number}: ${changes.map(({ words }) => words).join("; ")}.\n`);
}
