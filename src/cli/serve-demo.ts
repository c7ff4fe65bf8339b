// What `switchyard serve --demo` serves from: a store with a made-up month in it, a temporary one unless a flag names
// another, answered by the sandbox alone. Nothing made up is ever written beside what is real.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import { fillWithDemo } from "../demo/fill.ts";
import { demoCatalog } from "../demo/pool.ts";
import { demoStateOf } from "../demo/state.ts";
import { openDb } from "../store/db.ts";
import type { Arguments } from "./command/arguments.ts";
import type { Terminal } from "./command/terminal.ts";
import { DEMO_DEFAULTS, progressOn } from "./demo.ts";

export interface DemoStore {
  /** The configuration's flags with the store in them. */
  readonly config: Arguments["flags"];
  readonly isTemporary: boolean;
  /** Takes a temporary store away. */
  clear(): void;
}

/** A flag names the store, or it is a temporary one: what the file and the environment name is not for play. */
export function demoStore(config: Arguments["flags"]): DemoStore {
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

/** No provider is called and no other process counts with it, whatever is configured. */
export function demoSettings(settings: Settings): Settings {
  return { ...settings, catalog: demoCatalog(), redis: null };
}

/** The text of the key "production" when this call made it. Throws where the store holds something real. */
export async function fillOnce({ database }: Settings, terminal: Terminal): Promise<string | null> {
  // As the server itself will open it: a store that another one serves from is refused before anything is written.
  const db = await openDb(database, { exclusive: true });
  try {
    await db.migrate();
    return await fillFresh(db, terminal);
  } finally {
    await db.close();
  }
}

async function fillFresh(db: Db, terminal: Terminal): Promise<string | null> {
  const state = await demoStateOf(db);
  if (state === "demo") return null;
  if (state === "taken") {
    throw new Error(
      "this database holds requests or money already, and made-up ones could not be told from them. Nothing was " +
        "changed. Name a new one with --database, or leave the flag away for a temporary one",
    );
  }
  const onProgress = progressOn(terminal, DEMO_DEFAULTS.requests);
  if (!terminal.isScreen) terminal.say("Making up traffic, which takes some seconds.\n");
  return (await fillWithDemo(db, { ...DEMO_DEFAULTS, nowMs: terminal.now(), onProgress })).key;
}

export function demoNotes(isTemporary: boolean): readonly string[] {
  const { requests, days } = DEMO_DEFAULTS;
  return [
    `  Demo        the data is made up: ${requests} pretended requests of ${days} days, play money, the sandbox only`,
    isTemporary
      ? "              temporary: it is gone when this stops; --database sqlite:demo.db keeps it"
      : "              delete the database when you are done: it is of no other use",
  ];
}
