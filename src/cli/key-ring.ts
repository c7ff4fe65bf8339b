// The keys of a database for as long as one command needs them: opened beside a server, never instead of it.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createKeys, type Keys } from "../accounts/keys.ts";
import type { AccountStore, Db, KeyRecord } from "../core/ports.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { createAccountStore } from "../store/accounts.ts";
import { openDb } from "../store/db.ts";
import { createKeyStore } from "../store/keys.ts";
import { createProfileStore } from "../store/profiles.ts";
import { SILENT_LOG } from "../telemetry/log.ts";

export interface KeyRing {
  readonly db: Db;
  readonly keys: Keys;
  /** Of every account, newest first. */
  all(): Promise<readonly KeyRecord[]>;
  hasAccount(id: string): Promise<boolean>;
  /** Before the first start of a server there is none yet. */
  ensureDefaultAccount(nowMs: number): Promise<void>;
}

export async function withKeyRing<T>(database: string, work: (ring: KeyRing) => Promise<T>): Promise<T> {
  const db = await openDb(database);
  try {
    await db.migrate();
    return await work(ringOf(db));
  } finally {
    await db.close();
  }
}

/** Nothing is started: a command asks the database itself and needs no watching. */
function ringOf(db: Db): KeyRing {
  const store = createKeyStore(db);
  const accounts = createAccountStore(db);
  const directory = createDirectory({ keys: store, profiles: createProfileStore(db), log: SILENT_LOG });
  return {
    db,
    keys: createKeys({ store, directory, log: SILENT_LOG }),
    all: async () => [...(await store.all())].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)),
    hasAccount: async (id) => (await accounts.get(id)) !== null,
    ensureDefaultAccount: (nowMs) => ensureDefaultAccount(accounts, nowMs),
  };
}

async function ensureDefaultAccount(accounts: AccountStore, nowMs: number): Promise<void> {
  if ((await accounts.get(DEFAULT_ACCOUNT)) !== null) return;
  try {
    await accounts.insert({ id: DEFAULT_ACCOUNT, name: DEFAULT_ACCOUNT, createdAtMs: nowMs });
  } catch (error) {
    // A server that starts at this moment has made it.
    if (!(error instanceof UniqueViolation)) throw error;
  }
}
