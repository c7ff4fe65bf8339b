// The secret of an installation, and what is sealed with it.

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createSealer } from "../../../src/store/secret/seal.ts";
import { openSecret, SECRET_FILE } from "../../../src/store/secret/secret.ts";

const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-secret-"));
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("the first start makes a file for this user alone, and later ones read it", () => {
  const dataDir = join(newFolder(), "data");
  const made = openSecret({ secret: null, dataDir });
  expect(made.length).toBe(64);
  expect(statSync(join(dataDir, SECRET_FILE)).mode & 0o777).toBe(0o600);
  expect(openSecret({ secret: null, dataDir })).toEqual(made);
  expect(readdirSync(dataDir)).toEqual([SECRET_FILE]);
  expect(openSecret({ secret: "given", dataDir })).toEqual(Buffer.from("given"));
});

test("an empty file is an error and not a secret", () => {
  const dataDir = newFolder();
  writeFileSync(join(dataDir, SECRET_FILE), "\n");
  expect(() => openSecret({ secret: null, dataDir })).toThrow("is empty");
});

test("texts of any length come back, for the same subject, purpose and secret only", async () => {
  const sealer = createSealer(Buffer.from("secret"), "tests");
  for (const text of ["", "short", "ü".repeat(5_000)]) {
    const sealed = await sealer.seal(text, "row 1");
    expect(await sealer.open(sealed, "row 1")).toBe(text);
    await expect(sealer.open(sealed, "row 2")).rejects.toThrow();
    await expect(createSealer(Buffer.from("secret"), "others").open(sealed, "row 1")).rejects.toThrow();
    await expect(createSealer(Buffer.from("another"), "tests").open(sealed, "row 1")).rejects.toThrow();
    expect(await sealer.seal(text, "row 1")).not.toBe(sealed);
  }
  expect((await sealer.seal("repeated words ".repeat(1_000), "row")).length).toBeLessThan(1_000);
});

test("any changed character, and what was never sealed, does not open", async () => {
  const sealer = createSealer(Buffer.from("secret"), "tests");
  const sealed = await sealer.seal("hello", "row");
  for (let at = 0; at < sealed.length - 1; at += 1) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
    await expect(sealer.open(changed, "row")).rejects.toThrow();
  }
  for (const text of ["", "s1.", "hello"]) await expect(sealer.open(text, "row")).rejects.toThrow();
});
