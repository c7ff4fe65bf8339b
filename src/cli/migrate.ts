// `switchyard migrate status | up`: what of the database's shape is missing, and bringing it up to date before a start.

import { existsSync } from "node:fs";
import type { Db } from "../core/db.ts";
import { openDb } from "../store/db.ts";
import { compareMigrations, type MigrationDifference } from "../store/migrate.ts";
import type { Arguments } from "./command/arguments.ts";
import { perform, printJson, readSubcommand } from "./command/command.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { FAILED, isOn, splitFlags } from "./command/usage.ts";

export function migrate({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    name: "migrate",
    terminal,
    read() {
      const [kind] = readSubcommand(words, "migrate", { status: 0, up: 0 });
      const { own, config } = splitFlags(flags, ["json", "no-color"]);
      return { order: { kind, terminal, isJson: isOn(own, "json") }, config };
    },
    async carryOut({ kind, ...printing }, { database }) {
      if (kind === "up") return withDb(database, (db) => up(db, printing));
      // Opening would make the file, and a question makes nothing.
      if (isAbsentFile(database)) return told({ missing: ["everything"], foreign: [] }, printing);
      return withDb(database, async (db) => told(await differenceOf(db), printing));
    },
  });
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
  if (isJson) printJson({ upToDate: isUpToDate, missing, foreign }, terminal);
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
  if (isJson) printJson({ applied }, terminal);
  else for (const name of applied) terminal.out(`applied  ${name}\n`);
  terminal.say(
    applied.length === 0
      ? "The database was up to date.\n"
      : "The database is up to date now. Start it: switchyard serve\n",
  );
  return 0;
}
