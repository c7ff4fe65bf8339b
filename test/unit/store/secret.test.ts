// The secret of an installation, and what is sealed with it.

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { StoreUnusable } from "../../../src/core/store-errors.ts";
import { createSealer } from "../../../src/store/secret/seal.ts";
import { openSecret, openSecretFor, replaceFingerprint, SECRET_FILE } from "../../../src/store/secret/secret.ts";
import { openMemoryDb } from "../../support/stores/memory-db.ts";

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

describe("a database", () => {
  const settings = (secret: string | null) => ({ secret, dataDir: join(newFolder(), "data") });
  const refusal = (words: RegExp) => expect.objectContaining({ advice: expect.stringMatching(words) });

  test("belongs to the first secret that is used with it", async () => {
    const db = await openMemoryDb();
    const first = settings(null);
    const secret = await openSecretFor(db, first);
    expect(await openSecretFor(db, first)).toEqual(secret);
    const refused = openSecretFor(db, settings("another"));
    await expect(refused).rejects.toBeInstanceOf(StoreUnusable);
    await expect(refused).rejects.toEqual(refusal(/another secret than its database.*secret replace/));
    await replaceFingerprint(db, Buffer.from("another"));
    expect(await openSecretFor(db, settings("another"))).toEqual(Buffer.from("another"));
    await expect(openSecretFor(db, first)).rejects.toThrow();
  });

  test("with a secret lets nobody make another one", async () => {
    const db = await openMemoryDb();
    await openSecretFor(db, settings("given"));
    const without = settings(null);
    await expect(openSecretFor(db, without)).rejects.toEqual(refusal(/has no secret/));
    expect(existsSync(without.dataDir)).toBe(false);
    const empty = newFolder();
    writeFileSync(join(empty, SECRET_FILE), "");
    const unreadable = openSecretFor(db, { secret: null, dataDir: empty });
    await expect(unreadable).rejects.toEqual(refusal(/cannot be read .*is empty/));
  });

  test("lets one of several first processes win", async () => {
    const db = await openMemoryDb();
    const results = await Promise.allSettled(["a", "b", "c"].map((name) => openSecretFor(db, settings(name))));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
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
