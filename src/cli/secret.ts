// `switchyard secret replace`: gives a database another secret on purpose, while no gateway uses it.

import type { Settings } from "../config/settings.ts";
import { createAuditLog } from "../store/audit/log.ts";
import { auditedDb } from "../store/audit/scope.ts";
import { openDb } from "../store/db.ts";
import { countProcesses } from "../store/ledger/processes.ts";
import { fingerprintOf } from "../store/secret/seal.ts";
import { openSecret, readFingerprint, replaceFingerprint } from "../store/secret/secret.ts";
import type { Arguments } from "./command/arguments.ts";
import { exitUnlessConfirmed, parseSubcommand, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";

/** Exit 0 if the database has the secret of these settings afterwards. */
export function secret({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    name: "secret",
    callsNobody: true,
    terminal,
    parse() {
      parseSubcommand(words, "secret", { replace: 0 });
      const { own, config } = splitFlags(flags, ["yes", "no-color"]);
      return { options: { isConfirmed: isOn(own, "yes") }, config };
    },
    run: ({ isConfirmed }, settings) => replace(settings, isConfirmed, terminal),
  });
}

async function replace(settings: Settings, isConfirmed: boolean, terminal: Terminal): Promise<number> {
  const db = await openDb(settings.database, { exclusive: true });
  try {
    await db.migrate();
    // A gateway that runs would go on sealing with the old secret. Only one may own a SQLite file anyway.
    if (db.kind === "postgres" && (await countProcesses(db)) > 0) throw new Error(TEXT.databaseInUse);
    const bytes = openSecret(settings);
    const noted = await readFingerprint(db);
    if (noted === null || noted === fingerprintOf(bytes)) {
      terminal.say(TEXT.secretFits);
      return 0;
    }
    const wanted = { question: TEXT.secretQuestion, command: "secret replace", isConfirmed };
    const exitCode = await exitUnlessConfirmed(wanted, terminal);
    if (exitCode !== null) return exitCode;
    await replaceFingerprint(auditedDb(db), bytes);
    await createAuditLog(db).complete();
    terminal.say(TEXT.secretReplaced);
    return 0;
  } finally {
    await db.close();
  }
}
