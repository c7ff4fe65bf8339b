// The doctor finds each of the usual faults of an installation, and its line says how to fix it.

import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readArguments } from "../../src/cli/command/arguments.ts";
import { doctor } from "../../src/cli/doctor/doctor.ts";
import { migrate } from "../../src/cli/migrate.ts";
import { openDb } from "../../src/store/db.ts";
import { labYaml } from "../support/gateway/gateway.ts";
import { type RecordedTerminal, recordTerminal } from "../support/gateway/terminal.ts";
import { answers, lists, startListProvider } from "../support/providers/list-provider.ts";
import { startTestRedis } from "../support/stores/redis.ts";

async function run(terminal: RecordedTerminal, ...flags: string[]): Promise<{ code: number; out: string }> {
  const port = flags.includes("--port") ? [] : ["--port", "0"];
  const code = await doctor(readArguments(["doctor", ...port, ...flags]), terminal);
  return { code, out: terminal.takeOut() };
}

/** The line of a fault with the one below it. */
function fault(symbol: "✗" | "!", what: string, fix: string): RegExp {
  return new RegExp(`^${symbol} ${what}[^\\n]*\\n {4}[^\\n]*${fix}`, "m");
}

test("a wrong key", async () => {
  const { url } = await startListProvider(answers(401, { error: { message: "Incorrect API key" } }));
  const terminal = recordTerminal();
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), labYaml(`${url}/v1`));
  const { code, out } = await run(terminal);
  expect(out).toMatch(
    fault(
      "✗",
      "lab refuses the key \\(401\\)",
      "Replace the key where it was set: on the Providers page, or in providers.lab.apiKey",
    ),
  );
  expect(code).toBe(1);
});

test("a port in use", async () => {
  const other = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, out } = await run(recordTerminal(), "--port", String(port));
  expect(out).toMatch(fault("✗", `Port ${port} on 127.0.0.1 is in use`, "set PORT to another"));
  expect(code).toBe(1);
});

test("a folder that cannot be written to", async () => {
  const terminal = recordTerminal();
  writeFileSync(join(terminal.cwd, "data"), "a file where the folder should be");
  const { code, out } = await run(terminal);
  expect(out).toMatch(fault("✗", "Data folder .* cannot be written to", "SWITCHYARD_DATA"));
  expect(code).toBe(1);
});

test("a migration that was not applied, until it is", async () => {
  const terminal = recordTerminal();
  mkdirSync(join(terminal.cwd, "data"));
  const db = await openDb(`sqlite:${join(terminal.cwd, "data/switchyard.db")}`);
  await db.migrate();
  const [last] = await db.query("SELECT name FROM schema_migrations ORDER BY name DESC LIMIT 1");
  await db.close();
  expect((await run(terminal)).out).toContain("✓ Database connected and up to date");

  const older = await openDb(`sqlite:${join(terminal.cwd, "data/switchyard.db")}`);
  await older.query("DELETE FROM schema_migrations WHERE name = $1", [String(last?.name)]);
  await older.close();
  const { out } = await run(terminal);
  expect(out).toMatch(
    fault("!", `Database connected; pending migrations: ${String(last?.name)}`, "npm start -- migrate up"),
  );
  expect(await migrate(readArguments(["migrate", "status"]), terminal)).toBe(1);
});

test("Redis that is down, and up", async ({ skip }) => {
  const redis = await startTestRedis();
  if (redis === null) return skip();
  const terminal = recordTerminal({ env: { REDIS_URL: redis.url } });
  expect((await run(terminal)).out).toContain("✓ Redis answers");
  await redis.stop();
  const { code, out } = await run(terminal);
  expect(out).toMatch(fault("✗", "Redis cannot be used: .*ECONNREFUSED", "Check REDIS_URL and that the server runs"));
  expect(code).toBe(1);
});

test("a clock that is wrong", async () => {
  const hourAgo = new Date(Date.now() - 3_600_000).toUTCString();
  const { url } = await startListProvider(answers(200, { data: [] }, { date: hourAgo }));
  const terminal = recordTerminal();
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), labYaml(`${url}/v1`));
  const { code, out } = await run(terminal);
  expect(out).toMatch(fault("✗", "Clock is 60 min ahead of lab", "NTP"));
  expect(code).toBe(1);
});

test("and nothing where nothing is wrong", async () => {
  const { url } = await startListProvider(lists("alpha", "beta"));
  const terminal = recordTerminal();
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), labYaml(`${url}/v1`));
  const { code, out } = await run(terminal);
  expect(out).not.toContain("✗");
  expect(out).toMatch(/^✓ Clock: .* matches lab$/m);
  expect(code).toBe(0);
});
