// The pages of help on who gets in: keys and users.

import { flagsOfAll, type HelpPage } from "./page.ts";

export const keysPage: HelpPage = {
  summary: "Make, list, change, rotate and revoke API keys",
  about: "make, list, change, rotate and revoke API keys. A running server sees it within seconds.",
  examples: [
    "switchyard keys create --name app",
    "switchyard keys create --name trial --expires 90d --rpm 60 --spend-limit 5",
    "KEY=$(switchyard keys create --name ci)",
    "switchyard keys list --json",
    "switchyard keys set key_0123 --profile none --rpm 120",
    "switchyard keys set key_0123 --spend-limit 20 --spend-reset monthly",
    "switchyard keys rotate key_0123 --grace 7d",
    "switchyard keys revoke key_0123 --yes",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["create --name NAME", "Make a key and print it, this once"],
        ["  --profile NAME", "Route its requests by this profile, by name or id"],
        ["  --rpm N", "Requests per minute it may make"],
        ["  --spend-limit USD", "What it may spend, in all or from reset to reset"],
        ["  --spend-reset WHEN", "never, daily, weekly (Monday) or monthly, at 00:00 UTC"],
        ["  --expires WHEN", "90d, 12h, 2w, 1y, or a date such as 2030-01-31"],
        ["list", "All keys, newest first"],
        ["set ID", "Change any of these; none takes one away"],
        ["reset-spend ID", "Count what it has spent from nothing again, now"],
        ["rotate ID", "Make a key in its place and print it, this once"],
        ["  --grace TIME", "How long the old one still works: 0, 1h, 7d (24h)"],
        ["revoke ID", "End a key for good; --yes to not be asked"],
      ],
    ],
    flagsOfAll(["--account ID", "Whose keys: default for create, all accounts for the others"]),
  ],
};

export const usersPage: HelpPage = {
  summary: "List who may sign in, and make a link for a new password: users reset EMAIL",
  about: "who may sign in to the dashboard, and a way back in for somebody who forgot the password.",
  examples: [
    "switchyard users list",
    "switchyard users reset ada@example.com",
    "switchyard users reset ada@example.com --url https://gateway.example.com",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["list", "Everybody who may sign in"],
        ["reset EMAIL", "Make a link where they choose a new password: works once, for a day"],
        ["  --url URL", "Where people reach the gateway, when that is not where it listens"],
      ],
    ],
    flagsOfAll(),
  ],
  notes: ["It works on the store, beside a running server or without one: who can run it needs no password."],
};
