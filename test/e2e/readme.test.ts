// The README's commands, as they stand there: its requests are sent, its subcommands exist.

import { exec, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/main.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const SHELL = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text.trim());
const REQUESTS = SHELL.filter((text) => text.startsWith("curl "));

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

function hasCurl(): boolean {
  try {
    execFileSync("curl", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasCurl())("the requests (skipped where curl is not installed)", () => {
  test.each(REQUESTS)("%s", async (text) => {
    const command = text.replaceAll("http://127.0.0.1:8787", gateway.url);
    const out = await run(command, { SWITCHYARD_KEY: gateway.key });
    const answer = JSON.parse(out) as { service?: object; decision?: object };
    expect(answer.service ?? answer.decision).toMatchObject({ tier: expect.any(String), model: expect.any(String) });
  });
});

test("there is a request to the gateway and one to its explanation", () => {
  expect(REQUESTS.map((text) => /\/v1\/[a-z/]+/.exec(text)?.[0])).toEqual([
    "/v1/chat/completions",
    "/v1/routing/debug",
  ]);
});

test("every subcommand it names exists", () => {
  const named = [...README.matchAll(/npx switchyard ([a-z]+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !Object.hasOwn(COMMANDS, name))).toEqual([]);
});

/** Not synchronously: the gateway that answers lives in this process. */
function run(command: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    exec(command, { env: { PATH: process.env.PATH, ...env }, timeout: 10_000 }, (error, out) =>
      error === null ? resolve(out) : reject(error),
    );
  });
}
