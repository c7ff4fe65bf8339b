// The variables and arguments by which each program calls the gateway.

import { expect, test } from "vitest";
import { KNOWN_PROGRAMS, launchOf } from "../../../../src/cli/run/programs.ts";

const ACCESS = { url: "http://127.0.0.1:8787", key: "sk-service-x" };

test.each(KNOWN_PROGRAMS)("%s is told the address and the key, and nothing else leads elsewhere", (name) => {
  const { env, args = [] } = launchOf(name, ACCESS);
  const told = JSON.stringify([env, args]);
  expect(told).toContain(ACCESS.url);
  expect(told).toContain(ACCESS.key);
});

test("Claude Code's own key would win over the token, so it is removed", () => {
  expect(launchOf("claude", ACCESS).env).toEqual({
    ANTHROPIC_BASE_URL: ACCESS.url,
    ANTHROPIC_AUTH_TOKEN: ACCESS.key,
    ANTHROPIC_API_KEY: null,
  });
});

test("Codex takes its provider as arguments, as TOML", () => {
  const { args = [] } = launchOf("/usr/local/bin/codex", ACCESS);
  expect(args).toContain(`model_providers.switchyard.base_url="${ACCESS.url}/v1"`);
  expect(args.filter((_, at) => at % 2 === 0)).toEqual(Array(args.length / 2).fill("-c"));
});

test("a path and an ending do not hide the program", () => {
  expect(launchOf("C:\\tools\\codex.exe", ACCESS)).toEqual(launchOf("codex", ACCESS));
});

test("any other program gets the variables of all official clients", () => {
  const { env } = launchOf("python", ACCESS);
  expect(env).toMatchObject({
    OPENAI_BASE_URL: `${ACCESS.url}/v1`,
    ANTHROPIC_BASE_URL: ACCESS.url,
    GOOGLE_GEMINI_BASE_URL: ACCESS.url,
    SWITCHYARD_KEY: ACCESS.key,
  });
});
