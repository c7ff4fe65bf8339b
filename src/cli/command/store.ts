// The database of a command, open for as long as the command runs: beside a server, never instead of one.

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
import { createTeamStore } from "../../store/accounts/teams.ts";
import { createAuditLog } from "../../store/audit/log.ts";
import { auditedDb } from "../../store/audit/scope.ts";
import { openDb } from "../../store/db.ts";
import { createKeySpendStore } from "../../store/ledger/key-spends.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import * as TEXT from "./text.ts";

/** Services that most commands need. */
export interface CommandStore {
  readonly db: Db;
  readonly keys: Keys;
  readonly spending: Spending;
  /** Keys of every account, newest first. */
  allKeys(): Promise<readonly KeyRecord[]>;
  /** Throws where there is no account of this id. The default one is created: a command may come before a first start. */
  requireAccount(id: string, nowMs: number): Promise<void>;
}

/** Opens the database, brings it up to date, and closes it when the work is done. */
export async function withStore<T>(database: string, work: (store: CommandStore) => Promise<T>): Promise<T> {
  const db = await openDb(database);
  try {
    await db.migrate();
    const result = await work(storeOf(auditedDb(db)));
    await createAuditLog(db).complete();
    return result;
  } finally {
    await db.close();
  }
}

/** No background work is started: a command asks the database each time and watches nothing. */
function storeOf(db: Db): CommandStore {
  const store = createKeyStore(db);
  const accounts = createAccountStore(db);
  const [profiles, teams] = [createProfileStore(db), createTeamStore(db)];
  const directory = createDirectory({ accounts, keys: store, profiles, teams, log: SILENT_LOG });
  return {
    db,
    keys: createKeys({ store, directory, log: SILENT_LOG }),
    spending: createSpending({ store: createKeySpendStore(db) }),
    allKeys: async () =>
      [...(await store.all())].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)),
    requireAccount: (id, nowMs) => requireAccount(accounts, id, nowMs),
  };
}

async function requireAccount(accounts: AccountStore, id: string, nowMs: number): Promise<void> {
  if ((await accounts.get(id)) !== null) return;
  if (id !== DEFAULT_ACCOUNT) throw new GatewayError("notFound", TEXT.noAccount(id));
  try {
    await accounts.insert({ id: DEFAULT_ACCOUNT, name: DEFAULT_ACCOUNT, billingMode: null, createdAtMs: nowMs });
  } catch (error) {
    // A server that starts at this moment has just created it.
    if (!(error instanceof UniqueViolation)) throw error;
  }
}
