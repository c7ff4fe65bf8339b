// The commands as an operator uses them: keys beside a running server, the doctor, and the program as it is started.

import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { start } from "../../src/app/app.ts";
import { readArguments } from "../../src/cli/command/arguments.ts";
import type { Terminal } from "../../src/cli/command/terminal.ts";
import { doctor } from "../../src/cli/doctor/doctor.ts";
import { keys } from "../../src/cli/keys.ts";
import { profiles } from "../../src/cli/profiles.ts";
import { load } from "../../src/config/load.ts";
import { SILENT_LOG } from "../../src/telemetry/log.ts";
import { type RecordedTerminal, recordTerminal } from "../support/gateway/terminal.ts";
import { freePort } from "../support/network/ports.ts";
import { promisedMs } from "../support/random.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

async function run(command: typeof keys, terminal: RecordedTerminal, line: string): Promise<Ran> {
  const code = await command(readArguments(line.split(" ")), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

describe("keys", () => {
  test("made, listed and revoked before any server has run", async () => {
    const terminal = recordTerminal();
    expect(await run(keys, terminal, "keys list")).toMatchObject({
      code: 0,
      out: "",
      said: expect.stringContaining("No keys yet"),
    });

    const made = await run(keys, terminal, "keys create --name app --rpm 60 --expires 90d");
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^sk-service-\S+\n$/) });
    expect(made.said).toContain('"app"');
    expect(made.said).not.toContain(made.out.trim());

    const { data } = JSON.parse((await run(keys, terminal, "keys list --json")).out);
    expect(data).toMatchObject([{ name: "app", status: "active", requestsPerMinute: 60, account: "default" }]);
    expect(Date.parse(data[0].expiresAt)).toBeGreaterThan(Date.now() + 89 * 86_400_000);

    const revoked = await run(keys, terminal, `keys revoke ${data[0].id} --yes`);
    expect(revoked).toMatchObject({ code: 0, out: "", said: expect.stringContaining("Revoked") });
    const table = (await run(keys, terminal, "keys list")).out.split("\n");
    expect(table[0]).toMatch(/^ID +NAME +KEY +STATUS/);
    expect(table[1]).toMatch(/ app .* revoked /);
    expect(table.join("")).not.toContain(made.out.trim());

    const again = await run(keys, terminal, `keys revoke ${data[0].id}`);
    expect(again).toMatchObject({ code: 0, said: expect.stringContaining("Already") });
  });

  test("with --json the key's text is in the object, once", async () => {
    const terminal = recordTerminal();
    const made = JSON.parse((await run(keys, terminal, "keys create --name app --json")).out);
    expect(made).toMatchObject({
      id: expect.stringMatching(/^key_/),
      name: "app",
      key: expect.stringMatching(/^sk-service-/),
      expiresAt: null,
    });
    expect((await run(keys, terminal, "keys list --json")).out).not.toContain(made.key);
  });

  test("with a profile by its name and a limit to what it may spend", async () => {
    const terminal = recordTerminal();
    await run(profiles, terminal, "profiles set cheap --ceiling LIGHT");
    const made = JSON.parse(
      (await run(keys, terminal, "keys create --name a --profile cheap --spend-limit 5 --json")).out,
    );
    expect(made).toMatchObject({ profile: expect.stringMatching(/^profile_/), spendLimitUsd: "5" });
    const freed = await run(keys, terminal, `keys set ${made.id} --profile none --spend-limit none --json`);
    expect(JSON.parse(freed.out)).toMatchObject({ profile: null, spendLimitUsd: null });
    const monthly = `keys set ${made.id} --spend-limit 5 --spend-reset monthly --json`;
    expect(JSON.parse((await run(keys, terminal, monthly)).out)).toMatchObject({
      spendReset: "monthly",
      spentUsd: "0",
    });
    expect((await run(keys, terminal, "keys list")).out).toMatch(/ 0 of 5 monthly /);
    const reset = await run(keys, terminal, `keys reset-spend ${made.id} --json`);
    expect(reset).toMatchObject({ code: 0, said: expect.stringContaining("Its limit is 5 USD.") });
    expect(JSON.parse(reset.out)).toMatchObject({ id: made.id, spentUsd: "0", account: "default" });
    expect((await run(keys, terminal, "keys reset-spend key_none")).code).toBe(1);
    const bound = await run(keys, terminal, `keys set ${made.id} --profile cheap --json`);
    expect(JSON.parse(bound.out)).toMatchObject({ profile: made.profile });
    expect((await run(keys, terminal, "keys list")).out).toMatch(/ default +cheap +- /);
    await run(profiles, terminal, "profiles delete cheap --yes");
    const { out } = await run(keys, terminal, "keys list");
    expect(out).toContain(` active  default  ${made.profile} (deleted: it gets 401) `);
  });

  test("a running server accepts a new key at once and rejects a revoked one within seconds", async () => {
    const terminal = recordTerminal();
    const url = await startServer(terminal);
    const made = JSON.parse((await run(keys, terminal, "keys create --name app --json")).out);
    expect(await statusWith(url, made.key)).toBe(200);

    await run(keys, terminal, `keys revoke ${made.id} --yes`);
    await expect.poll(() => statusWith(url, made.key), { interval: 100, timeout: promisedMs(5_000) }).toBe(401);
  });

  test.each([
    ["the answer yes", async () => "yes", 0, "revoked"],
    ["any other answer", async () => "yikes", 1, "active"],
    ["nobody to ask", null, 2, "active"],
  ])("revoking without --yes, with %s", async (_, ask, code, status) => {
    const terminal = recordTerminal({ ask: ask as Terminal["ask"] });
    const made = JSON.parse((await run(keys, terminal, "keys create --name app --json")).out);
    expect((await run(keys, terminal, `keys revoke ${made.id}`)).code).toBe(code);
    expect(JSON.parse((await run(keys, terminal, "keys list --json")).out).data[0].status).toBe(status);
  });

  test.each([
    ["keys revoke key_none --yes", 1, "No key 'key_none'"],
    ["keys list --account nobody", 1, "No account 'nobody'"],
    ["keys create --name x --account nobody", 1, "No account 'nobody'"],
    ["keys create --name x --profile nope", 1, 'no profile "nope"'],
    ["keys list --database sqlite:/dev/null/x.db", 1, "cannot be opened or created"],
    ["keys list --database sqlite:/dev", 1, "is not a file"],
    ["keys crate", 2, "Did you mean 'create'?"],
    ["keys list --jsn", 2, "Did you mean '--json'?"],
    ["keys list --port none", 78, "flag --port"],
  ])("%s ends with %i", async (line, code, words) => {
    const ran = await run(keys, recordTerminal(), line);
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.said).toContain(words);
    expect(ran.said).toMatch(/^[^\n]+\n$/);
  });
});

test("a start that finds its port taken does not use up the first key", async () => {
  const terminal = recordTerminal();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const settingsOn = (wanted: number) => {
    const loaded = load({ flags: { port: String(wanted) }, env: {}, cwd: terminal.cwd });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.settings;
  };
  await expect(start(settingsOn(port), SILENT_LOG)).rejects.toThrow("EADDRINUSE");
  await new Promise((resolve) => taken.close(resolve));
  const app = await start(settingsOn(0), SILENT_LOG);
  onTestFinished(() => app.stop());
  expect(await statusWith(app.url, app.firstKey ?? "")).toBe(200);
});

test("a password in an argument is warned of, and not repeated", async () => {
  const line = "keys list --database postgres://me:hunter2@127.0.0.1:1/x";
  const { code, said } = await run(keys, recordTerminal(), line);
  expect(code).toBe(1);
  expect(said).toMatch(/^! flag --database: everybody on this machine can see the password.* DATABASE_URL_FILE\.\n/);
  expect(said).not.toContain("hunter2");
});

describe("doctor", () => {
  test("of a folder with nothing in it: the sandbox is named, nothing fails", async () => {
    const { code, out, said } = await run(doctor, recordTerminal(), `doctor --port ${await freePort()}`);
    expect(out).not.toContain("✗");
    expect(code).toBe(0);
    expect(out).toContain(`✓ Node ${process.versions.node}\n`);
    expect(out).toMatch(/^! sandbox: answers are simulated/m);
    expect(out).not.toContain("\u001B[");
    expect(said).toContain("Ready");
  });

  test("a provider that cannot be reached fails it", async () => {
    const env = { OPENAI_API_KEY: "sk-test-secret" };
    const terminal = recordTerminal({ env });
    const yaml = `providers:\n  openai:\n    baseUrl: http://127.0.0.1:${await freePort()}/v1\n`;
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml);
    const { code, out } = await run(doctor, terminal, "doctor --json --port 0");
    expect(code).toBe(1);
    const { ok, checks } = JSON.parse(out);
    expect(ok).toBe(false);
    expect(checks.filter(({ state }: { state: string }) => state === "fail")).toMatchObject([
      { what: expect.stringMatching(/^openai: .*ECONNREFUSED/), fix: expect.any(String) },
    ]);
    expect(out).not.toContain("sk-test-secret");
  });

  test("knows a running server by its port and its database", async () => {
    const terminal = recordTerminal();
    const url = await startServer(terminal);
    const { code, out } = await run(doctor, terminal, `doctor --port ${new URL(url).port}`);
    expect(out).toContain("Switchyard is already running");
    expect(out).toContain("Database connected and up to date");
    expect(code).toBe(0);
  });

  test("bad configuration ends with 78 and every problem", async () => {
    const terminal = recordTerminal({ env: { PORT: "none" } });
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), "serverr: {}\n");
    const { code, out } = await run(doctor, terminal, "doctor");
    expect(code).toBe(78);
    expect(out).toMatch(/^✗ environment PORT: /m);
    expect(out).toMatch(/^✗ switchyard.yaml:1:1.*serverr/m);
  });

  test.each([
    ["a screen", { isScreen: true }, "doctor --port 0", true],
    ["NO_COLOR", { isScreen: true, env: { NO_COLOR: "1" } }, "doctor --port 0", false],
    ["--no-color", { isScreen: true }, "doctor --port 0 --no-color", false],
    ["a pipe", { isScreen: false }, "doctor --port 0", false],
  ])("colour with %s", async (_, overrides, line, isColoured) => {
    expect((await run(doctor, recordTerminal(overrides), line)).out.includes("\u001B[")).toBe(isColoured);
  });

  test.each(["doctor --jsn", "doctor now"])("%s is wrong usage", async (line) => {
    expect(await run(doctor, recordTerminal(), line)).toMatchObject({ code: 2, out: "" });
  });
});

describe("the program", () => {
  beforeAll(() => ensureBuild());

  test.each([
    ["--version", 0, /^switchyard \d+\.\d+\.\d+\n$/, /^$/],
    ["help", 0, /^switchyard .*\n\nExamples\n/, /^$/],
    ["srve", 2, /^$/, /^There is no command 'srve'\. Did you mean 'serve'\?/],
    ["constructor", 2, /^$/, /^There is no command 'constructor'/],
    ["verify", 2, /^$/, /^There is no command 'verify'\. Did you mean 'ledger verify'\?/],
    ["rotate", 2, /^$/, /^There is no command 'rotate'\. Did you mean 'keys rotate'\?/],
    ["list", 2, /^$/, /^There is no command 'list'\. See: /],
    ["serve --port none", 78, /^$/, /^flag --port: [^\n]+\n$/],
    ["keys list --database sqlite::memory:", 0, /^$/, /No keys yet/],
  ])("switchyard %s ends with %i", async (line, code, out, said) => {
    const ran = await spawnProgram(line.split(" "));
    expect(ran.said).toMatch(said);
    expect(ran.out).toMatch(out);
    expect(ran.code).toBe(code);
  });
});

test.skipIf(process.platform === "win32")("a reader that has seen enough is no failure", async () => {
  await ensureBuild();
  const { cwd } = recordTerminal();
  const line = `node ${join(ROOT, "bin/switchyard.mjs")} models list --json | true; echo "\${PIPESTATUS[0]}"`;
  const ended = await promisify(execFile)("bash", ["-c", line], { cwd, env: { PATH: process.env.PATH, HOME: cwd } });
  expect(ended.stdout).toBe("0\n");
  expect(ended.stderr).not.toContain("EPIPE");
});

function spawnProgram(args: readonly string[]): Promise<Ran> {
  const { cwd } = recordTerminal();
  const env = { PATH: process.env.PATH, HOME: cwd };
  const child = spawn(process.execPath, [join(ROOT, "bin/switchyard.mjs"), ...args], { cwd, env });
  let out = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, out, said }));
  });
}

/** On the database that commands in the same folder use. */
async function startServer({ cwd, env }: RecordedTerminal): Promise<string> {
  const loaded = load({ flags: { port: "0" }, env, cwd });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const app = await start(loaded.settings, SILENT_LOG);
  onTestFinished(() => app.stop());
  return app.url;
}

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  return response.status;
}
