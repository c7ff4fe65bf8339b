// How the command is called in each kind of installation.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { callIn, command, containerCall } from "../../../src/config/package.ts";
import { COMMANDS } from "../../../src/main.ts";

const SOURCES = join(import.meta.dirname, "../../../src");

const folder = mkdtempSync(join(tmpdir(), "switchyard-call-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["a checkout", "clone", true, "npm start --"],
  ["an installed package", "lib/node_modules/switchyard-gateway", false, "switchyard"],
  ["a package that npx fetched", ".npm/_npx/0a1b/node_modules/switchyard-gateway", false, "npx switchyard-gateway"],
  ["the image", "app", false, "switchyard"],
])("%s", (_name, path, hasSources, expected) => {
  const place = join(folder, path);
  mkdirSync(join(place, "src"), { recursive: true });
  if (hasSources) writeFileSync(join(place, "src/main.ts"), "");
  expect(callIn(place)).toBe(expected);
});

test.each([
  [{}, "serve", null],
  [{ IN_CONTAINER: "1" }, "doctor", null],
  [{ IN_CONTAINER: "1" }, undefined, `docker exec ${hostname()} switchyard`],
  [{ IN_CONTAINER: "1" }, "--port", `docker exec ${hostname()} switchyard`],
  [{ IN_CONTAINER: "1", KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "serve", `kubectl exec ${hostname()} -- switchyard`],
])("in a container with %j, %s hints at %s", (env, subcommand, expected) => {
  expect(containerCall(env, subcommand)).toBe(expected);
});

test("this one is a checkout", () => expect(command("doctor")).toBe("npm start -- doctor"));

// Help pages are also a page of the documentation, which writes `switchyard` throughout.
test("no hint names a command that only an installed package has", () => {
  const called = new RegExp(`switchyard (${Object.keys(COMMANDS).join("|")})\\b`);
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.startsWith(join("cli", "help")),
  );
  const hints = files.flatMap((path) =>
    readFileSync(join(SOURCES, path), "utf8")
      .split("\n")
      .filter((line) => called.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(hints).toEqual([]);
});
