// Wiring of the run-time configuration: its versions, and the snapshots that requests are served with.

import type { Catalog } from "../catalog/catalog.ts";
import type { Settings, ShownOption } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { createSealer } from "../store/secret/seal.ts";
import { createVersionStore } from "../store/versions/versions.ts";
import { createVersions, type Versions } from "../versions/versions.ts";
import { startPriceCheck } from "./price-check.ts";
import type { InstallationSecret } from "./secret.ts";
import { createSnapshots, type Snapshots, type SnapshotsContext } from "./snapshots.ts";

interface ConfigurationContext {
  readonly settings: Settings;
  readonly secret: InstallationSecret;
  readonly log: Log;
  readonly now: () => number;
  readonly snapshots: SnapshotsContext;
}

export interface OpenedConfiguration {
  readonly snapshots: Snapshots;
  readonly versions: Versions;
  /** Every option as it is now, for people. */
  shownOptions(): readonly ShownOption[];
  close(): Promise<void>;
}

/** Started: the newest usable version is served with. */
export async function openConfiguration(db: Db, context: ConfigurationContext): Promise<OpenedConfiguration> {
  const { settings, secret, log, now } = context;
  const snapshots = createSnapshots(settings, context.snapshots);
  let { options } = settings;
  const versions = createVersions({
    store: createVersionStore(db),
    configuration: settings.configuration,
    sealer: secret.isLasting ? createSealer(secret.bytes, "provider keys") : null,
    onServe(checked) {
      options = checked.options;
      snapshots.publish(checked);
    },
    log,
    now,
  });
  await versions.start();
  const catalog = (): Catalog => snapshots.current().catalog;
  const priceCheck = startPriceCheck({ settings, versions, catalog, log, now });
  return {
    snapshots,
    versions,
    shownOptions: () => options,
    async close() {
      priceCheck?.close();
      versions.stop();
      await snapshots.close();
    },
  };
}
