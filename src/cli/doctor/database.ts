// Checks of the database and the data folder: reachable, up to date, writable. They create nothing that stays.

import { accessSync, constants, existsSync, mkdtempSync, realpathSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Check } from "../../config/doctor.ts";
import { command } from "../../config/package.ts";
import { type Db, sqlitePathOf } from "../../core/db.ts";
import { StoreDamaged } from "../../core/store-errors.ts";
import { openDb } from "../../store/db.ts";
import { compareMigrations, type MigrationDifference } from "../../store/migrate.ts";
import { movesOf, PART_NAMES, partPathOf } from "../../store/sqlite/part-files.ts";
import { type DbPart, PARTS } from "../../store/sqlite/part-tables.ts";
import { TIMEOUTS } from "../command/effective.ts";
import * as TEXT from "../command/text.ts";
import { reasonOf } from "../command/usage.ts";
import { type ClockReading, databaseClock } from "./clock.ts";

/** The result, and a by-product for the check of the clock. */
interface DatabaseChecked {
  readonly check: Check;
  /** The clock of a server that was reached; null for SQLite. */
  readonly clock: ClockReading | null;
  /** Further checks of a database that is up to date. */
  readonly further: readonly Check[];
}

/** Opens it with short timeouts, so that a dead server does not make the doctor hang. */
export async function databaseCheck(
  database: string,
  inspect: (db: Db) => Promise<readonly Check[]> = async () => [],
): Promise<DatabaseChecked> {
  const file = sqlitePathOf(database);
  const unusable = file === null ? null : fileCheck(file);
  if (unusable !== null) return { check: unusable, clock: null, further: [] };
  let db: Db | null = null;
  try {
    db = await openDb(database, TIMEOUTS);
    const clock = await databaseClock(db, Date.now);
    await db.query("SELECT 1 AS one");
    const check = migrationCheck(await compareMigrations(db));
    const further = check.state === "ok" ? await inspect(db) : [];
    return { check, clock, further: [...(await partChecks(file)), ...further] };
  } catch (error) {
    const fix = file === null ? TEXT.checkDatabaseUrl : TEXT.checkFile(file);
    return {
      check: { state: "fail", what: TEXT.databaseUnusable(reasonOf(error)), fix },
      clock: null,
      further: [],
    };
  } finally {
    await db?.close();
  }
}

/** Checks the file; null when it exists and can be opened. A missing file is not opened, because that would create it. */
function fileCheck(file: string): Check | null {
  if (file === ":memory:") {
    return { state: "warn", what: TEXT.databaseInMemory, fix: TEXT.setDatabaseUrl };
  }
  if (!existsSync(file)) {
    // The witness of the file says that the file should be there; opening finds out how much is missing.
    if (existsSync(`${file}.witness`)) return null;
    const problem = writeProblem(dirname(file));
    if (problem === null) return { state: "ok", what: TEXT.databaseNew, fix: null };
    return { state: "fail", what: TEXT.databaseNotCreatable(file, problem), fix: RIGHTS };
  }
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    return { state: "fail", what: TEXT.databaseReadOnly(file, reasonOf(error)), fix: RIGHTS };
  }
}

/** Checks the files beside a SQLite file. */
async function partChecks(file: string | null): Promise<readonly Check[]> {
  if (file === null) return [];
  const database = realpathSync(file);
  const checks = await Promise.all(PARTS.map((part) => partCheck(part, partPathOf(database, part))));
  return checks.filter((check) => check !== null);
}

/** Checks the file of a part; null when it can be used. The next start creates a missing one. */
async function partCheck(part: DbPart, path: string): Promise<Check | null> {
  const what = (problem: string): string => TEXT.partUnusable(PART_NAMES[part], path, problem);
  if (!existsSync(path)) return null;
  if (!statSync(path).isFile()) return { state: "fail", what: what(TEXT.noFile), fix: TEXT.movePartAway };
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    return { state: "fail", what: what(reasonOf(error)), fix: RIGHTS };
  }
  return movesOf(path).then(
    () => null,
    (error) => ({ state: "fail", what: what(causeOf(error)), fix: TEXT.damagedPart }),
  );
}

/** Leaves out the advice for a database, which does not fit its parts. */
function causeOf(error: unknown): string {
  return reasonOf(error instanceof StoreDamaged ? error.cause : error);
}

/** The advice for a file or folder that this user may not write to. */
const RIGHTS = TEXT.allowDatabase;

/** A newer database fails; an older one is brought up to date by the next start. */
function migrationCheck({ missing, foreign }: MigrationDifference): Check {
  if (foreign.length > 0) {
    const what = TEXT.newerDatabaseFound(foreign.join(", "));
    return { state: "fail", what, fix: TEXT.runThatVersion };
  }
  if (missing.length > 0) {
    const what = TEXT.migrationsPending(missing.join(", "));
    return { state: "warn", what, fix: TEXT.applyMigrations(command("migrate up")) };
  }
  return { state: "ok", what: TEXT.databaseFine, fix: null };
}

/** A folder that does not exist yet is fine where it can be created. */
export function dataCheck(folder: string): Check {
  const problem = writeProblem(folder);
  if (problem !== null) {
    const what = TEXT.folderReadOnly(folder, problem);
    return { state: "fail", what, fix: TEXT.allowFolder };
  }
  const what = existsSync(folder) ? TEXT.folderFine(folder) : TEXT.folderNew(folder);
  return { state: "ok", what, fix: null };
}

/** Tries to write, because rights alone do not show a file system that is mounted read-only. Null when nothing is wrong. */
function writeProblem(folder: string): string | null {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    if (!statSync(nearest).isDirectory()) return TEXT.notFolder(nearest);
    rmdirSync(mkdtempSync(join(nearest, ".switchyard-doctor-")));
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}
