// `switchyard ledger verify`: the audit as a command, fit for a cron job. Exit 0 when everything fits, 1 when not.

import { verifyLedger } from "../billing/verify.ts";
import { createLedgerAudit } from "../store/audit.ts";
import type { Arguments } from "./arguments.ts";
import { withKeyRing } from "./key-ring.ts";
import { loadSettings, printProblems } from "./settings.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import { explainFailure, FAILED, isOn, splitFlags, UsageError } from "./usage.ts";

export async function ledger({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const { own, config } = splitFlags(flags, ["json", "no-color"]);
    if (words[0] !== "verify" || words.length > 1) throw new UsageError("Say what to do: ledger verify.");
    const loaded = loadSettings(config, terminal);
    if (!loaded.ok) return printProblems(loaded, terminal);
    const verdict = await withKeyRing(loaded.settings.database, ({ db }) => verifyLedger(createLedgerAudit(db)));
    if (isOn(own, "json")) terminal.out(`${JSON.stringify(verdict, null, 2)}\n`);
    else {
      for (const problem of verdict.problems) terminal.out(`✗ ${problem}\n`);
      const counted = `${verdict.accounts} wallets, ${verdict.transactions} transactions, ${verdict.openHolds} open holds`;
      terminal.say(verdict.ok ? `✓ The ledger fits: ${counted}.\n` : `✗ The ledger does not fit: ${counted}.\n`);
    }
    return verdict.ok ? 0 : FAILED;
  } catch (error) {
    return explainFailure(error, "ledger", terminal);
  }
}
