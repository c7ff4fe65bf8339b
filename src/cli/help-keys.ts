// The page of help on keys.

import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { formatTable } from "./table.ts";

export function keysPage(): string {
  return page([
    ["", "switchyard keys: make, list, change, rotate and revoke API keys. A running server sees it within seconds."],
    [
      "Examples",
      lines([
        "switchyard keys create --name app",
        "switchyard keys create --name trial --expires 90d --rpm 60",
        "KEY=$(switchyard keys create --name ci)",
        "switchyard keys list --json",
        "switchyard keys set key_0123 --profile none --rpm 120",
        "switchyard keys rotate key_0123 --grace 7d",
        "switchyard keys revoke key_0123 --yes",
      ]),
    ],
    [
      "Subcommands",
      indent(
        formatTable([
          ["create --name NAME", "Make a key and print it, this once"],
          ["  --profile ID", "Route its requests by this profile"],
          ["  --rpm N", "Requests per minute it may make"],
          ["  --expires WHEN", "90d, 12h, 2w, 1y, or a date such as 2030-01-31"],
          ["list", "All keys, newest first"],
          ["set ID", "Change --name, --profile, --rpm or --expires; none takes one away"],
          ["rotate ID", "Make a key in its place and print it, this once"],
          ["  --grace TIME", "How long the old one still works: 0, 1h, 7d (24h)"],
          ["revoke ID", "End a key for good; --yes to not be asked"],
        ]),
      ),
    ],
    [
      "Flags of all",
      indent(
        formatTable([
          ["--account ID", "Whose keys: default for create, all accounts for the others"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}
