// Wiring of request records: how they are written, kept and read.

import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { Records } from "../http/context.ts";
import { type AuditLog, createAuditLog } from "../store/audit/log.ts";
import { createExploreLog } from "../store/requests/explore.ts";
import { createLoggedSessions } from "../store/requests/logged-sessions.ts";
import { createOutcomeStore } from "../store/requests/outcomes.ts";
import { createDecisionLog, createRequestLog } from "../store/requests/requests.ts";
import { createUsageLog } from "../store/requests/rollups.ts";
import { createToolCallLog } from "../store/requests/tool-call-tallies.ts";
import { createRecordStore } from "../store/requests/write.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createRecorder } from "../telemetry/recorder.ts";
import { createRetention } from "../telemetry/retention.ts";
import { createTail } from "../telemetry/tail.ts";
import { createSeenToolCalls, type SeenToolCallsKeeper } from "../telemetry/tool-calls.ts";
import { hasDuties, shareTail, type WorkerDbs, type WorkerSlot } from "./worker.ts";

export interface RecordsContext {
  readonly logging: () => Settings["logging"];
  readonly log: Log;
  readonly metrics: Pick<Metrics, "recordsDropped" | "recordsWaiting" | "storeError">;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

interface AuditContext extends Pick<RecordsContext, "logging" | "log" | "now" | "worker"> {
  readonly reader: Db;
}

/** Completes entries that dead processes left, and deletes old ones; both in one process. */
export function openAuditLog(
  db: Db,
  { reader, logging, log, now, worker }: AuditContext,
): { readonly audit: AuditLog; close(): Promise<void> } {
  const audit = createAuditLog(db, { reader, now });
  const days = () => logging().auditRetentionDays;
  const retention = createRetention({ subject: "audit", store: audit, days, now, log });
  const recover = () =>
    void audit
      .recover()
      .catch((err: unknown) => log.warn({ event: "audit.recover_failed", err }, "audit entries could not be added"));
  if (!hasDuties(worker)) return { audit, close: () => retention.stop() };
  retention.start();
  const timer = setInterval(recover, RECOVER_MS).unref();
  recover();
  return {
    audit,
    async close() {
      clearInterval(timer);
      await retention.stop();
    },
  };
}

const RECOVER_MS = 30_000;

/**
 * Batches that run at once. SQLite's thread commits five times a second: with one batch per commit, records would be
 * dropped beyond 2,500 requests a second.
 */
const WRITES_MAX: Readonly<Record<Db["kind"], number>> = { sqlite: 4, postgres: 2 };

/** Opens and starts the request log; `close` writes what waits. */
export async function openRecords(
  { db, log: logDb, reader }: WorkerDbs,
  { logging, log, metrics, now, worker }: RecordsContext,
): Promise<Records & { readonly toolCallsSeen: SeenToolCallsKeeper; close(): Promise<void> }> {
  const store = createRecordStore(logDb);
  const requests = createRequestLog(reader, logDb);
  // One gateway serves a SQLite file; several may share a PostgreSQL database.
  const tail = shareTail(createTail({ requests, isShared: db.kind === "postgres", now, log }), worker);
  const recorder = createRecorder({
    store,
    log,
    onWritten(batch) {
      if (tail.isWatched()) tail.tell(batch.written());
    },
    onDrop: metrics.recordsDropped,
    onDepth: metrics.recordsWaiting,
    onAway: () => metrics.storeError("records"),
    writesMax: WRITES_MAX[logDb.kind],
  });
  const retention = createRetention({ subject: "records", store, days: () => logging().retentionDays, now, log });
  const toolCalls = createToolCallLog(reader);
  const toolCallsSeen = createSeenToolCalls(toolCalls, log);
  recorder.start();
  if (hasDuties(worker)) retention.start();
  await toolCallsSeen.start();
  return {
    recorder,
    requests,
    outcomes: createOutcomeStore({ db, log: logDb, reader }),
    tail,
    loggedSessions: createLoggedSessions(reader),
    usage: createUsageLog(reader),
    explore: createExploreLog(reader),
    decisions: createDecisionLog(reader),
    toolCalls,
    toolCallsSeen,
    async close() {
      await toolCallsSeen.stop();
      await retention.stop();
      await recorder.stop();
      tail.close();
    },
  };
}
