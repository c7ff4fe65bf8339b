// Writes pretended traffic into a store: keys and a profile, the records, and then the money they came to.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createKeys } from "../accounts/keys.ts";
import type { Db } from "../core/db.ts";
import { formatUsd } from "../core/money.ts";
import type { RequestRecord } from "../core/requests/records.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { createAccountStore } from "../store/accounts/accounts.ts";
import { createKeyStore } from "../store/accounts/keys.ts";
import { createProfileStore } from "../store/accounts/profiles.ts";
import { createRecordStore } from "../store/requests/write.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import { monthOf, moveMoney, type OlderTraffic } from "./money.ts";
import { BUDGET, BUDGET_ID, DEMO_KEYS, demoCatalog } from "./pool.ts";
import { demoTraffic } from "./traffic.ts";

export interface DemoPlan {
  readonly requests: number;
  readonly days: number;
  readonly seed: number;
  readonly nowMs: number;
  /** So many requests are charged one by one; 30,000 when left out. */
  readonly bookedMax?: number;
  onProgress(written: number): void;
}

export interface DemoFilled {
  readonly requests: number;
  readonly chargedUsd: string;
  /** How many requests have a charge of their own in the ledger. */
  readonly booked: number;
  /** What corrections took for all the others, one a month; null when there are none. */
  readonly olderUsd: string | null;
  readonly balanceUsd: string;
  /** The text of the key "production", when this run made it. */
  readonly key: string | null;
}

const BATCH = 1_000;
const BOOKED_MAX = 30_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The database is migrated already. */
export async function fillWithDemo(db: Db, plan: DemoPlan): Promise<DemoFilled> {
  const key = await makeOwners(db, plan);
  const { newest, older } = await writeRecords(db, plan);
  await createKeyStore(db).touch(new Map(DEMO_KEYS.map(({ id }) => [id, plan.nowMs])));
  const { charged, balance } = await moveMoney(db, { fromMs: plan.nowMs - plan.days * DAY_MS, newest, older });
  const olderCharge = [...older.values()].reduce((sum, { charge }) => sum + charge, 0n);
  return {
    requests: plan.requests,
    chargedUsd: formatUsd(charged),
    booked: newest.filter(({ cost }) => cost !== null).length,
    olderUsd: olderCharge === 0n ? null : formatUsd(olderCharge),
    balanceUsd: formatUsd(balance),
    key,
  };
}

/** The account, the profile and the keys, as far as they are not there. */
async function makeOwners(db: Db, { nowMs, days }: DemoPlan): Promise<string | null> {
  const createdAtMs = nowMs - days * DAY_MS;
  const accountId = DEFAULT_ACCOUNT;
  const [store, profiles] = [createKeyStore(db), createProfileStore(db)];
  const profile = {
    id: BUDGET_ID,
    accountId,
    name: "budget",
    description: "Batch jobs that may wait",
    constraints: BUDGET,
  };
  await unlessThere(() => createAccountStore(db).insert({ id: accountId, name: accountId, createdAtMs }));
  await unlessThere(() => profiles.insert({ ...profile, createdAtMs, updatedAtMs: createdAtMs }));
  const directory = createDirectory({ keys: store, profiles, log: SILENT_LOG });
  const keys = createKeys({ store, directory, log: SILENT_LOG, now: () => createdAtMs });
  const make = (name: string, profileId: string | null) =>
    unlessThere(() => keys.create({ id: `key_demo_${name}`, accountId, name, profileId }));
  await make("batch", profile.id);
  return (await make("production", null))?.text ?? null;
}

async function unlessThere<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
}

interface Written {
  /** The newest that had a hold, oldest first. */
  readonly newest: readonly RequestRecord[];
  /** What the others came to, by month. */
  readonly older: ReadonlyMap<string, OlderTraffic>;
}

/** One batch is written while the next is made up. */
async function writeRecords(db: Db, { onProgress, bookedMax = BOOKED_MAX, ...plan }: DemoPlan): Promise<Written> {
  const store = createRecordStore(db);
  let newest: RequestRecord[] = [];
  const older = new Map<string, OlderTraffic>();
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
    writing = store.write(full);
    // It is awaited with the next batch; that it failed meanwhile must not end the process.
    writing.catch(() => {});
  };
  for (const record of demoTraffic({ ...plan, accountId: DEFAULT_ACCOUNT }, demoCatalog())) {
    if (batch.push(record) === BATCH) await write();
  }
  if (batch.length > 0) await write();
  await writing;
  onProgress(written);
  return { newest, older };
}

function addTo(older: Map<string, OlderTraffic>, { atMs, cost }: RequestRecord): void {
  const month = monthOf(atMs);
  const sum = older.get(month) ?? { charge: 0n, lastMs: atMs };
  sum.charge += cost?.charge ?? 0n;
  sum.lastMs = atMs;
  older.set(month, sum);
}
