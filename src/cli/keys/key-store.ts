// The keys of a database for as long as one command needs them: opened beside a server, never instead of it.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { createDirectory } from "../../accounts/directory.ts";
import { createKeys, type Keys } from "../../accounts/keys.ts";
import { createSpending, type Spending } from "../../accounts/spending.ts";
import type { AccountStore } from "../../core/accounts.ts";
import type { Db } from "../../core/db.ts";
import { GatewayError } from "../../core/errors.ts";
import type { KeyRecord } from "../../core/keys.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { createAccountStore } from "../../store/accounts/accounts.ts";
import { createKeyStore } from "../../store/accounts/keys.ts";
import { createProfileStore } from "../../store/accounts/profiles.ts";
import { openDb } from "../../store/db.ts";
import { createKeySpendStore } from "../../store/ledger/key-spends.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";

export interface KeyRing {
  readonly db: Db;
  readonly keys: Keys;
  readonly spending: Spending;
  /** Of every account, newest first. */
  all(): Promise<readonly KeyRecord[]>;
  /** Throws where there is none of this id. The default one is made, before the first start of a server. */
  requireAccount(id: string, nowMs: number): Promise<void>;
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
    spending: createSpending({ store: createKeySpendStore(db) }),
    all: async () => [...(await store.all())].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)),
    requireAccount: (id, nowMs) => requireAccount(accounts, id, nowMs),
  };
}

async function requireAccount(accounts: AccountStore, id: string, nowMs: number): Promise<void> {
  if ((await accounts.get(id)) !== null) return;
  if (id !== DEFAULT_ACCOUNT) throw new GatewayError("notFound", `There is no account '${id}'.`);
  try {
    await accounts.insert({ id: DEFAULT_ACCOUNT, name: DEFAULT_ACCOUNT, createdAtMs: nowMs });
  } catch (error) {
    // A server that starts at this moment has made it.
    if (!(error instanceof UniqueViolation)) throw error;
  }
}
