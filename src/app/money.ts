// Wiring of money: ledger, credits, idempotent requests, and their upkeep.

import { type Credits, createCredits } from "../billing/credits.ts";
import { createLedger, type Ledger } from "../billing/ledger.ts";
import { createOutbox } from "../billing/outbox.ts";
import { newOwner } from "../billing/owner.ts";
import { createRemoteBatcher } from "../billing/remote-batcher.ts";
import { createUpkeep } from "../billing/upkeep.ts";
import { verifyLedger } from "../billing/verify.ts";
import type { Settings } from "../config/settings.ts";
import type { LedgerVerdict } from "../core/audit/ledger.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { IdempotencyStore } from "../core/requests/idempotency.ts";
import { verifyAuditLog } from "../store/audit/log.ts";
import { createLedgerAudit } from "../store/ledger/audit.ts";
import { createBudgetUpkeep } from "../store/ledger/budget-upkeep.ts";
import { createIdempotencyStore } from "../store/ledger/idempotency.ts";
import { createKeptAnswers } from "../store/ledger/kept-answers.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { keepBatchHolds } from "../store/ledger/processes.ts";
import { createSealer } from "../store/secret/seal.ts";
import { createWriteWatch } from "../store/write-watch.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { hasDuties, WORKER_SERVICES, type WorkerSlot } from "./worker.ts";

/** Time without a beat after which a process is dead. On SQLite without workers, every other process is dead. */
const OWNER_SILENT_MS = 60_000;

/** The services that charge and credit. */
export interface Money {
  /** Name of this process in the store. */
  readonly owner: string;
  readonly ledger: Ledger;
  readonly idempotency: IdempotencyStore;
  readonly credits: Credits;
  readonly verify: () => Promise<LedgerVerdict>;
  /** True if the last attempt to write failed. */
  readonly isWriteFailing: () => boolean;
  /** Called by other parts when the database cannot be used. */
  readonly onUnavailable: () => void;
  close(): Promise<void>;
}

/** `reader` serves audits and lists over many rows. */
interface MoneyContext {
  readonly settings: Pick<Settings, "dataDir">;
  readonly reader: Db;
  /** Holds the answers kept for Idempotency-Key. */
  readonly contents: Db;
  readonly secret: Buffer;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "ledgerProblems" | "settlementsWaiting" | "storeError">;
  readonly worker: WorkerSlot | null;
}

/** Opens and starts the ledger. Settles or releases what dead processes left. */
export async function openMoney(db: Db, context: MoneyContext): Promise<Money> {
  const { settings, reader, contents, secret, log, metrics, worker } = context;
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
  const answers = createKeptAnswers(db, contents, createSealer(secret, "idempotent answers"));
  const idempotency = createIdempotencyStore(db, answers, owner);
  const verify = (): Promise<LedgerVerdict> => verifyLedger(createLedgerAudit(reader), () => verifyAuditLog(reader));
  const budgets = createBudgetUpkeep(db);
  const sweepBudgets = (): Promise<number> => budgets.sweep(Date.now());
  const onAudit = metrics.ledgerProblems;
  const upkeep = createUpkeep({ verify, idempotency, sweepBudgets, ownerSilentMs, onAudit, log });
  // Must come before the first hold under this name.
  await worker?.link.call(WORKER_SERVICES.owner, owner);
  await keepBatchHolds(db);
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
