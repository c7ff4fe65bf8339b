// Help pages name every command and every flag.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readArguments } from "../../../../src/cli/command/arguments.ts";
import { help, SUMMARIES, VERSION, version } from "../../../../src/cli/help/help.ts";
import { PAGES } from "../../../../src/cli/help/pages.ts";
import { commandLinePage } from "../../../../src/cli/help/reference.ts";
import { optionRows } from "../../../../src/config/options/table.ts";
import { COMMANDS } from "../../../../src/main.ts";
import { recordTerminal } from "../../../support/gateway/terminal.ts";

test("the list of commands is the command table", () => {
  expect(Object.keys(SUMMARIES)).toEqual(Object.keys(COMMANDS));
});

test("the main page leads with examples and has commands, flags and exit codes", async () => {
  const page = await pageOf("help");
  expect(page.indexOf("Examples")).toBeLessThan(page.indexOf("Commands"));
  for (const [name, summary] of Object.entries(SUMMARIES))
    expect(page).toMatch(new RegExp(`^  ${name} +${literally(summary)}$`, "m"));
  for (const { flag, env } of optionRows()) {
    if (flag !== null) expect(page).toMatch(new RegExp(`^  --${flag} +${env}`, "m"));
  }
  for (const code of ["0", "1", "2", "78"]) expect(page).toMatch(new RegExp(`^  ${code} +\\S`, "m"));
});

test.each([
  ["help keys", "keys --help"],
  ["help credits", "credits --help"],
  ["help ledger", "ledger -h"],
  ["help demo", "demo --help"],
  ["help doctor", "doctor -h"],
  ["help serve", "serve --help"],
])("%s and %s are the same page", async (first, second) => {
  const page = await pageOf(first);
  expect(page).toContain("Examples");
  expect(page).not.toBe(await pageOf("help"));
  expect(await pageOf(second)).toBe(page);
});

test.each(["--help", "-h", "help version", "help help"])("%s is the main page", async (line) => {
  expect(await pageOf(line)).toBe(await pageOf("help"));
});

test.each([
  ["help kyes", "Did you mean 'keys'?"],
  ["help constructor", "Unknown command 'constructor'."],
])("%s is wrong usage", async (line, words) => {
  const terminal = recordTerminal();
  expect(await help(readArguments(line.split(" ")), terminal)).toBe(2);
  expect(terminal.takeSaid()).toContain(words);
  expect(terminal.takeOut()).toBe("");
});

test("the version is the package's", async () => {
  const { version: written } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../../package.json"), "utf8"));
  const terminal = recordTerminal();
  expect(await version(readArguments(["version"]), terminal)).toBe(0);
  expect(terminal.takeOut()).toBe(`switchyard ${written}\n`);
  expect(VERSION).toBe(written);
});

test("docs/reference/cli.md is what the help pages say (npm run docs writes it)", () => {
  expect(readFileSync(join(import.meta.dirname, "../../../../docs/reference/cli.md"), "utf8")).toBe(commandLinePage());
});

test("docs/reference/cli.md names every command and every flag of its page", () => {
  const written = commandLinePage();
  for (const [name, { tables }] of Object.entries(PAGES)) {
    expect(written).toContain(`## \`switchyard ${name}\``);
    for (const [what] of tables.flatMap(([, rows]) => rows)) expect(written).toContain(`\`${what?.trim()}\``);
  }
});

async function pageOf(line: string): Promise<string> {
  const terminal = recordTerminal();
  expect(await help(readArguments(line.split(" ")), terminal)).toBe(0);
  expect(terminal.takeSaid()).toBe("");
  return terminal.takeOut();
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
