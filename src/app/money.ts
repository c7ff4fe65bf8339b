// Wiring of money: ledger, credits, idempotent requests, and their upkeep.

import { type Credits, createCredits } from "../billing/credits.ts";
import { createLedger, type Ledger } from "../billing/ledger.ts";
import { createOutbox } from "../billing/outbox.ts";
import { newOwner } from "../billing/owner.ts";
import { createRemoteBatcher } from "../billing/remote-batcher.ts";
import { createUpkeep } from "../billing/upkeep.ts";
import { verifyLedger } from "../billing/verify.ts";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { LedgerVerdict } from "../core/ledger.ts";
import type { Log } from "../core/log.ts";
import type { IdempotencyStore } from "../core/requests/idempotency.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import { createIdempotencyStore } from "../store/ledger/idempotency.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { createWriteWatch } from "../store/write-watch.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { hasDuties, WORKER_SERVICES, type WorkerSlot } from "./worker.ts";

/** Only one process serves from a SQLite file, unless it has workers. Where it has none every other owner is dead. */
const OWNER_SILENT_MS = 60_000;

/** Everything that charges and credits. */
export interface Money {
  /** The name under which this process keeps what is its own. */
  readonly owner: string;
  readonly ledger: Ledger;
  readonly idempotency: IdempotencyStore;
  readonly credits: Credits;
  readonly verify: () => Promise<LedgerVerdict>;
  /** True when the database took no writes at the last attempt. */
  readonly isWriteFailing: () => boolean;
  /** Told by others that the database cannot be used. */
  readonly onUnavailable: () => void;
  close(): Promise<void>;
}

/** `reader` is for audits and lists over many rows. */
interface MoneyContext {
  readonly settings: Pick<Settings, "dataDir">;
  readonly reader: Db;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "ledgerProblems" | "settlementsWaiting" | "storeError">;
  readonly worker: WorkerSlot | null;
}

/** Started; what dead processes left is settled or released. */
export async function openMoney(db: Db, { settings, reader, log, metrics, worker }: MoneyContext): Promise<Money> {
  const owner = newOwner();
  const ownerSilentMs = db.kind === "sqlite" && worker === null ? 0 : OWNER_SILENT_MS;
  const outbox = createOutbox({ folder: settings.dataDir, name: owner, log, onWaiting: metrics.settlementsWaiting });
  const store = createLedgerStore(db, owner);
  const onDeferred = (): void => metrics.storeError("settlement");
  const writes = createWriteWatch(db, log);
  const watch = { onDeferred, onUnavailable: writes.failed, isStoreFailing: writes.isFailing };
  const remote =
    worker === null ? {} : { batcher: createRemoteBatcher({ link: worker.link, owner, onUnavailable: writes.failed }) };
  const ledger = createLedger({ store, owner, outbox, log, ownerSilentMs, ...watch, ...remote });
  const idempotency = createIdempotencyStore(db, owner);
  const verify = (): Promise<LedgerVerdict> => verifyLedger(createLedgerAudit(reader));
  const upkeep = createUpkeep({ verify, idempotency, ownerSilentMs, onAudit: metrics.ledgerProblems, log });
  // Before anything is held under this name.
  await worker?.link.call(WORKER_SERVICES.owner, owner);
  await ledger.start();
  if (hasDuties(worker)) await upkeep.start();
  return {
    owner,
    ledger,
    idempotency,
    credits: createCredits(ledger, createLedgerList(reader)),
    verify,
    isWriteFailing: writes.isFailing,
    onUnavailable: writes.failed,
    async close() {
      writes.close();
      upkeep.stop();
      await ledger.stop();
    },
  };
}
