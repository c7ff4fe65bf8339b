// keys set and rotate, migrate and version: output, changes and exit codes.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { version } from "../../../src/cli/help/help.ts";
import { keys } from "../../../src/cli/keys.ts";
import { migrate } from "../../../src/cli/migrate.ts";
import { openDb } from "../../../src/store/db.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

async function run(command: Command, line: string, terminal = recordTerminal()) {
  const code = await command(readArguments(["x", ...line.split(" ")]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

describe("keys", () => {
  it("are changed and rotated by their id, whose text is shown once", async () => {
    const terminal = recordTerminal();
    const made = JSON.parse((await run(keys, "create --name app --rpm 5 --json", terminal)).out) as { id: string };
    const changed = await run(keys, `set ${made.id} --name shop --rpm none --json`, terminal);
    expect(JSON.parse(changed.out)).toMatchObject({ id: made.id, name: "shop", requestsPerMinute: null });
    expect(changed.said).toContain("Updated");
    const rotated = await run(keys, `rotate ${made.id} --grace 1h --json`, terminal);
    expect(JSON.parse(rotated.out)).toMatchObject({ name: "shop", key: expect.stringMatching(/^sk-service-/) });
    const { data } = JSON.parse((await run(keys, "list --json", terminal)).out) as {
      data: { id: string; expiresAt: string }[];
    };
    expect(data).toHaveLength(2);
    expect(Date.parse(data.find(({ id }) => id === made.id)?.expiresAt ?? "")).toBeGreaterThan(Date.now());
    const plain = await run(keys, `rotate ${made.id} --grace 0`, terminal);
    expect(plain).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sk-service-\w+\n$/),
      said: expect.stringContaining("expires now"),
    });
    expect(await run(keys, `set ${made.id} --name late`, terminal)).toMatchObject({
      code: 1,
      out: "",
      said: expect.stringContaining("expired"),
    });
  });

  it.each(["set key_none --name x", "rotate key_none", "set key_none --name x --account a"])(
    "%s fails",
    async (line) => {
      expect(await run(keys, line)).toMatchObject({
        code: 1,
        out: "",
        said: expect.stringContaining("No key 'key_none'"),
      });
    },
  );
});

describe("migrate", () => {
  it("says what is missing without making anything, brings it up to date, and then finds nothing", async () => {
    const terminal = recordTerminal();
    const file = join(terminal.cwd, "m.db");
    const go = (line: string) => run(migrate, `${line} --database sqlite:${file}`, terminal);
    expect(await go("status")).toMatchObject({
      code: 1,
      out: "missing  everything\n",
      said: expect.stringContaining("migrate up"),
    });
    expect(existsSync(file)).toBe(false);
    const applied = await go("up --json");
    expect(applied.code).toBe(0);
    expect((JSON.parse(applied.out) as { applied: string[] }).applied).toContain("0001_accounts");
    expect(await go("up")).toEqual({ code: 0, out: "", said: "The database was up to date.\n" });
    expect(await go("status --json")).toMatchObject({ code: 0, out: expect.stringContaining('"upToDate": true') });
    const db = await openDb(`sqlite:${file}`);
    await db.query("DELETE FROM schema_migrations WHERE name = '0001_accounts'");
    expect(await go("status")).toMatchObject({ code: 1, out: "missing  0001_accounts\n" });
    await db.query("INSERT INTO schema_migrations (name, applied_at) VALUES ('9999_future', 1)");
    await db.close();
    for (const line of ["status", "up"]) {
      expect(await go(line)).toMatchObject({ code: 1, said: expect.stringContaining("9999_future") });
    }
  });

  it.each([
    ["", 2, "migrate status or up"],
    ["upp", 2, "Did you mean 'up'?"],
    ["up now", 2, "Unexpected argument"],
    ["status --yes", 2, "Unknown flag '--yes'"],
    ["status --database postgres://nobody@127.0.0.1:1/none", 1, "switchyard migrate:"],
  ])("%j ends with %d", async (line, code, said) => {
    const words = line === "" ? [] : line.split(" ");
    const terminal = recordTerminal();
    expect(await migrate(readArguments(["migrate", ...words]), terminal)).toBe(code);
    expect(terminal.takeSaid()).toContain(said);
  });
});

it.each(["extra", "--jsn"])("version %s is wrong usage", async (line) => {
  expect(await run(version, line)).toMatchObject({ code: 2, out: "" });
});

it("the version, for people and for programs", async () => {
  expect((await run(version, "--no-color")).out).toMatch(/^switchyard \d+\.\d+\.\d+\n$/);
  expect(JSON.parse((await run(version, "--json")).out)).toEqual({
    version: expect.any(String),
    node: process.versions.node,
  });
});
