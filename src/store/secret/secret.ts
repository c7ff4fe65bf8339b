// The secret of an installation: SWITCHYARD_SECRET, or a file in the data folder that the first start makes for this user
// alone. Sealed texts cannot be opened without the secret.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "../../core/db.ts";
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

/** Returns true if the database was last used with another secret. Notes this secret, so that a change is reported once. */
export async function isSecretChanged(db: Db, secret: Buffer): Promise<boolean> {
  const fingerprint = fingerprintOf(secret);
  const [row] = await db.query("SELECT fingerprint FROM secret_fingerprints WHERE id = 1");
  if (row?.fingerprint === fingerprint) return false;
  await db.query(
    `INSERT INTO secret_fingerprints (id, fingerprint) VALUES (1, $1)
     ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint`,
    [fingerprint],
  );
  return row !== undefined;
}
