// Fills a store with the demo: two teams with keys and a profile, the request records, and then the money they cost.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createKeys } from "../accounts/keys.ts";
import { STARTER_NOTE } from "../billing/credits.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Db } from "../core/db.ts";
import { formatUsd } from "../core/money.ts";
import type { RequestRecord } from "../core/requests/records.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { createAccountStore } from "../store/accounts/accounts.ts";
import { createKeyStore } from "../store/accounts/keys.ts";
import { createProfileStore } from "../store/accounts/profiles.ts";
import { createTeamStore } from "../store/accounts/teams.ts";
import { createRecordStore } from "../store/requests/write.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import { failingOf, writeBudgets, writeCompany, writeEvents } from "./company.ts";
import { demoCatalog } from "./configuration.ts";
import { bookSpending, monthOf, type OlderTraffic } from "./money.ts";
import { writeOutcomes } from "./outcomes.ts";
import { BUDGET, BUDGET_ID, DEMO_KEYS, DEMO_TEAMS, PLAYGROUND_ID, PRODUCTION_ID } from "./pool.ts";
import { demoTraffic } from "./traffic.ts";

/** Amount and time of the traffic. The same plan and time give the same data. */
export interface DemoPlan {
  readonly requests: number;
  readonly days: number;
  readonly seed: number;
  readonly nowMs: number;
  /** False leaves prompts and answers out, as content logging does when it is off. */
  readonly hasContent?: boolean;
  /** Requests that are charged one by one; 30,000 if left out. */
  readonly bookedMax?: number;
  onProgress(written: number): void;
}

/** Databases that are filled: the same connection twice, unless the request log is a file of its own. */
export interface DemoDbs {
  readonly db: Db;
  readonly log: Db;
}

/** Counts for the report of the command. */
export interface DemoFilled {
  readonly requests: number;
  readonly chargedUsd: string;
  /** Requests with a charge of their own in the ledger. */
  readonly booked: number;
  /** The sum of the monthly corrections for all others; null when there are none. */
  readonly olderUsd: string | null;
  readonly balanceUsd: string;
  /** The text of the key "production", when this run made it. */
  readonly key: string | null;
}

const BATCH = 1_000;
/** Charging each request takes most of the time; as many as fit into a few seconds. */
const BOOKED_MAX = 30_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const NONE: ReadonlyMap<string, OlderTraffic> = new Map();

/** The database must be migrated. `log` has its request log. */
export async function fillWithDemo({ db, log }: DemoDbs, plan: DemoPlan): Promise<DemoFilled> {
  const catalog = demoCatalog();
  const key = await createOwners(db, plan, catalog);
  const { newest, older } = await writeRecords(log, plan, catalog);
  await writeOutcomes(log, newest, catalog);
  await createKeyStore(db).touch(new Map(DEMO_KEYS.map(({ id }) => [id, plan.nowMs])));
  const fromMs = plan.nowMs - plan.days * DAY_MS;
  let [charged, balance, olderCharge] = [0n, 0n, 0n];
  const book = async (accountId: string): Promise<void> => {
    const own = {
      newest: newest.filter((record) => record.accountId === accountId),
      older: older.get(accountId) ?? NONE,
    };
    const countsOn = await writeBudgets(db, { accountId, records: own.newest, nowMs: plan.nowMs });
    const booked = await bookSpending(db, { accountId, fromMs, countsOn, ...own });
    charged += booked.charged;
    balance += booked.balance;
    for (const { charge } of own.older.values()) olderCharge += charge;
  };
  await Promise.all([...DEMO_TEAMS.keys()].map(book));
  const accountName = DEMO_TEAMS.get(DEFAULT_ACCOUNT) ?? "";
  await writeEvents(db, { ...plan, accountName, failing: failingOf(newest, plan.nowMs) });
  return {
    requests: plan.requests,
    chargedUsd: formatUsd(charged),
    booked: newest.filter(({ cost }) => cost !== null).length,
    olderUsd: olderCharge === 0n ? null : formatUsd(olderCharge),
    balanceUsd: formatUsd(balance),
    key,
  };
}

/** Creates the accounts, the profile and the keys that are missing. The text of the key "production" if it is new. */
async function createOwners(db: Db, { nowMs, days }: DemoPlan, { baseline }: Catalog): Promise<string | null> {
  const createdAtMs = nowMs - days * DAY_MS;
  const [accounts, store, profiles] = [createAccountStore(db), createKeyStore(db), createProfileStore(db)];
  for (const [id, name] of DEMO_TEAMS) {
    await unlessExists(() => accounts.insert({ id, name, billingMode: null, createdAtMs }));
  }
  await writeCompany(db, { createdAtMs, nowMs });
  const profile = { id: BUDGET_ID, accountId: DEFAULT_ACCOUNT, name: "budget", constraints: BUDGET };
  // The model that answered its samples; of the requests that a visitor sends with its keys, some are answered twice, too.
  const shadow = { model: baseline.id, share: 0.05, budgetPerDay: 2_000_000_000n };
  const described = { ...profile, description: "Batch jobs that may wait", shadow };
  await unlessExists(async () => {
    const saved = { ...described, createdAtMs, updatedAtMs: createdAtMs };
    await profiles.insert(saved);
    await profiles.setShadow(saved);
  });
  const directory = createDirectory({ accounts, keys: store, profiles, teams: createTeamStore(db), log: SILENT_LOG });
  const keys = createKeys({ store, directory, log: SILENT_LOG, now: () => createdAtMs });
  let production: string | null = null;
  for (const { id, accountId, name, profileId, teamId, memberId } of DEMO_KEYS.filter(
    (key) => key.id !== PLAYGROUND_ID,
  )) {
    const created = await unlessExists(() => keys.create({ id, accountId, name, profileId, teamId, memberId }));
    if (id === PRODUCTION_ID) production = created?.text ?? null;
  }
  return production;
}

/** Returns null if a row of the same id exists already. */
async function unlessExists<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
}

/** The records that were written, as far as they cost money. */
interface DemoRecords {
  /** The newest ones that had a hold, oldest first. */
  readonly newest: readonly RequestRecord[];
  /** Sums of all others, by account and month. */
  readonly older: ReadonlyMap<string, ReadonlyMap<string, OlderTraffic>>;
}

/** Writes one batch while the next is generated. */
async function writeRecords(db: Db, demo: DemoPlan, catalog: Catalog): Promise<DemoRecords> {
  const { onProgress, hasContent = true, bookedMax = BOOKED_MAX, ...plan } = demo;
  const store = createRecordStore(db);
  let newest: RequestRecord[] = [];
  const older = new Map<string, Map<string, OlderTraffic>>();
  let batch: RequestRecord[] = [];
  let writing: Promise<void> = Promise.resolve();
  let written = 0;
  const write = async (): Promise<void> => {
    const full = batch;
    batch = [];
    newest.push(...full.filter(({ hold }) => hold !== null));
    const past = newest.slice(0, Math.max(0, newest.length - bookedMax));
    newest = newest.slice(past.length);
    for (const record of past) addTo(older, record);
    await writing;
    onProgress(written);
    written += full.length;
    const records = store.newBatch();
    records.add(full.map(store.flatten));
    writing = store.write(records);
    // A failure is reported when the next batch awaits it; until then it must not end the process.
    writing.catch(() => {});
  };
  for (const record of demoTraffic(plan, catalog)) {
    if (batch.push(hasContent ? record : { ...record, content: null }) === BATCH) await write();
  }
  if (batch.length > 0) await write();
  await writing;
  onProgress(written);
  return { newest, older };
}

function addTo(byAccount: Map<string, Map<string, OlderTraffic>>, { accountId, atMs, cost }: RequestRecord): void {
  const older = byAccount.get(accountId) ?? new Map<string, OlderTraffic>();
  byAccount.set(accountId, older);
  const month = monthOf(atMs);
  const sum = older.get(month) ?? { charge: 0n, lastMs: atMs };
  sum.charge += cost?.charge ?? 0n;
  sum.lastMs = atMs;
  older.set(month, sum);
}

/** `demo`: filled already. `taken`: it holds real requests or money. */
type DemoState = "fresh" | "demo" | "taken";

/** The note that first starts of version 0.1 put on the credits they gave. */
const OLD_STARTER_NOTE = "demo credits";

/** Says if generated data may be written into a store: only if it cannot be mixed up with real data. */
export async function demoStateOf({ db, log }: DemoDbs): Promise<DemoState> {
  const [booked] = await db.query("SELECT id FROM ledger_transactions LIMIT 1");
  const [demoKey] = await db.query("SELECT id FROM api_keys WHERE id = $1", [PRODUCTION_ID]);
  // The money is written last, so a demo without any was interrupted and may be filled again.
  if (demoKey !== undefined && booked !== undefined) return "demo";
  const [request] = await log.query("SELECT id FROM requests LIMIT 1");
  const [real] = await db.query(
    "SELECT id FROM ledger_transactions WHERE note IS NULL OR note NOT IN ($1, $2) LIMIT 1",
    [STARTER_NOTE, OLD_STARTER_NOTE],
  );
  return request === undefined && real === undefined ? "fresh" : "taken";
}
