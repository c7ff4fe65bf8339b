// The run-time configuration for commands: directly on the store, beside a server that notices within seconds.

import type { Catalog } from "../../catalog/catalog.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { noteAfter } from "../../store/audit/scope.ts";
import { changesBetween } from "../../versions/changes.ts";
import type { Published, Versions } from "../../versions/versions.ts";
import { printJson } from "./command.ts";
import { versionsOf } from "./effective.ts";
import { withStore } from "./store.ts";
import type { Terminal } from "./terminal.ts";
import * as TEXT from "./text.ts";

/** Caught up with the newest version; `work` may publish. `catalog` is what a server would have now. */
export function withVersions<T>(
  settings: Settings,
  work: (versions: Versions, catalog: () => Catalog, db: Db) => Promise<T>,
): Promise<T> {
  return withStore(settings.database, async ({ db }) => {
    let { catalog } = settings;
    const versions = versionsOf(db, settings, {
      onServe(checked) {
        catalog = checked.catalog;
      },
    });
    await versions.start();
    const { document } = versions.newest();
    try {
      const result = await work(versions, () => catalog, db);
      const { number, document: published } = versions.newest();
      noteAfter({ version: number, changes: changesBetween(document, published).map(({ words }) => words) });
      return result;
    } finally {
      versions.stop();
    }
  });
}

export function printPublished(published: Published, isJson: boolean, terminal: Terminal): void {
  const { version, changes, warnings } = published;
  for (const { place, message } of warnings) terminal.say(`! ${place}: ${message}.\n`);
  if (isJson) printJson({ version: version.number, changes }, terminal);
  else if (changes.length === 0) terminal.say(TEXT.nothingDiffers(version.number));
  else terminal.say(TEXT.versionMade(version.number, changes.map(({ words }) => words).join("; ")));
}
