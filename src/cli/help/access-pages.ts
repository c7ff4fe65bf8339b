// The help pages of users, of the audit log and of sign-in.

import { flagsOfAll, type HelpPage } from "./layout.ts";

export const ACCESS_PAGES: Readonly<Record<string, HelpPage>> = {
  users: {
    summary: "List users and create password reset links: users reset EMAIL",
    about: "dashboard users, and reset links for forgotten passwords.",
    examples: [
      "switchyard users list",
      "switchyard users reset ada@example.com",
      "switchyard users reset ada@example.com --url https://gateway.example.com",
    ],
    tables: [
      [
        "Subcommands",
        [
          ["list", "Everyone who may sign in"],
          ["reset EMAIL", "Create a link for a new password: works once, for a day"],
          ["  --url URL", "Where people reach the gateway, when that is not where it listens"],
        ],
      ],
      flagsOfAll(),
    ],
    notes: ["It works on the store, with or without a running server. Anyone who can run it needs no password."],
  },
  audit: {
    summary: "Who changed what: audit list",
    about: "the audit log: every change by people, tokens, commands and price feeds, and every sign-in.",
    examples: ["switchyard audit list --actor ada@example.com", "switchyard audit export > audit.ndjson"],
    tables: [
      [
        "Subcommands",
        [
          ["list", "The newest 50 entries"],
          ["export", "All entries, as one JSON object a line"],
          ["  --actor TEXT", "A part of the e-mail or name of the one who did it"],
          ["  --action TEXT", "A part of the action, such as Key"],
          ["  --object TEXT", "A part of the object, such as keys/"],
        ],
      ],
      flagsOfAll(),
    ],
    notes: ["switchyard ledger verify also checks that no entry was changed or taken away."],
  },
  login: {
    summary: "Get a token of the gateway's identity provider for a program on this machine",
    about: "signs in by the device flow and prints a token, which programs send instead of an API key.",
    examples: [
      "switchyard login --url https://gateway.example.com",
      "ANTHROPIC_AUTH_TOKEN=$(switchyard login --url https://gateway.example.com)",
    ],
    tables: [
      [
        "Flags",
        [
          ["--url URL", "Where the gateway is"],
          ["--provider ID", "Which identity provider, where the gateway has several"],
        ],
      ],
    ],
    notes: [
      "Only the token goes to standard output. It is kept in ~/.config/switchyard/tokens.json, printed again while it lasts, and renewed without asking where the identity provider allows it.",
      "Claude Code takes it as apiKeyHelper in its settings. Sign in once in a terminal before.",
    ],
  },
};
