// `switchyard ledger verify | accept-loss`: the audit of all amounts, fit for a cron job, and the decision to go on with a
// SQLite file that lost commits. Exit 0 when everything adds up, 1 when not.

import { verifyLedger } from "../billing/verify.ts";
import { command } from "../config/package.ts";
import type { LedgerVerdict } from "../core/audit/ledger.ts";
import { StoreBehind, type StoreLoss } from "../core/store-errors.ts";
import { createAuditLog, verifyAuditLog } from "../store/audit/log.ts";
import { auditedDb } from "../store/audit/scope.ts";
import { openDb } from "../store/db.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import { recordLoss } from "../store/ledger/losses.ts";
import type { Arguments } from "./command/arguments.ts";
import { exitUnlessConfirmed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { withStore } from "./command/store.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED } from "./command/usage.ts";

/** `verify` reads only, so it may run beside a server. */
export function ledger({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "ledger",
    callsNobody: true,
    terminal,
    parse() {
      const [kind] = parseSubcommand(words, "ledger", { verify: 0, "accept-loss": 0 });
      const { own, config } = splitFlags(flags, ["json", "no-color", ...(kind === "verify" ? [] : ["yes"])]);
      return { options: { kind, isJson: isOn(own, "json"), isConfirmed: isOn(own, "yes") }, config };
    },
    run: (options, { database }) =>
      options.kind === "verify" ? verify(database, options, terminal) : acceptLoss(database, options, terminal),
  });
}

interface LedgerOptions {
  readonly isJson: boolean;
  readonly isConfirmed: boolean;
}

async function verify(database: string, { isJson }: LedgerOptions, terminal: Terminal): Promise<number> {
  const verdict = await withStore(database, ({ db }) =>
    verifyLedger(createLedgerAudit(db), () => verifyAuditLog(db)),
  ).catch(verdictOfLoss);
  if (isJson) printJson(verdict, terminal);
  else {
    for (const problem of verdict.problems) terminal.out(`✗ ${problem}\n`);
    const { accounts, transactions, openHolds, auditEntries } = verdict;
    const counted = TEXT.ledgerCounts(accounts, transactions, openHolds, auditEntries);
    terminal.say(verdict.ok ? TEXT.ledgerConsistent(counted) : TEXT.ledgerInconsistent(counted));
  }
  return verdict.ok ? 0 : FAILED;
}

/** A file that lost commits is not opened, since that would tidy its log away. The loss is the finding. */
function verdictOfLoss(error: unknown): LedgerVerdict {
  if (!(error instanceof StoreBehind)) throw error;
  return { ok: false, accounts: 0, transactions: 0, openHolds: 0, auditEntries: 0, problems: [error.advice] };
}

/** Only while no gateway serves from the file. The loss is recorded in the database. */
async function acceptLoss(
  database: string,
  { isJson, isConfirmed }: LedgerOptions,
  terminal: Terminal,
): Promise<number> {
  const loss = await findLoss(database);
  if (loss === null) {
    if (isJson) printJson({ commits: 0, transactions: 0 }, terminal);
    terminal.say(TEXT.nothingMissing);
    return 0;
  }
  const { commits, transactions, isForeign } = loss;
  const missing = isForeign ? TEXT.otherHistory : TEXT.commitsLost(commits, transactions);
  const question = TEXT.lossQuestion(missing);
  const exitCode = await exitUnlessConfirmed({ question, command: "ledger accept-loss", isConfirmed }, terminal);
  if (exitCode !== null) return exitCode;
  const db = await openDb(database, { exclusive: true, acceptsLoss: true });
  try {
    await db.migrate();
    await recordLoss(auditedDb(db), { loss, reason: "accepted", nowMs: terminal.now() });
    await createAuditLog(db).complete();
  } finally {
    await db.close();
  }
  if (isJson) printJson({ commits, transactions }, terminal);
  terminal.say(TEXT.lossRecorded(command("ledger verify")));
  return 0;
}

async function findLoss(database: string): Promise<StoreLoss | null> {
  try {
    await (await openDb(database, { exclusive: true })).close();
    return null;
  } catch (error) {
    if (error instanceof StoreBehind) return error.loss;
    throw error;
  }
}
