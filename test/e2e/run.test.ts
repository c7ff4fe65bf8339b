// `switchyard run`: a program calls the gateway by the variables that it finds, no file is changed, and the end says what
// the session cost.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { readArguments } from "../../src/cli/command/arguments.ts";
import { keys } from "../../src/cli/keys.ts";
import { run } from "../../src/cli/run/run.ts";
import { PLAIN_START, startGateway } from "../support/gateway/gateway.ts";
import { recordTerminal } from "../support/gateway/terminal.ts";
import { promisedMs } from "../support/random.ts";

const ROOT = join(import.meta.dirname, "../..");
beforeAll(() => ensureBuild());

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Asks by three official clients, each with nothing but the variables that it reads by itself. */
const CLIENTS = `
  import Anthropic from "@anthropic-ai/sdk";
  import OpenAI from "openai";
  import { GoogleGenAI } from "@google/genai";
  const content = "What is the capital of France?";
  const messages = [{ role: "user", content }];
  const chat = await new OpenAI().chat.completions.create({ model: "auto", messages });
  const message = await new Anthropic().messages.create({ model: "auto", max_tokens: 200, messages });
  const answer = await new GoogleGenAI({}).models.generateContent({ model: "auto", contents: content });
  console.log(JSON.stringify({
    texts: [chat.choices[0].message.content, message.content[0].text, answer.text],
    args: process.argv.slice(2),
  }));
  process.exit(7);
`;

function writeClients(): string {
  // Beside the packages of the tests, where Node finds them.
  const folder = mkdtempSync(join(ROOT, "test", "node_modules", ".run-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "clients.mjs");
  writeFileSync(file, CLIENTS);
  return file;
}

/** One request by the variables for OpenAI's clients. */
const ASKS = `
  const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.OPENAI_API_KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  process.exit(response.status === 200 ? 0 : 1);
`;

describe("without a gateway", () => {
  test("one is started for the session, in the user's home, and three official clients reach it", {
    timeout: promisedMs(120),
  }, () => {
    const [home, project] = [makeFolder(), makeFolder()];
    const args = ["run", "node", writeClients(), "--help", "-v", "--url", "x"];
    const ran = spawnSync(process.execPath, [join(ROOT, "bin", "switchyard.mjs"), ...args], {
      cwd: project,
      encoding: "utf8",
      // Port 1 is nobody's.
      env: { PATH: process.env.PATH, HOME: home, PORT: "1", ANTHROPIC_API_KEY: "", ...PLAIN_START },
    });
    expect(ran.stderr).toContain("simulated by the sandbox");
    expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 7 });
    const { texts, args: received } = JSON.parse(ran.stdout) as { texts: string[]; args: string[] };
    for (const text of texts) expect(text).toContain("[simulated]");
    expect(received).toEqual(["--help", "-v", "--url", "x"]);
    expect(ran.stderr).toMatch(/This session cost \$0\.\d+ for 3 requests\. With \S+ .* it would have cost \$0\.\d+\./);
    expect(readdirSync(project)).toEqual([]);
    expect(readFileSync(join(home, ".local/share/switchyard/run.log"), "utf8")).not.toContain('"level":50');
  });

  test("a program that is not there is said, and no key stays", async () => {
    const folder = makeFolder();
    const env = { HOME: folder, PORT: "1", PATH: process.env.PATH, ...PLAIN_START };
    const terminal = recordTerminal({ env });
    expect(await run(readArguments(["run", "no-such-program"]), terminal)).toBe(127);
    expect(terminal.takeSaid()).toContain("no program 'no-such-program'");
    await keys(readArguments(["keys", "list", "--json", "--data", join(folder, ".local/share/switchyard")]), terminal);
    const { data } = JSON.parse(terminal.takeOut()) as { data: { name: string; status: string }[] };
    expect(data.filter(({ name }) => name.startsWith("run "))).toMatchObject([{ status: "revoked" }]);
  });
});

describe("with a gateway", () => {
  async function running() {
    const gateway = await startGateway({ database: "file" });
    onTestFinished(() => gateway.stop());
    const env = { HOME: makeFolder(), PATH: process.env.PATH, PORT: new URL(gateway.url).port, ...PLAIN_START };
    return { gateway, env };
  }

  test("on its database the session has a key of its own, which ends with it", async () => {
    const { gateway, env } = await running();
    const terminal = recordTerminal({ env: { ...env, DATABASE_URL: gateway.database } });
    expect(await run(readArguments(["run", "node", "-e", ASKS]), terminal)).toBe(0);
    const said = terminal.takeSaid();
    expect(said).toContain(`Gateway: ${gateway.url}`);
    expect(said).toContain("for 1 request.");
    const { data } = (await (await gateway.api("GET", "/api/keys?q=run")).json()) as { data: object[] };
    expect(data).toMatchObject([{ name: "run node", status: "revoked" }]);
    const found = (await (await gateway.api("GET", "/api/requests")).json()) as { data: object[] };
    expect(found.data).toHaveLength(1);
  });

  test("on another database the reason is said, and nothing is started", async () => {
    const { gateway, env } = await running();
    const terminal = recordTerminal({ env });
    expect(await run(readArguments(["run", "node", "-e", ASKS]), terminal)).toBe(1);
    expect(terminal.takeSaid()).toContain(`The gateway at ${gateway.url} uses another database`);
  });

  test("elsewhere it takes the key of the variable, or what login has kept", async () => {
    const { gateway, env } = await running();
    const line = ["run", "--url", `${gateway.url}/v1/`, "node", "-e", ASKS];
    const keyless = recordTerminal({ env });
    expect(await run(readArguments(line), keyless)).toBe(1);
    expect(keyless.takeSaid()).toContain(`login --url ${gateway.url}`);

    const keyed = recordTerminal({ env: { ...env, SWITCHYARD_KEY: gateway.key } });
    expect(await run(readArguments(line), keyed)).toBe(0);
    expect(keyed.takeSaid()).toContain("for 1 request.");

    const kept = { token: gateway.key, expiresAtMs: Date.now() + 3_600_000, refreshToken: null };
    mkdirSync(join(env.HOME, ".config/switchyard"), { recursive: true });
    writeFileSync(join(env.HOME, ".config/switchyard/tokens.json"), JSON.stringify({ [`${gateway.url} `]: kept }));
    const signedIn = recordTerminal({ env });
    expect(await run(readArguments(line), signedIn)).toBe(0);
    expect(signedIn.takeSaid()).toContain("for 1 request.");

    const wrong = recordTerminal({ env: { ...env, SWITCHYARD_KEY: "sk-service-wrong" } });
    expect(await run(readArguments(line), wrong)).toBe(1);
    expect(wrong.takeSaid()).toContain("refused the key (401)");
  });
});
