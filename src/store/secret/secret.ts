// The secret of an installation: given as SWITCHYARD_SECRET, or made at the first start and kept in the data folder for
// this user alone. What it seals cannot be opened without it.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "../../core/db.ts";
import { fingerprintOf } from "./seal.ts";

/** In the data folder. A backup of the database is complete only together with it. */
export const SECRET_FILE = "secret.key";
const SECRET_BYTES = 32;

interface SecretSettings {
  readonly secret: string | null;
  readonly dataDir: string;
}

/** Throws when the file can be neither read nor made. */
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

/** Under its name only once it is whole. Of two processes that start at once, the first one's counts. */
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

/** True if the database was last used with another secret. Notes this one, so that a change is reported once. */
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
