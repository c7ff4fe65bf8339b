// `switchyard migrate status | up`: which migrations the database lacks, and applying them before a start.

import { existsSync } from "node:fs";
import { command } from "../config/package.ts";
import type { Db } from "../core/db.ts";
import { fileOf, openDb } from "../store/db.ts";
import { compareMigrations, type MigrationDifference } from "../store/migrate.ts";
import type { Arguments } from "./command/arguments.ts";
import { parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED } from "./command/usage.ts";

/** `status` changes nothing; `up` applies what is missing. */
export function migrate({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "migrate",
    callsNobody: true,
    terminal,
    parse() {
      const [kind] = parseSubcommand(words, "migrate", { status: 0, up: 0 });
      const { own, config } = splitFlags(flags, ["json", "no-color"]);
      return { options: { kind, isJson: isOn(own, "json") }, config };
    },
    async run({ kind, isJson }, { database }) {
      if (kind === "up") return withDb(database, (db) => up(db, isJson, terminal));
      // Opening would create the file, and a question must not change anything.
      if (isAbsentFile(database)) return showDifference({ missing: ["everything"], foreign: [] }, isJson, terminal);
      return withDb(database, async (db) => showDifference(await differenceOf(db), isJson, terminal));
    },
  });
}

/** Like `withStore`, but without migrating. */
async function withDb<T>(database: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDb(database);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** A SQLite file that does not exist yet. */
function isAbsentFile(database: string): boolean {
  const file = fileOf(database);
  return file !== null && !existsSync(file);
}

/** Asks for a row first: a database that cannot be reached must fail, not count as an empty one. */
async function differenceOf(db: Db): Promise<MigrationDifference> {
  await db.query("SELECT 1 AS one");
  return compareMigrations(db);
}

/** Prints what is missing or foreign. The exit code: 0 only when the database is up to date. */
function showDifference({ missing, foreign }: MigrationDifference, isJson: boolean, terminal: Terminal): number {
  const isUpToDate = missing.length === 0 && foreign.length === 0;
  if (isJson) printJson({ upToDate: isUpToDate, missing, foreign }, terminal);
  else for (const name of missing) terminal.out(`missing  ${name}\n`);
  if (isUpToDate) terminal.say(TEXT.databaseUpToDate);
  else if (foreign.length > 0) terminal.say(TEXT.newerDatabaseRun(foreign.join(", ")));
  else terminal.say(TEXT.applyThem(command("migrate up")));
  return isUpToDate ? 0 : FAILED;
}

/** A database of a newer version is left alone: this version does not know how to write to it. */
async function up(db: Db, isJson: boolean, terminal: Terminal): Promise<number> {
  const { foreign } = await differenceOf(db);
  if (foreign.length > 0) return showDifference({ missing: [], foreign }, isJson, terminal);
  const applied = await db.migrate();
  if (isJson) printJson({ applied }, terminal);
  else for (const name of applied) terminal.out(`applied  ${name}\n`);
  terminal.say(applied.length === 0 ? TEXT.databaseWasUpToDate : TEXT.databaseMigrated(command("serve")));
  return 0;
}
