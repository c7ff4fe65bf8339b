// The page of help on users.

import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { formatTable } from "./table.ts";

export function usersPage(): string {
  return page([
    ["", "switchyard users: who may sign in to the dashboard, and a way back in for somebody who forgot the password."],
    [
      "Examples",
      lines([
        "switchyard users list",
        "switchyard users reset ada@example.com",
        "switchyard users reset ada@example.com --url https://gateway.example.com",
      ]),
    ],
    [
      "Subcommands",
      indent(
        formatTable([
          ["list", "Everybody who may sign in"],
          ["reset EMAIL", "Make a link where they choose a new password: works once, for a day"],
          ["  --url URL", "Where people reach the gateway, when that is not where it listens"],
        ]),
      ),
    ],
    ["Flags of both", indent(formatTable([["--json", "For programs"]]))],
    ["", "It works on the store, beside a running server or without one: who can run it needs no password."],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}
