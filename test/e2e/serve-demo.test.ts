// `switchyard serve --demo` as a newcomer runs it: one command, a dashboard full of data, and nothing left behind.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { recordTerminal } from "../support/gateway/terminal.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/switchyard.mjs");
const TOKEN = "test-admin-token";

beforeAll(() => ensureBuild());

test("a generated month is served at once, labelled as such, and deleted at the end", async () => {
  const { cwd } = recordTerminal();
  // The provider named here would be called by any other server.
  const env = { PATH: process.env.PATH, HOME: cwd, SWITCHYARD_ADMIN_TOKEN: TOKEN, OPENAI_API_KEY: "sk-none" };
  const child = spawn(process.execPath, [PROGRAM, "serve", "--demo", "--port", "0"], { cwd, env });
  let out = "";
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.includes("Try it")) resolve();
    });
    closed.then((code) => reject(new Error(`ended with ${code}: ${out}`)));
  });
  expect(out).toMatch(/^ {2}Demo +the data is made up: 5000 pretended requests/m);
  const url = /Base URL +(\S+)\/v1/.exec(out)?.[1] ?? "";
  const key = /API key +(sk-service-\S+)/.exec(out)?.[1] ?? "";
  const file = /store sqlite:(\S+)/.exec(out)?.[1] ?? "";
  expect(existsSync(file)).toBe(true);

  const asked = await fetch(`${url}/api/requests?limit=5`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(((await asked.json()) as { data: unknown[] }).data).toHaveLength(5);
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/simulated|sandbox/i);

  child.kill("SIGTERM");
  expect(await closed).toBe(0);
  expect(existsSync(file)).toBe(false);
});
