// `switchyard models export` and `switchyard models sign`: the catalogue in use as a file, and a signature on a file.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Builtin, readBuiltin } from "../../catalog/builtin.ts";
import { fileOf, writeFileText } from "../../catalog/file/file.ts";
import { BadCatalogue, readCatalogue } from "../../catalog/file/read.ts";
import { NoSigningKey, signed } from "../../catalog/file/signature.ts";
import type { Settings } from "../../config/settings.ts";
import { sqlitePathOf } from "../../core/db.ts";
import { catalogueOf } from "../../versions/catalogue.ts";
import type { Terminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { FAILED, reasonOf, UsageError } from "../command/usage.ts";
import { withVersions } from "../command/versions.ts";

export function exportCatalogue(settings: Settings, terminal: Terminal): Promise<number> {
  const print = (builtin: Builtin): number => {
    terminal.out(writeFileText(fileOf(builtin)));
    return 0;
  };
  const path = sqlitePathOf(settings.database);
  // A command that only looks makes no database.
  if (path !== null && !existsSync(path)) return Promise.resolve(print(readBuiltin()));
  return withVersions(settings, async (versions) => print(catalogueOf(versions.newest().document)));
}

export interface SignedFile {
  readonly path: string;
  /** A file with the private key, or - for standard input. */
  readonly keyFrom: string;
}

/** Writes the signature into the file. A file that no gateway would take is not signed. */
export async function signCatalogue({ path, keyFrom }: SignedFile, terminal: Terminal): Promise<number> {
  const pem = keyFrom === "-" ? await terminal.readInput() : read(keyFrom, terminal);
  try {
    const file = signed(readCatalogue(read(path, terminal)), pem);
    writeFileSync(resolve(terminal.cwd, path), writeFileText(file));
    terminal.say(TEXT.catalogueSigned(path, file.version, file.signature?.key ?? ""));
    return 0;
  } catch (error) {
    if (!(error instanceof BadCatalogue || error instanceof NoSigningKey)) throw error;
    terminal.say(TEXT.catalogueNotSigned(path, error.message));
    return FAILED;
  }
}

function read(path: string, { cwd }: Terminal): string {
  try {
    return readFileSync(resolve(cwd, path), "utf8");
  } catch (error) {
    throw new UsageError(TEXT.fileUnreadable(path, reasonOf(error)));
  }
}
