// Writes pretended traffic into a store: keys and a profile, the records, and the money, which moves through the ledger
// like all money. Ledger lines have the database's own time, so the newest requests are charged one by one and the older
// ones in one correction.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createKeys } from "../accounts/keys.ts";
import { createCredits } from "../billing/credits.ts";
import { createLedger, type Ledger } from "../billing/ledger.ts";
import { NO_OUTBOX } from "../billing/outbox.ts";
import type { Usage } from "../core/ledger.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import type { Db } from "../core/ports.ts";
import type { CostRecord, RequestRecord } from "../core/records.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { createAccountStore } from "../store/accounts.ts";
import { createKeyStore } from "../store/keys.ts";
import { createLedgerStore } from "../store/ledger.ts";
import { createLedgerList } from "../store/ledger-list.ts";
import { createProfileStore } from "../store/profiles.ts";
import { createRecordStore } from "../store/request-write.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import { COMMAND_LINE } from "./command.ts";
import { BUDGET, BUDGET_ID, DEMO_KEYS, demoCatalog } from "./demo-pool.ts";
import { demoTraffic } from "./demo-traffic.ts";

export interface DemoPlan {
  readonly requests: number;
  readonly days: number;
  readonly seed: number;
  readonly nowMs: number;
  /** So many requests are charged one by one; 2,000 when left out. */
  readonly bookedMax?: number;
  onProgress(written: number): void;
}

export interface DemoFilled {
  readonly requests: number;
  readonly chargedUsd: string;
  /** How many requests have a charge of their own in the ledger. */
  readonly booked: number;
  /** What one correction took for all the others; null when there are none. */
  readonly olderUsd: string | null;
  readonly balanceUsd: string;
  /** The text of the key "production", when this run made it. */
  readonly key: string | null;
}

export const OLDER_NOTE = "demo: older traffic";

const BATCH = 1_000;
const BOOKED_MAX = 2_000;
/** Holds that are open at once. */
const OPEN_MAX = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
const NANO_PER_USD = 1_000_000_000n;
const SPARE = 20n * NANO_PER_USD;

/** The database is migrated already. */
export async function fillWithDemo(db: Db, plan: DemoPlan): Promise<DemoFilled> {
  const key = await makeOwners(db, plan);
  const { newest, olderCharge } = await writeRecords(db, plan);
  await createKeyStore(db).touch(new Map(DEMO_KEYS.map(({ id }) => [id, plan.nowMs])));
  const { charged, balance } = await moveMoney(db, newest, olderCharge);
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
  readonly olderCharge: NanoUsd;
}

/** One batch is written while the next is made up. */
async function writeRecords(db: Db, { onProgress, bookedMax = BOOKED_MAX, ...plan }: DemoPlan): Promise<Written> {
  const store = createRecordStore(db);
  let newest: RequestRecord[] = [];
  let olderCharge = 0n;
  let batch: RequestRecord[] = [];
  let writing: Promise<void> = Promise.resolve();
  let written = 0;
  const write = async (): Promise<void> => {
    const full = batch;
    batch = [];
    newest.push(...full.filter(({ hold }) => hold !== null));
    const older = newest.slice(0, Math.max(0, newest.length - bookedMax));
    newest = newest.slice(older.length);
    for (const { cost } of older) olderCharge += cost?.charge ?? 0n;
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
  return { newest, olderCharge };
}

/** Tops up what everything comes to and some more, then spends it. */
async function moveMoney(
  db: Db,
  newest: readonly RequestRecord[],
  olderCharge: NanoUsd,
): Promise<{ readonly charged: NanoUsd; readonly balance: NanoUsd }> {
  const store = createLedgerStore(db, "demo");
  const ledger = createLedger({ store, outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  const credits = createCredits(ledger, createLedgerList(db));
  const chunks = Array.from({ length: Math.ceil(newest.length / OPEN_MAX) }, (_, index) =>
    newest.slice(index * OPEN_MAX, (index + 1) * OPEN_MAX),
  );
  const charged = olderCharge + newest.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n);
  const mostHeld = chunks.map(heldBy).reduce((most, held) => (held > most ? held : most), 0n);
  const move = { accountId: DEFAULT_ACCOUNT, actor: COMMAND_LINE, idempotencyKey: null };
  const wholeUsd = (charged + mostHeld + SPARE) / NANO_PER_USD + 1n;
  await credits.topUp({ ...move, amountUsd: wholeUsd.toString(), note: "demo credits" });
  if (olderCharge > 0n) await credits.adjust({ ...move, amountUsd: `-${formatUsd(olderCharge)}`, note: OLDER_NOTE });
  for (const chunk of chunks) await bookAll(ledger, chunk);
  return { charged, balance: (await credits.balance(DEFAULT_ACCOUNT)).posted };
}

function heldBy(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { hold }) => sum + (hold ?? 0n), 0n);
}

async function bookAll(ledger: Ledger, records: readonly RequestRecord[]): Promise<void> {
  const accountId = DEFAULT_ACCOUNT;
  const holdIdOf = ({ id, cost }: RequestRecord): string => cost?.holdId ?? `demo-${id}`;
  const held = await Promise.all(
    records.map((record) => {
      const amounts = [record.hold ?? 0n];
      return ledger.hold({
        ...{ id: holdIdOf(record), accountId, keyId: record.keyId, amounts },
        ...{ atLeast: null, spendLimit: null },
      });
    }),
  );
  if (held.some(({ state }) => state !== "held")) throw new Error("the demo credits did not cover the demo");
  const settled = await Promise.all(
    records.map(async (record) => {
      const holdId = holdIdOf(record);
      if (record.cost === null) return ledger.release({ holdId, accountId });
      const { charge } = record.cost;
      const { state } = await ledger.settle({
        holdId,
        accountId,
        charge,
        usage: usageOf(record, record.cost),
        answer: null,
      });
      return state;
    }),
  );
  if (settled.some((state) => state === "deferred")) throw new Error("the store did not take every charge");
}

function usageOf({ requestId, answeredBy, ending }: RequestRecord, cost: CostRecord): Usage {
  const { buckets, isEstimated, price, markupPpm } = cost;
  return {
    ...{ requestId, model: answeredBy?.model ?? "", provider: answeredBy?.provider ?? "", buckets, isEstimated },
    ...{ price, markupPpm, outcome: ending === "client-gone" ? "client-gone" : "complete" },
  };
}
