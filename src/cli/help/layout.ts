// Layout of help pages, on a screen and as Markdown in docs/reference/cli.md.

import { plainHelp, valueWord } from "../../core/requests/control-text.ts";
import type { NamedControl } from "../../core/requests/controls.ts";
import { formatTable } from "../command/table.ts";

type Rows = readonly (readonly string[])[];

/** The help of one command. */
export interface HelpPage {
  /** One line for the list of commands. */
  readonly summary: string;
  readonly about: string;
  readonly examples: readonly string[];
  /** A row that starts with spaces belongs to the one above it. */
  readonly tables: readonly (readonly [title: string, rows: Rows])[];
  readonly notes?: readonly string[];
}

const JSON_ROW = ["--json", "For programs"];

/** The flags that every subcommand has: these rows, then --json. */
export function flagsOfAll(...rows: Rows): HelpPage["tables"][number] {
  return ["Flags of all", [...rows, JSON_ROW]];
}

/** The flags of a command without subcommands: these rows, then --json. */
export function flags(...rows: Rows): HelpPage["tables"][number] {
  return ["Flags", [...rows, JSON_ROW]];
}

/** The flags of routing controls. */
export function controlRows(controls: readonly NamedControl[], indent = ""): readonly (readonly [string, string])[] {
  return controls.flatMap((control) =>
    control.flag === undefined
      ? []
      : [[`${indent}--${control.flag} ${valueWord(control)}`, plainHelp(control).replace(/\.$/, "")] as const],
  );
}

const CONFIGURATION = "Configuration flags (--config, --database, …) work here too: switchyard help";

const EXIT_CODES = [
  ["0", "Fine"],
  ["1", "Failed"],
  ["2", "Usage error"],
  ["78", "The configuration has problems"],
];

/** A page as `switchyard help COMMAND` prints it. */
export function formatPage(name: string, page: HelpPage): string {
  const { about, examples, tables, notes = [] } = page;
  return formatSections([
    ["", `switchyard ${name}: ${about}`],
    ["Examples", examples.join("\n")],
    ...tables.map(([title, rows]): Section => [title, formatTable(rows)]),
    ...[...notes, CONFIGURATION].map((note): Section => ["", note]),
    ["Exit codes", formatTable(EXIT_CODES)],
  ]);
}

/** A part of a page; without a title it is a paragraph. */
type Section = readonly [title: string, text: string];

export function formatSections(sections: readonly Section[]): string {
  const parts = sections.map(([title, text]) => (title === "" ? wrap(text) : `${title}\n${indent(text.trimEnd())}`));
  return `${parts.join("\n\n")}\n`;
}

export function exitCodes(): Section {
  return ["Exit codes", formatTable(EXIT_CODES)];
}

/** Wide terminals are common; longer lines are hard to read. */
const WIDTH = 120;

function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** A page as a section of docs/reference/cli.md. */
export function pageInMarkdown(name: string, { about, examples, tables, notes = [] }: HelpPage): string {
  const written = tables.map(([title, rows]) =>
    [`| ${title.toLowerCase()} | |`, "|---|---|", ...rows.map(rowInMarkdown)].join("\n"),
  );
  return [
    `## \`switchyard ${name}\``,
    `${about.charAt(0).toUpperCase()}${about.slice(1)}`,
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
    ...written,
    ...notes,
  ].join("\n\n");
}

/** A row that belongs to the one above it begins with a dot. */
function rowInMarkdown(row: readonly string[]): string {
  const [what = "", ...meaning] = row;
  const shown = `${what.startsWith(" ") ? "· " : ""}\`${what.trim()}\``;
  return `| ${shown} | ${meaning
    .filter((cell) => cell !== "")
    .join(" · ")
    .replaceAll("|", "\\|")} |`;
}
