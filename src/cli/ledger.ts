// `switchyard ledger verify`: the audit of all amounts, fit for a cron job. Exit 0 when everything adds up, 1 when not.

import { verifyLedger } from "../billing/verify.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import type { Arguments } from "./command/arguments.ts";
import { parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { withStore } from "./command/store.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { FAILED } from "./command/usage.ts";

/** It reads only, so it may run beside a server. */
export function ledger({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "ledger",
    terminal,
    parse() {
      parseSubcommand(words, "ledger", { verify: 0 });
      const { own, config } = splitFlags(flags, ["json", "no-color"]);
      return { options: { isJson: isOn(own, "json") }, config };
    },
    async run({ isJson }, { database }) {
      const verdict = await withStore(database, ({ db }) => verifyLedger(createLedgerAudit(db)));
      if (isJson) printJson(verdict, terminal);
      else {
        for (const problem of verdict.problems) terminal.out(`✗ ${problem}\n`);
        const counted = `${verdict.accounts} wallets, ${verdict.transactions} transactions, ${verdict.openHolds} open holds`;
        terminal.say(verdict.ok ? `✓ The ledger fits: ${counted}.\n` : `✗ The ledger does not fit: ${counted}.\n`);
      }
      return verdict.ok ? 0 : FAILED;
    },
  });
}
