// `switchyard migrate status | up`: what of the database's shape is missing, and bringing it up to date before a start.

import { existsSync } from "node:fs";
import type { Db } from "../core/ports.ts";
import { openDb } from "../store/db.ts";
import { compareMigrations, type MigrationDifference } from "../store/migrate.ts";
import type { Arguments } from "./arguments.ts";
import { loadSettings, printProblems } from "./settings.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import { explainFailure, FAILED, isOn, splitFlags, UsageError, unknown } from "./usage.ts";

const SUBCOMMANDS = ["status", "up"];

export async function migrate({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const [kind, extra] = words;
    if (kind === undefined) throw new UsageError("Say what to do: migrate status or migrate up.");
    if (!SUBCOMMANDS.includes(kind)) throw unknown({ what: "subcommand", word: kind, known: SUBCOMMANDS });
    if (extra !== undefined) throw new UsageError(`'${extra}' is one word too many.`);
    const { own, config } = splitFlags(flags, ["json", "no-color"]);
    const loaded = loadSettings(config, terminal);
    if (!loaded.ok) return printProblems(loaded, terminal);
    const printing = { terminal, isJson: isOn(own, "json") };
    const { database } = loaded.settings;
    if (kind === "up") return await withDb(database, (db) => up(db, printing));
    // Opening would make the file, and a question makes nothing.
    if (isAbsentFile(database)) return told({ missing: ["everything"], foreign: [] }, printing);
    return await withDb(database, async (db) => told(await differenceOf(db), printing));
  } catch (error) {
    return explainFailure(error, "migrate", terminal);
  }
}

async function withDb<T>(database: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDb(database);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

function isAbsentFile(database: string): boolean {
  const file = database.startsWith("sqlite:") ? database.slice("sqlite:".length) : null;
  return file !== null && file !== ":memory:" && !existsSync(file);
}

/** A database that does not answer is not one that lacks something. */
async function differenceOf(db: Db): Promise<MigrationDifference> {
  await db.query("SELECT 1 AS one");
  return compareMigrations(db);
}

interface Printing {
  readonly terminal: Terminal;
  readonly isJson: boolean;
}

function told(difference: MigrationDifference, { terminal, isJson }: Printing): number {
  const { missing, foreign } = difference;
  const isUpToDate = missing.length === 0 && foreign.length === 0;
  if (isJson) terminal.out(`${JSON.stringify({ upToDate: isUpToDate, missing, foreign }, null, 2)}\n`);
  else for (const name of missing) terminal.out(`missing  ${name}\n`);
  if (isUpToDate) terminal.say("The database is up to date.\n");
  else if (foreign.length > 0)
    terminal.say(`A newer version made this database: it has ${foreign.join(", ")}. Run that version.\n`);
  else terminal.say("Bring it up to date: switchyard migrate up (a start does it, too).\n");
  return isUpToDate ? 0 : FAILED;
}

async function up(db: Db, { terminal, isJson }: Printing): Promise<number> {
  const { foreign } = await differenceOf(db);
  if (foreign.length > 0) return told({ missing: [], foreign }, { terminal, isJson });
  const applied = await db.migrate();
  if (isJson) terminal.out(`${JSON.stringify({ applied }, null, 2)}\n`);
  else for (const name of applied) terminal.out(`applied  ${name}\n`);
  terminal.say(applied.length === 0 ? "The database was up to date.\n" : "The database is up to date now.\n");
  return 0;
}
