// How the command is called in each kind of installation.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { callIn, command } from "../../../src/config/package.ts";

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

test("this one is a checkout", () => expect(command("doctor")).toBe("npm start -- doctor"));
