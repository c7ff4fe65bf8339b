// The page of help on the demo.

import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { formatTable } from "./table.ts";

export function demoPage(): string {
  return page([
    [
      "",
      "switchyard demo: fills a fresh database with made-up traffic, so that the dashboard has something to show. Every\nrequest is decided by the real router; no provider is called and the credits are play money.",
    ],
    [
      "Examples",
      lines([
        "switchyard demo --database sqlite:demo.db",
        "switchyard serve --database sqlite:demo.db",
        "switchyard demo --requests 100000 --days 7 --database sqlite:demo.db",
      ]),
    ],
    [
      "Flags",
      indent(
        formatTable([
          ["--requests N", "How many (5000), at most 10000000"],
          ["--days N", "Spread over so many days up to now (30)"],
          ["--seed N", "Another number makes up other traffic (1)"],
          ["--yes", "Also where there are requests already"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    [
      "",
      'The newest 2,000 requests are charged one by one. The ledger writes its own time, so it shows today for all of them,\nand one correction, "demo: older traffic", for the rest. Use a database of its own: what is booked stays booked.',
    ],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}
