// The settings that a server on this database would serve with: file, environment and flags over the run-time
// configuration. Commands that only look read them, and leave nothing behind.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Checked, Settings } from "../../config/settings.ts";
import { type Db, sqlitePathOf } from "../../core/db.ts";
import { openDb } from "../../store/db.ts";
import { compareMigrations } from "../../store/migrate.ts";
import { createSealer, type Sealer } from "../../store/secret/seal.ts";
import { openSecret, openSecretFor, SECRET_FILE } from "../../store/secret/secret.ts";
import { createVersionStore } from "../../store/versions/versions.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import type { VersionEvent } from "../../versions/events.ts";
import { createVersions, type Versions } from "../../versions/versions.ts";
import type { Terminal } from "./terminal.ts";
import * as TEXT from "./text.ts";
import { reasonOf } from "./usage.ts";

const MIGRATION = "0021_config_versions";
/** Keeps a command that only looks from hanging on a dead server. A slow one has time to answer. */
export const TIMEOUTS = { connectTimeoutMs: 10_000, queryTimeoutMs: 10_000 };

/** Without a database, or with one that has no versions, the settings as they are. */
export async function effective(settings: Settings, terminal: Pick<Terminal, "say">): Promise<Settings> {
  const { database } = settings;
  const path = sqlitePathOf(database);
  if (path !== null && !existsSync(path)) return settings;
  try {
    const db = await openDb(database, TIMEOUTS);
    try {
      if ((await compareMigrations(db)).missing.includes(MIGRATION)) return settings;
      return { ...settings, ...(await servedBy(db, settings)) };
    } finally {
      await db.close();
    }
  } catch (error) {
    terminal.say(TEXT.runtimeUnreadable(reasonOf(error)));
    return settings;
  }
}

type Served = Omit<Extract<Checked, { ok: true }>, "ok" | "warnings">;

async function servedBy(db: Db, settings: Settings): Promise<Partial<Served>> {
  let served: Partial<Served> = {};
  const versions = versionsOf(db, settings, {
    isReadOnly: true,
    onServe({ ok: _, warnings: __, ...checked }) {
      served = checked;
    },
  });
  await versions.start();
  versions.stop();
  return served;
}

interface VersionsUse {
  readonly onServe?: (checked: Extract<Checked, { ok: true }>) => void;
  readonly onEvent?: (event: VersionEvent) => void;
  /** Makes no secret where there is none. */
  readonly isReadOnly?: boolean;
}

export function versionsOf(
  db: Db,
  settings: Settings,
  { onServe = () => undefined, onEvent = () => undefined, isReadOnly = false }: VersionsUse,
): Versions {
  return createVersions({
    store: createVersionStore(db),
    configuration: settings.configuration,
    sealer: isReadOnly ? readingSealer(settings) : writingSealer(db, settings),
    onServe,
    onEvent,
    log: SILENT_LOG,
    now: Date.now,
  });
}

const PURPOSE = "provider keys";

/** Returns null where there is no secret. */
function readingSealer(settings: Settings): Sealer | null {
  const hasSecret = settings.secret !== null || existsSync(join(settings.dataDir, SECRET_FILE));
  return hasSecret ? createSealer(openSecret(settings), PURPOSE) : null;
}

/** Refuses to seal with another secret than the database has: no gateway on it could read the key. */
function writingSealer(db: Db, settings: Settings): Sealer {
  const opened = async () => createSealer(await openSecretFor(db, settings), PURPOSE);
  return {
    seal: async (text, about) => (await opened()).seal(text, about),
    open: async (sealed, about) => (await opened()).open(sealed, about),
  };
}
