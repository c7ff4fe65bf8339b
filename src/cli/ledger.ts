// `switchyard ledger verify`: the audit as a command, fit for a cron job. Exit 0 when everything fits, 1 when not.

import { verifyLedger } from "../billing/verify.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import type { Arguments } from "./command/arguments.ts";
import { perform, printJson, readSubcommand } from "./command/command.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { FAILED, isOn, splitFlags } from "./command/usage.ts";
import { withKeyRing } from "./keys/key-store.ts";

export function ledger({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    name: "ledger",
    terminal,
    read() {
      readSubcommand(words, "ledger", { verify: 0 });
      const { own, config } = splitFlags(flags, ["json", "no-color"]);
      return { order: { isJson: isOn(own, "json") }, config };
    },
    async carryOut({ isJson }, { database }) {
      const verdict = await withKeyRing(database, ({ db }) => verifyLedger(createLedgerAudit(db)));
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
