// The variables and arguments by which each program calls the gateway.

import { expect, test } from "vitest";
import { KNOWN_PROGRAMS, launchOf } from "../../../../src/cli/run/programs.ts";

/** What the session's files hold stands in for their paths. */
const ACCESS = { url: "http://127.0.0.1:8787", key: "sk-service-x", keep: (_name: string, text: string) => text };

test.each(KNOWN_PROGRAMS)("%s is told the address and the key, and nothing else leads elsewhere", (name) => {
  const { env, args = [] } = launchOf(name, ACCESS);
  const told = Object.values(env).concat(args).join("\n");
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

test("Gemini CLI is told in settings how to sign in", () => {
  const { GEMINI_CLI_SYSTEM_SETTINGS_PATH: settings } = launchOf("gemini", ACCESS).env;
  expect(JSON.parse(settings ?? "")).toEqual({ security: { auth: { selectedType: "gemini-api-key" } } });
});

test("Continue gets a configuration of the session", () => {
  const [flag, config] = launchOf("cn", ACCESS).args ?? [];
  expect(flag).toBe("--config");
  expect(JSON.parse(config ?? "").models).toEqual([
    { name: "Switchyard auto", provider: "openai", model: "auto", apiBase: `${ACCESS.url}/v1`, apiKey: ACCESS.key },
  ]);
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
