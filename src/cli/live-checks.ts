// The checks of `switchyard doctor` that touch the world. They change nothing, and cost nothing unless providers are asked.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Check } from "../config/doctor.ts";
import { readPackage } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/ports.ts";
import { UI_FOLDER } from "../http/ui.ts";
import { openDb } from "../store/db.ts";
import { compareMigrations } from "../store/migrate.ts";
import { diskCheck, redisCheck, uiCheck } from "./machine-checks.ts";
import { portCheck, providerCheck } from "./network-checks.ts";
import { askProviders } from "./provider-checks.ts";
import { reasonOf } from "./usage.ts";

export async function liveChecks(
  settings: Settings,
  { asksProviders }: { readonly asksProviders: boolean },
): Promise<readonly Check[]> {
  const providers = [...settings.catalog.providers.values()].filter(({ kind }) => kind !== "sandbox");
  const checks = [
    dataCheck(settings.dataDir),
    diskCheck(settings.dataDir),
    databaseCheck(settings.database),
    redisCheck(settings.redis),
    uiCheck(UI_FOLDER),
    portCheck(settings.server),
    ...(asksProviders ? askProviders(settings.catalog) : providers.map((provider) => providerCheck(provider))),
  ];
  return (await Promise.all(checks)).filter((check) => check !== null);
}

/** `needed` as package.json writes it: `>=20.19`. */
export function checkNode(version: string, needed: string = readPackage().engines.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.replace(/^\D+/, "").split(".").map(Number);
  const isEnough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  if (isEnough) return { state: "ok", what: `Node ${version}`, fix: null };
  return {
    state: "fail",
    what: `Node ${version} is too old`,
    fix: `Install Node ${neededMajor}.${neededMinor} or newer`,
  };
}

/** A folder that is not there yet is fine where it can be made. */
export function dataCheck(folder: string): Check {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is not a folder`);
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    const what = `Data folder ${folder} cannot be written to: ${reasonOf(error)}`;
    return { state: "fail", what, fix: "Give this user the right to write there, or set SWITCHYARD_DATA to another" };
  }
  const what = nearest === folder ? `Data folder ${folder} is writable` : `Data folder ${folder} will be made`;
  return { state: "ok", what, fix: null };
}

export async function databaseCheck(database: string): Promise<Check> {
  const file = database.startsWith("sqlite:") ? database.slice("sqlite:".length) : null;
  if (file === ":memory:")
    return { state: "warn", what: "Database: in memory, lost at the end", fix: "Set DATABASE_URL" };
  // Opening would make the file, and a check makes nothing.
  if (file !== null && !existsSync(file)) {
    return { state: "ok", what: "Database: not there yet, the first start makes it", fix: null };
  }
  let db: Db | null = null;
  try {
    db = await openDb(database, { connectTimeoutMs: 3_000, queryTimeoutMs: 3_000 });
    await db.query("SELECT 1 AS one");
    return migrationCheck(await compareMigrations(db));
  } catch (error) {
    const fix = file === null ? "Check DATABASE_URL and that the server runs" : `Check ${file}, or restore a backup`;
    return { state: "fail", what: `Database cannot be used: ${reasonOf(error)}`, fix };
  } finally {
    await db?.close();
  }
}

function migrationCheck({ missing, foreign }: Awaited<ReturnType<typeof compareMigrations>>): Check {
  if (foreign.length > 0) {
    const what = `Database was made by a newer version: it has ${foreign.join(", ")}`;
    return { state: "fail", what, fix: "Run the version that made it, or restore the backup from before" };
  }
  if (missing.length > 0) {
    const what = `Database answers; not applied yet: ${missing.join(", ")}`;
    return { state: "warn", what, fix: "The next start applies it" };
  }
  return { state: "ok", what: "Database answers and is up to date", fix: null };
}
