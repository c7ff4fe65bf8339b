// The folder in which Node keeps compiled code: only this user may write to it, and no start fails for it.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepCompiledCode } from "../../../scripts/launch.mjs";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "switchyard-compiled-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The folder that is used; null for none. */
function usedWith(env: Readonly<Record<string, string>> = {}): string | null {
  const enable = vi.fn((_folder: string): unknown => undefined);
  keepCompiledCode({ XDG_CACHE_HOME: home, ...env }, enable);
  return enable.mock.calls[0]?.[0] ?? null;
}

test("a folder of this user is used, and made where it is missing", () => {
  const folder = join(home, "switchyard");
  expect(usedWith()).toBe(folder);
  expect(existsSync(folder)).toBe(true);
  expect(usedWith()).toBe(folder);
});

test.skipIf(process.platform === "win32")("a folder that others may write to is not used", () => {
  mkdirSync(join(home, "switchyard"));
  chmodSync(join(home, "switchyard"), 0o777);
  expect(usedWith()).toBeNull();
});

test.skipIf(process.platform === "win32")("a link to another folder is not followed", () => {
  mkdirSync(join(home, "other"));
  symlinkSync(join(home, "other"), join(home, "switchyard"));
  expect(usedWith()).toBeNull();
});

test("a start without such a folder goes on", () => {
  writeFileSync(join(home, "switchyard"), "");
  expect(usedWith()).toBeNull();
  expect(() => keepCompiledCode({ XDG_CACHE_HOME: home }, undefined)).not.toThrow();
});

test("Node's own variable decides where it is set", () => {
  expect(usedWith({ NODE_COMPILE_CACHE: "elsewhere" })).toBeNull();
});

test("the entries of many builds are deleted", () => {
  const entries = join(home, "switchyard", "v24");
  mkdirSync(entries, { recursive: true });
  for (let index = 0; index < 500; index += 1) writeFileSync(join(entries, String(index)), "");
  expect(usedWith()).not.toBeNull();
  expect(existsSync(entries)).toBe(false);
});
