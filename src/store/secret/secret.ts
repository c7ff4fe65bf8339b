// The secret of an installation: SWITCHYARD_SECRET, or a file in the data folder that the first start makes for this user
// alone. Sealed texts cannot be opened without the secret.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { command } from "../../config/package.ts";
import type { Db } from "../../core/db.ts";
import { OtherSecret } from "../../core/store-errors.ts";
import { fingerprintOf } from "./seal.ts";

/** File in the data folder. A backup of the database is complete only with this file. */
export const SECRET_FILE = "secret.key";
const SECRET_BYTES = 32;

interface SecretSettings {
  readonly secret: string | null;
  readonly dataDir: string;
}

/** Reads or makes the secret. Throws if neither is possible. */
export function openSecret({ secret, dataDir }: SecretSettings): Buffer {
  if (secret !== null) return Buffer.from(secret, "utf8");
  const path = join(dataDir, SECRET_FILE);
  return readSecret(path) ?? makeSecret(path, dataDir);
}

function readSecret(path: string): Buffer | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text === "") throw new Error(`${path} is empty. Put the secret back that it had.`);
    return Buffer.from(text, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Writes the whole file before it gets its name. Of two processes that start at once, the first one wins. */
function makeSecret(path: string, folder: string): Buffer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}.partial`;
  const file = openSync(temporary, "wx", 0o600);
  try {
    writeSync(file, `${randomBytes(SECRET_BYTES).toString("hex")}\n`);
    fsyncSync(file);
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
  return readSecret(path) as Buffer;
}

/**
 * Opens the secret for this database. The first process notes its fingerprint, and one with another secret is refused:
 * what each of them sealed, the other could not open.
 */
export async function openSecretFor(db: Db, settings: SecretSettings): Promise<Buffer> {
  const noted = await readFingerprint(db);
  // No secret is made beside a database that has one.
  const secret = noted === null ? openSecret(settings) : givenSecret(settings);
  const fingerprint = fingerprintOf(secret);
  const valid = noted ?? (await noteFirst(db, fingerprint));
  if (valid !== fingerprint) throw new OtherSecret("This gateway has another secret than its database", command);
  return secret;
}

/** Returns null if no process has used the database with a secret. */
export async function readFingerprint(db: Db): Promise<string | null> {
  const [row] = await db.query("SELECT fingerprint FROM secret_fingerprints WHERE id = 1");
  return row === undefined ? null : String(row.fingerprint);
}

/** From now on the database belongs to this secret. What another one sealed stays unreadable. */
export async function replaceFingerprint(db: Db, secret: Buffer): Promise<void> {
  await db.query("UPDATE secret_fingerprints SET fingerprint = $1 WHERE id = 1", [fingerprintOf(secret)]);
}

function givenSecret({ secret, dataDir }: SecretSettings): Buffer {
  if (secret !== null) return Buffer.from(secret, "utf8");
  let found: Buffer | null;
  try {
    found = readSecret(join(dataDir, SECRET_FILE));
  } catch (error) {
    throw new OtherSecret(`The secret of this gateway cannot be read (${(error as Error).message})`, command);
  }
  if (found === null) throw new OtherSecret("This gateway has no secret, and its database was used with one", command);
  return found;
}

/** Returns the fingerprint that is noted then. The first of two processes that start at once wins. */
async function noteFirst(db: Db, fingerprint: string): Promise<string | null> {
  const insert = "INSERT INTO secret_fingerprints (id, fingerprint) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";
  await db.query(insert, [fingerprint]);
  return readFingerprint(db);
}
