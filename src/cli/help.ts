// What the program says of itself: help that leads with examples, and its version.

import { optionRows } from "../config/options.ts";
import { readPackage } from "../config/package.ts";
import type { Arguments } from "./arguments.ts";
import { demoPage } from "./help-demo.ts";
import { keysPage } from "./help-keys.ts";
import { migratePage } from "./help-migrate.ts";
import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { modelsPage, profilesPage, routePage } from "./help-routing.ts";
import { usersPage } from "./help-users.ts";
import { formatTable } from "./table.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import { unknown, WRONG_USAGE } from "./usage.ts";

export const VERSION = readPackage().version;

export async function version({ flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  const told = { version: VERSION, node: process.versions.node };
  terminal.out(flags.json === undefined ? `switchyard ${VERSION}\n` : `${JSON.stringify(told, null, 2)}\n`);
  return 0;
}

/** `help`, `help COMMAND` and `COMMAND --help`. */
export async function help({ command, words }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  const topic = command === "help" ? words[0] : command;
  if (topic === undefined || Object.hasOwn(SUMMARIES, topic)) {
    terminal.out(PAGES[topic ?? ""]?.() ?? mainPage());
    return 0;
  }
  const { message } = unknown({ what: "command", word: topic, known: Object.keys(SUMMARIES) });
  terminal.say(`${message} See: switchyard help\n`);
  return WRONG_USAGE;
}

/** One line for each command there is. */
export const SUMMARIES: Readonly<Record<string, string>> = {
  serve: "Start the gateway; also what happens without a command",
  keys: "Make, list, change, rotate and revoke API keys",
  profiles: "Make, list, change and delete routing profiles",
  models: "List models with prices and scores: models list",
  route: 'Show the decision a prompt would get: route "What is 2+2?"',
  users: "List who may sign in, and make a link for a new password: users reset EMAIL",
  credits: "Add credits, and see balance and ledger",
  ledger: "Check that every amount fits: ledger verify",
  demo: "Fill a fresh database with a month of made-up traffic, to see the dashboard alive",
  migrate: "See what the database lacks, and bring it up to date: migrate status, migrate up",
  doctor: "Check configuration, database, port and providers, and say what to mend",
  version: "Print the version",
  help: "Print this, or the page of a command: switchyard help keys",
};

const PAGES: Readonly<Record<string, () => string>> = {
  keys: keysPage,
  profiles: profilesPage,
  models: modelsPage,
  route: routePage,
  credits: creditsPage,
  ledger: ledgerPage,
  demo: demoPage,
  doctor: doctorPage,
  users: usersPage,
  migrate: migratePage,
};

function mainPage(): string {
  return page([
    ["", `switchyard ${VERSION}: one address that sends each request to the cheapest model that is good enough.`],
    [
      "Examples",
      lines([
        "switchyard                          start on http://127.0.0.1:8787, data in ./data",
        "OPENAI_API_KEY=… switchyard         the same, with a real provider",
        "switchyard serve --port 9000        on another port",
        "switchyard keys create --name app   make an API key",
        'switchyard route "What is 2+2?"       see the decision, free of charge',
        "switchyard doctor                   see what is missing",
      ]),
    ],
    ["Commands", indent(formatTable(Object.entries(SUMMARIES)))],
    ["Configuration, for serve, keys and doctor", indent(formatTable(configurationRows()))],
    ["", "A flag wins over its variable, and that over switchyard.yaml. docs/configuration.md has every setting."],
    EXIT_CODES,
  ]);
}

function creditsPage(): string {
  return page([
    [
      "",
      "switchyard credits: money in, corrections, balance and ledger. A running server sees it with its next request.",
    ],
    [
      "Examples",
      lines([
        'switchyard credits add 25 --note "January"',
        "switchyard credits add 25 --idempotency-key invoice-1234",
        'switchyard credits adjust -2.50 --note "paid twice"',
        "switchyard credits balance --json",
        "switchyard credits ledger --account acc_0123",
      ]),
    ],
    [
      "Subcommands",
      indent(
        formatTable([
          ["add AMOUNT", "Put USD into the account: decimal text such as 25 or 0.50"],
          ["adjust AMOUNT", "Correct the balance by AMOUNT, which may be negative"],
          ["  --note TEXT", "What it was for"],
          ["  --idempotency-key KEY", "Twice with one key is done once"],
          ["balance", "What is posted, on hold and available"],
          ["ledger", "What was booked last, newest first"],
        ]),
      ),
    ],
    [
      "Flags of all four",
      indent(
        formatTable([
          ["--account ID", "Whose credits: default when left out"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}

function ledgerPage(): string {
  return page([
    [
      "",
      "switchyard ledger verify: computes every wallet from its entries and every charge from its tokens and prices.",
    ],
    ["Examples", lines(["switchyard ledger verify", "switchyard ledger verify --json"])],
    ["Flags", indent(formatTable([["--json", "For programs"]]))],
    [
      "",
      "Exit code 1 when something does not fit: the first rows that do not are named. It locks nothing and may run beside\na server, from cron say.",
    ],
    ["", "Configuration flags (--config, --database, …) work here too: switchyard help"],
    EXIT_CODES,
  ]);
}

function doctorPage(): string {
  return page([
    [
      "",
      "switchyard doctor: checks the configuration, Node, the data folder, the disk, the database, Redis, the port, the\ndashboard's files and the providers.",
    ],
    [
      "Examples",
      lines([
        "switchyard doctor",
        "switchyard doctor --test",
        "switchyard doctor --config staging.yaml",
        "switchyard doctor --json",
      ]),
    ],
    [
      "Flags",
      indent(
        formatTable([
          ["--test", "Ask each provider for one tiny answer; the provider charges for it, a fraction of a cent"],
          ["--json", "For programs"],
          ["--no-color", "No colour, as with NO_COLOR set"],
        ]),
      ),
    ],
    [
      "",
      "Without --test providers are connected to and asked nothing: it costs nothing. Configuration flags work here too.",
    ],
    EXIT_CODES,
  ]);
}

function configurationRows(): readonly (readonly string[])[] {
  return optionRows().flatMap(({ flag, env, help: meaning, shownDefault }) => {
    if (flag === null) return [];
    return [[`--${flag}`, env ?? "", `${meaning.replace(/\.$/, "")} (${shownDefault})`]];
  });
}
