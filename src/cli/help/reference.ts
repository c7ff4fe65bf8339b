// docs/reference/cli.md, rendered from the help pages (npm run docs).

import { SUMMARIES } from "./help.ts";
import { pageInMarkdown } from "./layout.ts";
import { PAGES } from "./pages.ts";

/** The text of docs/reference/cli.md. */
export function commandLinePage(): string {
  const commands = Object.entries(SUMMARIES).map(([name, summary]) => `| \`${name}\` | ${summary} |`);
  return [
    "# Command line",
    INTRODUCTION,
    ["| command | what it does |", "|---|---|", ...commands].join("\n"),
    RULES,
    ...Object.entries(PAGES).map(([name, page]) => pageInMarkdown(name, page)),
    "",
  ].join("\n\n");
}

const INTRODUCTION = `The \`switchyard\` command starts the gateway and manages keys, profiles and credits. In a clone, type \`npm start -- COMMAND\`. Without a command it serves. \`switchyard help\` and \`switchyard help COMMAND\` print the text of this page.

Commands use the store that the configuration names, with or without a running server. A running server sees new keys, profiles and credits within seconds. Anyone who can open the store needs no password.`;

const RULES = `## Rules for all commands

- Data goes to standard output, messages to standard error. \`--json\` prints data for programs, in the shapes of \`/api\`.
- Exit codes: 0 success, 1 failure, 2 wrong usage, 78 configuration errors.
- Commands ask before they do something that cannot be undone. Without a terminal they refuse, unless you pass \`--yes\`.
- Output has colour only on a terminal. \`NO_COLOR\` and \`--no-color\` turn it off.
- No command has a flag for a key or a password, because everybody on the machine can see arguments. Use variables, files (\`…_FILE\`) or the configuration. A password in \`--database\` or \`--redis\` prints a warning.
- \`--name value\` and \`--name=value\` are the same. After \`--\` nothing is a flag.
- The flags of the [configuration](configuration.md) (\`--config\`, \`--database\`, \`--data\`, …) work with every command.`;
