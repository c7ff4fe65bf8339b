// `switchyard backup FILE` and `switchyard restore FILE`: a verified copy of the database, and the way back. A backup may be
// taken while a gateway runs; a restore may not.

import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { verifyLedger } from "../billing/verify.ts";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import { type Db, sqlitePathOf } from "../core/db.ts";
import { StoreDamaged } from "../core/store-errors.ts";
import { createAuditLog, verifyAuditLog } from "../store/audit/log.ts";
import { auditedDb } from "../store/audit/scope.ts";
import { backupPostgres, examinePostgres, restorePostgres } from "../store/backup/postgres.ts";
import { backupSqlite, examineSqlite, type RowCounts, restoreSqlite } from "../store/backup/sqlite.ts";
import { openDb } from "../store/db.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import { recordLoss } from "../store/ledger/losses.ts";
import { countProcesses } from "../store/ledger/processes.ts";
import { compareMigrations, type MigrationDifference } from "../store/migrate.ts";
import type { Arguments } from "./command/arguments.ts";
import { exitUnlessConfirmed, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { reasonOf, UsageError } from "./command/usage.ts";

/** Exit 0 only when the copy was read back and its ledger fits. */
export function backup({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "backup",
    callsNobody: true,
    terminal,
    parse() {
      const { own, config } = splitFlags(flags, ["force", "json", "no-color"]);
      const file = fileOf(words, terminal);
      return { options: { file, isForced: isOn(own, "force"), isJson: isOn(own, "json") }, config };
    },
    async run({ file, isForced, isJson }, { database }) {
      if (existsSync(file) && !isForced) throw new Error(TEXT.fileExists(file));
      const rows = isSqlite(database)
        ? await backupSqlite(database, file, requireSound)
        : await backupServer(database, file);
      const report = { file, bytes: statSync(file).size, rows };
      if (isJson) printJson(report, terminal);
      terminal.say(TEXT.backedUp(file, summaryOf(rows)));
      return 0;
    },
  });
}

/** Replaces the database. What was there is kept under a dated name. */
export function restore({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "restore",
    callsNobody: true,
    terminal,
    parse() {
      const { own, config } = splitFlags(flags, ["yes", "json", "no-color"]);
      const file = fileOf(words, terminal);
      return { options: { file, isConfirmed: isOn(own, "yes"), isJson: isOn(own, "json") }, config };
    },
    async run({ file, isConfirmed, isJson }, settings) {
      if (!existsSync(file)) throw new Error(TEXT.fileNotFound(file));
      const { database } = settings;
      const rows = isSqlite(database) ? await examineFile(file) : await examinePostgres(file);
      requireTables(rows, file);
      const question = TEXT.replaceQuestion(file, summaryOf(rows));
      const exitCode = await exitUnlessConfirmed({ question, command: "restore", isConfirmed }, terminal);
      if (exitCode !== null) return exitCode;
      const request = { file, rows, settings, nowMs: terminal.now() };
      const replaced = isSqlite(database) ? await restoreFile(request) : await restoreServer(request);
      if (isJson) printJson({ file, rows, replaced }, terminal);
      terminal.say(TEXT.restored(summaryOf(rows)));
      if (replaced !== null) terminal.say(TEXT.previousDatabase(replaced));
      return 0;
    },
  });
}

function fileOf([word, stray]: readonly string[], { cwd }: Terminal): string {
  if (word === undefined) throw new UsageError(TEXT.backupFileMissing);
  if (stray !== undefined) throw new UsageError(TEXT.unexpectedArgument(stray));
  return resolve(cwd, word);
}

function isSqlite(database: string): boolean {
  return sqlitePathOf(database) !== null;
}

function summaryOf({ accounts = 0, ledger_transactions: transactions = 0 }: RowCounts): string {
  const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
  return `${counted(accounts, "account")}, ${counted(transactions, "ledger transaction")}`;
}

/** Throws unless this version can serve from the database and every amount in it fits. */
async function requireSound(db: Db): Promise<void> {
  const { missing } = await requireKnown(db);
  if (missing.length > 0) throw new Error(TEXT.databaseLacks(missing.join(", "), command("migrate up")));
  const { ok, problems } = await verifyLedger(createLedgerAudit(db), () => verifyAuditLog(db));
  if (!ok) throw new Error(TEXT.ledgerProblems(problems.join("; ")));
}

async function requireKnown(db: Db): Promise<MigrationDifference> {
  const difference = await compareMigrations(db);
  if (difference.foreign.length > 0) throw new Error(TEXT.newerDatabase(difference.foreign.join(", ")));
  return difference;
}

/** A backup of an earlier version is brought up to date when it is restored, and audited then. */
async function requireRestorable(db: Db): Promise<void> {
  const { missing } = await requireKnown(db);
  if (missing.length === 0) await requireSound(db);
}

/** The advice on a damaged database, to restore a backup, is no help with the backup itself. */
async function examineFile(file: string): Promise<RowCounts> {
  try {
    return await examineSqlite(file, requireRestorable);
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
    throw new Error(TEXT.backupDamaged(file, reasonOf(error.cause)));
  }
}

function requireTables(rows: RowCounts, file: string): void {
  if (rows.ledger_transactions === undefined || rows.schema_migrations === undefined)
    throw new Error(TEXT.notBackup(file));
}

async function countTransactions(db: Db): Promise<number> {
  const [row] = await db.query("SELECT COUNT(*) AS count FROM ledger_transactions");
  return Number(row?.count ?? 0);
}

/** The archive itself cannot be audited, so the ledger it is made from is, and the number of transactions is compared. */
async function backupServer(database: string, file: string): Promise<RowCounts> {
  const db = await openDb(database);
  try {
    await requireSound(db);
    const before = await countTransactions(db);
    const rows = await backupPostgres(database, file);
    const written = rows.ledger_transactions ?? 0;
    if (written < before || written > (await countTransactions(db)))
      throw new Error(TEXT.backupDiffers(file, written, before));
    return rows;
  } finally {
    await db.close();
  }
}

interface RestoreRequest {
  readonly file: string;
  readonly rows: RowCounts;
  readonly settings: Settings;
  readonly nowMs: number;
}

async function restoreFile({ file, rows, settings, nowMs }: RestoreRequest): Promise<string | null> {
  const { database } = settings;
  const path = sqlitePathOf(database) as string;
  if (resolve(file) === path) throw new UsageError(TEXT.sameFile);
  // A database that cannot be read is the very reason to restore one.
  const before = existsSync(path) ? await openDb(database, { isReadOnly: true }).then(countAndClose, () => 0) : 0;
  const lost = Math.max(0, before - (rows.ledger_transactions ?? 0));
  return restoreSqlite({
    database,
    backup: file,
    stamp: stampOf(nowMs),
    finish: (db) => settle(db, lost, nowMs),
  });
}

async function countAndClose(db: Db): Promise<number> {
  try {
    return await countTransactions(db).catch(() => 0);
  } finally {
    await db.close();
  }
}

/** Records what was given up, which also begins a new witness, and who restored it; audits what is there now. */
async function settle(db: Db, lostTransactions: number, nowMs: number): Promise<void> {
  await db.migrate();
  const loss = { commits: 0, transactions: lostTransactions };
  await recordLoss(auditedDb(db), { loss, reason: "restored", nowMs });
  await createAuditLog(db).complete();
  await requireSound(db);
}

async function restoreServer({ file, rows, settings, nowMs }: RestoreRequest): Promise<string | null> {
  const { database, dataDir } = settings;
  const db = await openDb(database);
  try {
    const applied = await db.query("SELECT name FROM schema_migrations").catch(() => []);
    if (applied.length > 0 && (await countProcesses(db)) > 0) throw new Error(TEXT.databaseInUse);
    if (applied.length > 0 && applied.length !== rows.schema_migrations) throw new Error(TEXT.otherVersion);
    const before = applied.length > 0 ? await countTransactions(db) : 0;
    const aside = applied.length > 0 ? join(dataDir, `replaced-${stampOf(nowMs)}.dump`) : null;
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if (aside !== null) await backupPostgres(database, aside);
    await restorePostgres(database, file);
    await settle(db, Math.max(0, before - (rows.ledger_transactions ?? 0)), nowMs);
    return aside;
  } finally {
    await db.close();
  }
}

/** 20261115T221530Z */
function stampOf(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
}
