// The page of help on migrations.

import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { formatTable } from "./table.ts";

export function migratePage(): string {
  return page([
    [
      "",
      "switchyard migrate: whether the database has the shape this version needs. A start brings it up to date, too.",
    ],
    ["Examples", lines(["switchyard migrate status", "switchyard migrate up", "switchyard migrate status --json"])],
    [
      "Subcommands",
      indent(
        formatTable([
          ["status", "What is missing; exit code 1 when something is, or when a newer version made the database"],
          ["up", "Apply what is missing, in order"],
        ]),
      ),
    ],
    ["Flags of both", indent(formatTable([["--json", "For programs"]]))],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}
