// The README's commands, as they stand there: every one of them is run.

import { exec, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { render } from "../../scripts/docs/figures.mjs";
import { ensureBuild } from "../../scripts/setup.mjs";
import { readBuiltin } from "../../src/catalog/builtin.ts";
import { startGateway, type TestGateway } from "../support/gateway/gateway.ts";

const ROOT = join(import.meta.dirname, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const SHELL = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text.trim());
/** Those in the middle of a sentence. */
const INLINE = [...README.matchAll(/`(npm start -- [^`]+)`/g)].map(([, text = ""]) => text);

/** The response that the README shows. */
const SHOWN = JSON.parse(/```json\n([\s\S]*?)```/.exec(README)?.[1] ?? "") as { readonly service: object };

const folder = mkdtempSync(join(tmpdir(), "switchyard-readme-"));
let gateway: TestGateway;
beforeAll(async () => {
  await ensureBuild();
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Way {
  readonly name: string;
  readonly isIt: RegExp;
  run(command: string): Promise<void>;
}

/** How each kind of command is run, and what must come of it. */
const WAYS: readonly Way[] = [
  { name: "a request", isIt: /^curl /, run: sendRequest },
  { name: "a server", isIt: /^(\S+=\S+ )?npm start( -- serve\b.*)?$/, run: startAndStop },
  { name: "a command", isIt: /^npm start -- \S+/, run: runToTheEnd },
  { name: "the first steps", isIt: /^npm start +#[^\n]*\nexport OPENAI_BASE_URL=/, run: takeFirstSteps },
  { name: "a client of the messages format", isIt: /^export ANTHROPIC_BASE_URL=.*\nclaude\b/, run: runStandIn },
];

/** What runs this file cannot be run by it. */
const WHOLE_SUITE = "npm test";

test.each([...new Set([...SHELL, ...INLINE])].filter((text) => text !== WHOLE_SUITE))("%s", async (text) => {
  const way = WAYS.find(({ isIt }) => isIt.test(text));
  expect(way, "this test does not know how to run it").toBeDefined();
  await way?.run(text);
});

test("its figures are those of the catalogue and of the demo", async () => {
  const { models, providers } = readBuiltin();
  expect(README).toContain(`| ${providers.length} providers, ${models.length} models, any compatible server |`);
  const blocks = await render(ROOT, (path: string) => import(join(ROOT, "src", path)));
  const { text } = blocks.find(({ path }) => path === "README.md") ?? { text: "missing" };
  expect(README).toContain(text);
  expect(text).toMatch(/About \d\d% below .* per million tokens, list prices of \d+ \w+ 20\d\d\)/);
});

test("there is one of each kind", () => {
  const kinds = [...SHELL, ...INLINE].map((text) => WAYS.find(({ isIt }) => isIt.test(text))?.name);
  expect(new Set(kinds)).toEqual(new Set([...WAYS.map(({ name }) => name), undefined]));
  expect(SHELL).toContain(WHOLE_SUITE);
  const requests = SHELL.filter((text) => text.startsWith("curl "));
  expect(requests.map((text) => /\/v1\/[a-z/]+/.exec(text)?.[0])).toEqual([
    "/v1/chat/completions",
    "/v1/routing/debug",
  ]);
});

async function sendRequest(text: string): Promise<void> {
  if (!hasCurl()) return console.warn("a request of the README is not sent: there is no curl here");
  const out = await shell(text.replaceAll("http://127.0.0.1:8787", gateway.url), { SWITCHYARD_KEY: gateway.key });
  const answer = JSON.parse(out) as { service?: object; decision?: object };
  expect(answer.service ?? answer.decision).toMatchObject({ tier: expect.any(String), model: expect.any(String) });
  if (answer.service !== undefined) expect(Object.keys(answer.service)).toEqual(Object.keys(SHOWN.service));
}

function hasCurl(): boolean {
  try {
    execFileSync("curl", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

/** The comment of each line says the rest: the key of the first start, and a browser. */
async function takeFirstSteps(text: string): Promise<void> {
  const [start, client, browser] = text.split("\n").map((line) => line.split("#")[0]?.trim() ?? "");
  expect(start).toBe("npm start");
  const base = /^export OPENAI_BASE_URL=(\S+)$/.exec(client ?? "")?.[1]?.replace("http://127.0.0.1:8787", gateway.url);
  const models = await fetch(`${base}/models`, { headers: { authorization: `Bearer ${gateway.key}` } });
  expect(models.status).toBe(200);
  const page = /^open (\S+)$/.exec(browser ?? "")?.[1]?.replace("http://127.0.0.1:8787", gateway.url) ?? "";
  expect(await (await fetch(page, { headers: { accept: "text/html" } })).text()).toContain("<!doctype html>");
}

async function runToTheEnd(text: string): Promise<void> {
  await shell(text, { SWITCHYARD_DATA: folder });
}

/** Until it says that it is ready and answers; then the whole family of processes is stopped. */
async function startAndStop(text: string): Promise<void> {
  const env = { ...ENV, SWITCHYARD_DATA: join(folder, "server") };
  const child = spawn("sh", ["-c", text.replace("…", "sk-none")], { cwd: ROOT, env, detached: true });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const stop = (): unknown => child.exitCode ?? child.signalCode ?? process.kill(-(child.pid as number), "SIGTERM");
  onTestFinished(() => void stop());
  let out = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      out += piece;
      const [, found] = /Base URL +(\S+)\/v1[\s\S]*Try it/.exec(out) ?? [];
      if (found !== undefined) resolve(found);
    });
    closed.then((code) => reject(new Error(`ended with ${code}: ${out}`)));
  });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(out).toMatch(
    text.startsWith("OPENAI_API_KEY") ? /Providers +openai$/m : /Providers +(sandbox|.*\(simulated\)$)/m,
  );
  stop();
  await closed;
}

/** In its place stands a program that reads the same variables and sends one message. */
async function runStandIn(text: string): Promise<void> {
  const program = join(folder, "claude");
  writeFileSync(program, `#!${process.execPath}\n${STAND_IN}`);
  chmodSync(program, 0o755);
  const command = text.replace("http://127.0.0.1:8787", gateway.url).replace("sk-service-…", gateway.key);
  const out = await shell(command, { PATH: `${folder}:${process.env.PATH}` });
  expect(JSON.parse(out)).toMatchObject({ type: "message", role: "assistant" });
}

const STAND_IN = `
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: token } = process.env;
const body = JSON.stringify({ model: "claude-sonnet-5", max_tokens: 50, messages: [{ role: "user", content: "Hello" }] });
const headers = { authorization: "Bearer " + token, "content-type": "application/json", "anthropic-version": "2023-06-01" };
fetch(url + "/v1/messages", { method: "POST", headers, body }).then((answer) => answer.text()).then(console.log);
`;

const ENV = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0", LOG_LEVEL: "error" };

/** Not synchronously: the gateway that answers lives in this process. */
function shell(command: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    exec(command, { cwd: ROOT, env: { ...ENV, ...env } }, (error, out) =>
      error === null ? resolve(out) : reject(error),
    );
  });
}
