// The store and settings of `switchyard serve --demo`: generated traffic of two teams, and vendors that are simulated.
// The store is temporary unless a flag names one. Generated data is never written beside real data.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvitations } from "../../accounts/invitations.ts";
import { createPasswords } from "../../accounts/passwords.ts";
import { secretOf } from "../../app/secret.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { writeConfiguration } from "../../demo/configuration.ts";
import { type DemoDbs, demoStateOf, fillWithDemo } from "../../demo/fill.ts";
import { createInvitationStore } from "../../store/accounts/invitations.ts";
import { createUserStore } from "../../store/accounts/users.ts";
import { openDb, withLog } from "../../store/db.ts";
import { createSealer } from "../../store/secret/seal.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import type { Flags } from "../command/arguments.ts";
import type { Terminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { DEMO_DEFAULTS, progressOn } from "../demo.ts";

interface DemoStore {
  /** The configuration's flags with the store in them. */
  readonly config: Flags;
  readonly isTemporary: boolean;
  /** Deletes a temporary store. */
  clear(): void;
}

/** The store of the file or the environment is never used: it may be the real one. */
export function demoStore(config: Flags): DemoStore {
  if (config.database !== undefined || config.data !== undefined) {
    return { config, isTemporary: false, clear: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), "switchyard-demo-"));
  return {
    config: { ...config, data: folder, database: `sqlite:${join(folder, "switchyard.db")}` },
    isTemporary: true,
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Fills a fresh store. The text of the key "production" when this call made it; throws where the store holds real data. */
export async function fillOnce(settings: Settings, terminal: Terminal): Promise<string | null> {
  const { database } = settings;
  // Opened as the server will open it, so a store that another server uses is rejected before anything is written.
  const db = await openDb(database, { exclusive: true });
  try {
    await db.migrate();
    const key = await withLog(database, db, (log) => fillFresh({ db, log }, terminal));
    await ensureVisitor(db);
    const { bytes, isLasting } = await secretOf(db, settings, SILENT_LOG);
    const sealer = isLasting ? createSealer(bytes, "provider keys") : null;
    await writeConfiguration(db, { days: DEMO_DEFAULTS.days, nowMs: terminal.now(), sealer });
    return key;
  } finally {
    await db.close();
  }
}

/** The e-mail of the admin that every visitor of the demo is signed in as. Nobody knows the password. */
export const VISITOR = "demo@example.com";

async function ensureVisitor(db: Db): Promise<void> {
  const invitations = createInvitations({
    ...{ store: createInvitationStore(db), users: createUserStore(db), passwords: createPasswords() },
  });
  const token = await invitations.prepareSetup();
  if (token !== null)
    await invitations.setUp({ token, email: VISITOR, password: randomBytes(24).toString("base64url") });
}

async function fillFresh(dbs: DemoDbs, terminal: Terminal): Promise<string | null> {
  const state = await demoStateOf(dbs);
  if (state === "demo") return null;
  if (state === "taken") {
    throw new Error(
      "this database already holds requests or credits, and generated ones could not be told apart. Nothing was " +
        "changed. Name a new one with --database, or leave the flag out for a temporary one",
    );
  }
  const onProgress = progressOn(terminal, DEMO_DEFAULTS.requests);
  if (!terminal.isScreen) terminal.say(TEXT.generatingDemo);
  return (await fillWithDemo(dbs, { ...DEMO_DEFAULTS, nowMs: terminal.now(), onProgress })).key;
}

/** Lines for the first screen, which say that the data is not real. */
export function demoNotes(isTemporary: boolean): readonly string[] {
  const { requests, days } = DEMO_DEFAULTS;
  return [
    `  Demo        ${requests.toLocaleString("en-US")} generated requests over ${days} days; providers are simulated, nothing is charged`,
    isTemporary
      ? "              temporary: deleted when this stops; --database sqlite:demo.db keeps it"
      : "              delete the database when you are done",
  ];
}
