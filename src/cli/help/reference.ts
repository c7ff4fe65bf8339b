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

const INTRODUCTION = `\`npx switchyard COMMAND\` in a checkout, \`switchyard COMMAND\` where it is installed or in the image. Without a command it serves. \`switchyard help\` and \`switchyard help COMMAND\` print what stands here.

Commands work on the store that the configuration names, beside a running server or without one; a server on the same store sees new keys, profiles and credits within seconds. Anyone who can open the store needs no password for it.`;

const RULES = `## What holds for all of them

- Data goes to standard output, words for people to standard error. \`--json\` prints data for programs, in the shapes of \`/api\`.
- Exit codes: 0 fine, 1 failed, 2 wrong usage, 78 the configuration has problems.
- What cannot be undone asks first. Where nobody can be asked (no terminal) it does nothing and says so, unless \`--yes\` is given.
- Colour only on a terminal, and not with \`NO_COLOR\` or \`--no-color\`.
- Secrets belong in variables, in files (\`…_FILE\`) or in the configuration, not in arguments, which everybody on the machine can see: no command has a flag for a key or a password, and an address with a password after \`--database\` or \`--redis\` is warned of.
- \`--name value\` and \`--name=value\` are the same; after \`--\` everything is a word.
- The flags of the [configuration](configuration.md) (\`--config\`, \`--database\`, \`--data\`, …) work with every command.`;
