// The pages of help on what is kept: credits, the ledger, the demo and migrations.

import { flags, flagsOfAll, type HelpPage } from "./page.ts";

export const creditsPage: HelpPage = {
  summary: "Add credits, and see balance and ledger",
  about: "money in, corrections, balance and ledger. A running server sees it with its next request.",
  examples: [
    'switchyard credits add 25 --note "January"',
    "switchyard credits add 25 --idempotency-key invoice-1234",
    'switchyard credits adjust -2.50 --note "paid twice"',
    "switchyard credits balance --json",
    "switchyard credits ledger --account acc_0123",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["add AMOUNT", "Put USD into the account: decimal text such as 25 or 0.50"],
        ["adjust AMOUNT", "Correct the balance by AMOUNT, which may be negative"],
        ["  --note TEXT", "What it was for"],
        ["  --idempotency-key KEY", "Twice with one key is done once"],
        ["balance", "What is posted, on hold and available"],
        ["ledger", "What was booked last, newest first"],
      ],
    ],
    flagsOfAll(["--account ID", "Whose credits: default when left out"]),
  ],
};

export const ledgerPage: HelpPage = {
  summary: "Check that every amount fits: ledger verify",
  about: "ledger verify computes every wallet from its entries and every charge from its tokens and prices.",
  examples: ["switchyard ledger verify", "switchyard ledger verify --json"],
  tables: [flags()],
  notes: [
    "Exit code 1 when something does not fit: the first rows that do not are named. It locks nothing and may run beside a server, from cron say.",
  ],
};

export const demoPage: HelpPage = {
  summary: "Fill a fresh database with a month of made-up traffic, to see the dashboard alive",
  about:
    "fills a fresh database with made-up traffic, so that the dashboard has something to show. Every request is decided by the real router; no provider is called and the credits are play money.",
  examples: [
    "switchyard demo --database sqlite:demo.db",
    "switchyard serve --database sqlite:demo.db",
    "switchyard demo --requests 100000 --days 7 --database sqlite:demo.db",
  ],
  tables: [
    flags(
      ["--requests N", "How many (5000), at most 10000000"],
      ["--days N", "Spread over so many days up to now (30)"],
      ["--seed N", "Another number makes up other traffic (1)"],
      ["--yes", "Also where there are requests already"],
    ),
  ],
  notes: [
    'The newest 30,000 requests are charged one by one, at about the time they were made; the rest is one correction a month, "demo: older traffic". Only the demo may choose the time of a booking. Use a database of its own: what is booked stays booked.',
  ],
};

export const migratePage: HelpPage = {
  summary: "See what the database lacks, and bring it up to date: migrate status, migrate up",
  about: "whether the database has the shape this version needs. A start brings it up to date, too.",
  examples: ["switchyard migrate status", "switchyard migrate up", "switchyard migrate status --json"],
  tables: [
    [
      "Subcommands",
      [
        ["status", "What is missing; exit code 1 when something is, or when a newer version made the database"],
        ["up", "Apply what is missing, in order"],
      ],
    ],
    flagsOfAll(),
  ],
};
