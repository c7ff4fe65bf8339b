// Every command on both stores, beside a running server: with --json, standard output is JSON and nothing else, no
// question is asked, and the exit code is 0.

import { expect, onTestFinished, test } from "vitest";
import { type Arguments, readArguments } from "../../src/cli/command/arguments.ts";
import type { Terminal } from "../../src/cli/command/terminal.ts";
import { COMMANDS } from "../../src/main.ts";
import { startGateway } from "../support/gateway/gateway.ts";
import { recordTerminal } from "../support/gateway/terminal.ts";
import { createTestDatabase, type TestDatabase } from "../support/stores/postgres.ts";

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

/** In this order: later ones use what earlier ones made. KEY stands for the id of a key. */
const LINES: readonly (readonly string[])[] = [
  ["profiles", "set", "cheap", "--floor", "NANO", "--ceiling", "LIGHT"],
  ["profiles", "list"],
  ["profiles", "show", "cheap"],
  ["keys", "create", "--name", "app", "--profile", "cheap", "--expires", "90d"],
  ["keys", "list"],
  ["keys", "set", "KEY", "--rpm", "60"],
  ["keys", "rotate", "KEY", "--grace", "1h"],
  ["keys", "revoke", "KEY", "--yes"],
  ["profiles", "delete", "cheap", "--yes"],
  ["credits", "add", "25", "--note", "January"],
  ["credits", "adjust", "-2.50"],
  ["credits", "balance"],
  ["credits", "ledger"],
  ["ledger", "verify"],
  ["models", "list", "--tier", "LIGHT"],
  ["models", "check"],
  ["route", "What is 2+2?", "--floor", "LIGHT"],
  ["chains", "set", "SIMPLE", "gpt-4o-mini"],
  ["versions", "list"],
  ["versions", "show", "1"],
  ["versions", "rollback", "0"],
  ["settings", "get"],
  ["settings", "set", "logging.retentionDays", "31"],
  ["settings", "history"],
  ["settings", "reset", "logging.retentionDays"],
  ["providers", "discover", "127.0.0.1:1"],
  ["users", "list"],
  ["scim", "list"],
  ["teams", "create", "--name", "search", "--ceiling", "STANDARD"],
  ["teams", "list"],
  ["teams", "set", "search", "--allow", "gpt-4o-mini"],
  ["members", "invite", "ada@example.com", "--teams", "search"],
  ["members", "list"],
  ["members", "remove", "ada@example.com"],
  ["teams", "delete", "search", "--yes"],
  ["audit", "list"],
  ["migrate", "status"],
  ["migrate", "up"],
  ["demo", "--requests", "20", "--yes"],
  ["doctor", "--port", "0"],
  ["version"],
];

/** Nothing is there for a second time. */
const ONCE: ReadonlySet<string> = new Set(["delete", "remove"]);

/** They print no data: one runs for ever, the other is text. */
const WITHOUT_DATA = ["serve", "help"];
/** They need a program, `pg_dump`, a database without a server, or an identity provider; tests of their own run them. */
const RUN_ELSEWHERE = ["run", "import", "apply", "backup", "restore", "secret", "login"];

test("the list has every command that prints data", () => {
  const named = new Set([...LINES.map(([name]) => name), ...WITHOUT_DATA, ...RUN_ELSEWHERE]);
  expect(named).toEqual(new Set(Object.keys(COMMANDS)));
});

const DATABASES: Readonly<Record<string, () => Promise<Partial<TestDatabase> | null>>> = {
  SQLite: async () => ({}),
  PostgreSQL: createTestDatabase,
};

test.each(Object.entries(DATABASES))(
  "on %s every line ends well, for programs and for people",
  async (store, makeDatabase) => {
    const made = await makeDatabase();
    if (made === null) return console.warn("commands are not run on PostgreSQL: there is none here");
    const secret = { SWITCHYARD_SECRET: "a-secret-for-gateway-and-commands" };
    const gateway = await startGateway({ database: made.url ?? "file", env: secret });
    onTestFinished(async () => {
      await gateway.stop();
      await made.drop?.();
    });
    let keyId = "";
    const run = async (line: readonly string[]) => {
      const terminal = recordTerminal({
        env: { ...secret, DATABASE_URL: gateway.database, NO_COLOR: "1" },
        isScreen: true,
      });
      const words = line.map((word) => (word === "KEY" ? keyId : word));
      const command = (await COMMANDS[line[0] ?? ""]?.()) as Command;
      const code = await command(readArguments(words), terminal);
      return { line: words.join(" "), code, out: terminal.takeOut(), said: terminal.takeSaid() };
    };
    for (const line of LINES) {
      const forPrograms = await run([...line, "--json"]);
      expect(forPrograms, forPrograms.out + forPrograms.said).toMatchObject({ code: 0 });
      const data = JSON.parse(forPrograms.out) as { id?: string };
      if (line[0] === "keys" && line[1] === "create") keyId = data.id ?? "";
      // What people read is made of the same data.
      if (store !== "SQLite") continue;
      if (ONCE.has(line[1] ?? "") || line[0] === "demo" || line.join(" ").startsWith("teams create")) continue;
      const forPeople = await run(line);
      expect(forPeople, forPeople.out + forPeople.said).toMatchObject({ code: 0 });
      expect(forPeople.out + forPeople.said).not.toContain("\u001B[");
      expect(forPeople.out.trimStart()).not.toMatch(/^[{[]/);
    }
  },
);
