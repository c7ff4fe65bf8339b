// Webhooks of cascades in the configuration: they need a secret, and an address that may be called.

import { expect, test } from "vitest";
import { load } from "../../../src/config/load.ts";

const SECRET = "a-secret-of-thirty-two-characters";

function problemsOf(env: Record<string, string>): readonly string[] {
  const loaded = load({ flags: {}, env, cwd: "/nowhere", file: null });
  return loaded.ok ? [] : loaded.problems.map(({ message }) => message);
}

const HOOK = "SWITCHYARD_CASCADE_WEBHOOKS";

test.each([
  ["a public address with a secret", { [HOOK]: "p1=https://ci.example.com/check" }, []],
  ["no secret", { [HOOK]: "p1=https://ci.example.com/check", SWITCHYARD_CASCADE_WEBHOOK_SECRET: "" }, [/is missing/]],
  ["a private address", { [HOOK]: "p1=http://10.0.0.5/check" }, [/private network/]],
  [
    "a private address that is allowed",
    { [HOOK]: "p1=http://10.0.0.5/check", SWITCHYARD_CASCADE_WEBHOOK_PRIVATE_NETWORK: "true" },
    [],
  ],
  [
    "an address that is never called",
    { [HOOK]: "p1=http://169.254.169.254/x", SWITCHYARD_CASCADE_WEBHOOK_PRIVATE_NETWORK: "true" },
    [/never called/],
  ],
  ["no profile", { [HOOK]: "https://ci.example.com/check" }, [/PROFILE=URL/]],
] as const)("%s", (_what, env, expected) => {
  const given: Record<string, string> = { SWITCHYARD_CASCADE_WEBHOOK_SECRET: SECRET, ...env };
  if (given.SWITCHYARD_CASCADE_WEBHOOK_SECRET === "") delete given.SWITCHYARD_CASCADE_WEBHOOK_SECRET;
  const problems = problemsOf(given);
  expect(problems.length).toBe(expected.length);
  for (const [index, pattern] of expected.entries()) expect(problems[index]).toMatch(pattern);
});
