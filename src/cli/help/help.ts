// `switchyard help` and `switchyard version`. Help leads with examples.

import { optionRows } from "../../config/options/table.ts";
import { command, readPackage } from "../../config/package.ts";
import type { Arguments } from "../command/arguments.ts";
import { printJson } from "../command/command.ts";
import { isOn, splitFlags } from "../command/flags.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { explainFailure, UsageError, unknown, WRONG_USAGE } from "../command/usage.ts";
import { exitCodes, formatPage, formatSections } from "./layout.ts";
import { PAGES } from "./pages.ts";

export const VERSION = readPackage().version;

/** `version`, and `--version` after any command. */
export async function version({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    if (flags.version === undefined) {
      splitFlags(flags, ["json", "no-color"]);
      if (words[0] !== undefined) throw new UsageError(`Unexpected argument '${words[0]}'.`);
    }
    if (isOn(flags, "json")) printJson({ version: VERSION, node: process.versions.node }, terminal);
    else terminal.out(`switchyard ${VERSION}\n`);
    return 0;
  } catch (error) {
    return explainFailure(error, "version", terminal);
  }
}

/** `help`, `help COMMAND` and `COMMAND --help`. */
export async function help({ command: name, words }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  const topic = name === "help" ? words[0] : name;
  if (topic === undefined || Object.hasOwn(SUMMARIES, topic)) {
    const page = PAGES[topic ?? ""];
    terminal.out(page === undefined ? mainPage() : formatPage(topic ?? "", page));
    return 0;
  }
  const { message } = unknown({ what: "command", word: topic, known: Object.keys(SUMMARIES) });
  terminal.say(`${message} See: ${command("help")}\n`);
  return WRONG_USAGE;
}

/** One line for each command. */
export const SUMMARIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(PAGES).map(([name, { summary }]) => [name, summary])),
  version: "Print the version",
  help: "Print this, or the page of a command: switchyard help keys",
};

/** `switchyard help`: examples first, then commands and flags. */
function mainPage(): string {
  const examples = [
    ["switchyard", "start on http://127.0.0.1:8787, data in ./data"],
    ["OPENAI_API_KEY=… switchyard", "the same, with a real provider"],
    ["switchyard serve --port 9000", "on another port"],
    ["switchyard keys create --name app", "create an API key"],
    ['switchyard route "What is 2+2?"', "preview the routing decision, free"],
    ["switchyard doctor", "check the setup"],
  ];
  return formatSections([
    ["", `switchyard ${VERSION}: a gateway that sends each request to the cheapest model that can handle it.`],
    ["Examples", formatTable(examples)],
    ["Commands", formatTable(Object.entries(SUMMARIES))],
    ["Configuration, for every command", formatTable(configurationRows())],
    [
      "",
      "A flag wins over its variable, and that over switchyard.yaml. docs/reference/configuration.md has every setting.",
    ],
    exitCodes(),
  ]);
}

/** The options of the configuration that have a flag. */
function configurationRows(): readonly (readonly string[])[] {
  return optionRows().flatMap(({ flag, env, help: meaning, shownDefault }) => {
    if (flag === null) return [];
    return [[`--${flag}`, env ?? "", `${meaning.replace(/\.$/, "")} (${shownDefault})`]];
  });
}
