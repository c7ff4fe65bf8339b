// Commands that call no provider run in a shell that has none of the providers' keys.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { users } from "../../../src/cli/access/users.ts";
import { backup } from "../../../src/cli/backup.ts";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { credits } from "../../../src/cli/credits.ts";
import { keys } from "../../../src/cli/keys.ts";
import { ledger } from "../../../src/cli/ledger.ts";
import { migrate } from "../../../src/cli/migrate.ts";
import { route } from "../../../src/cli/route.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

const YAML = [
  "providers:",
  `  openai: { apiKey: '\${OPENAI_API_KEY}' }`,
  `  lab: { kind: openai, baseUrl: '\${LAB_URL}', apiKeys: ['\${KEY_A}', { key: '\${KEY_B}', weight: 2 }] }`,
  "models:",
  "  - { id: small, provider: lab, price: { input: 1, output: 1 } }",
].join("\n");

function terminalWith(yaml: string) {
  const terminal = recordTerminal();
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml);
  return terminal;
}

type Run = (args: Arguments, terminal: Terminal) => Promise<number>;

test.each<readonly [string, Run]>([
  ["migrate status", migrate],
  ["credits balance", credits],
  ["keys list", keys],
  ["users list", users],
  ["ledger verify", ledger],
  ["backup copy", backup],
])("%s", async (words, run) => {
  const terminal = terminalWith(YAML);
  expect(await migrate(readArguments(["migrate", "up"]), terminal)).toBe(0);
  const code = await run(readArguments(words.split(" ")), terminal);
  expect({ code, said: terminal.takeSaid() }).toMatchObject({ code: 0, said: expect.not.stringContaining("not set") });
});

test("a command that chooses a model names every variable, and suggests no key", async () => {
  const terminal = terminalWith(YAML);
  expect(await route(readArguments(["route", "Hello"]), terminal)).toBe(78);
  const said = terminal.takeSaid();
  for (const name of ["OPENAI_API_KEY", "LAB_URL", "KEY_A", "KEY_B"]) {
    expect(said).toContain(`${name} is not set. Set it, or write \${${name}:-} to leave it empty.`);
  }
  expect(said).not.toContain("default}");
});

test("what is no provider's must be set for every command", async () => {
  const terminal = terminalWith(`database: '\${MY_DATABASE}'\n`);
  expect(await credits(readArguments(["credits", "balance"]), terminal)).toBe(78);
  expect(terminal.takeSaid()).toContain("MY_DATABASE is not set");
});
