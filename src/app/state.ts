// Wiring of what is kept for clients: stored responses, conversations, routing sessions, files and batches.

import type { StoredBytesLimit } from "../accounts/limits/stored-bytes.ts";
import type { Ledger } from "../billing/ledger.ts";
import type { LiveSettings, Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { SessionTurn } from "../core/session.ts";
import type { StoredForm } from "../formats/stored-form.ts";
import type { BatchServices } from "../gateway/batches/services.ts";
import { createSessionKeeper, createTeller } from "../gateway/sessions/keeper.ts";
import { createSessionMemory } from "../gateway/sessions/memory.ts";
import { createSessions, type RoutingSessions } from "../gateway/sessions/sessions.ts";
import { createBackgroundRuns } from "../gateway/state/background.ts";
import type { StateServices } from "../gateway/state/services.ts";
import { createStateUpkeep } from "../gateway/state/upkeep.ts";
import { createBatchStore } from "../store/batches/batches.ts";
import { createFileStore } from "../store/batches/files.ts";
import { createNativeQueue } from "../store/batches/native.ts";
import { OwnLines } from "../store/batches/own-lines.ts";
import { createBatchQueue } from "../store/batches/queue.ts";
import { createUploadStore } from "../store/batches/uploads.ts";
import { createCacheStore } from "../store/responses/caches.ts";
import { createCompletionStore, createMark } from "../store/responses/completions.ts";
import { createSealedContent } from "../store/responses/content.ts";
import { createConversationStore } from "../store/responses/conversations.ts";
import { createResponseStore } from "../store/responses/responses.ts";
import { createResponseUpkeepStore } from "../store/responses/upkeep.ts";
import { createSealer } from "../store/secret/seal.ts";
import { createSessionStore } from "../store/session-turns.ts";
import { createRetention } from "../telemetry/retention.ts";
import { hasDuties, type WorkerDbs, type WorkerSlot } from "./worker.ts";

interface StateContext {
  readonly form: StoredForm;
  readonly live: () => Pick<LiveSettings, "responses" | "limits">;
  readonly storedBytes: StoredBytesLimit;
  readonly secret: Buffer;
  /** Name of this run of this process. */
  readonly owner: string;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

export interface OpenedState {
  readonly services: StateServices;
  close(): Promise<void>;
}

/** Opens stored responses and fails those of dead processes. The ledger must have deleted those processes before. */
export async function openState(
  { db, contents }: Pick<WorkerDbs, "db" | "contents">,
  { form, live, storedBytes, secret, owner, log, now, worker }: StateContext,
): Promise<OpenedState> {
  const runs = createBackgroundRuns();
  const store = createResponseUpkeepStore(contents, owner, { processes: db });
  const upkeep = createStateUpkeep({
    store,
    runs,
    bytesPerAccount: () => live().responses.responsesBytesPerAccount,
    log,
  });
  const sealed = createSealedContent(createSealer(secret, "responses"), {
    onUnreadable: (row) => log.error({ event: "responses.unreadable", ...row }, "stored content cannot be opened"),
    onSealed: upkeep.noteStored,
  });
  const caches = createCacheStore(contents, sealed, now);
  const retention = createRetention({
    ...{ subject: "responses", now, log },
    // A kept prompt has its own end.
    store: {
      deleteBefore: async (atMs, limit) =>
        (await store.deleteBefore(atMs, limit)) + (await caches.deleteExpired(limit)),
    },
    days: () => live().responses.responsesRetentionDays,
  });
  await upkeep.start();
  if (hasDuties(worker)) retention.start();
  return {
    services: {
      form,
      responses: createResponseStore(contents, sealed, owner),
      conversations: createConversationStore(contents, sealed),
      completions: createCompletionStore(contents, sealed, createMark(secret)),
      compactions: createSealer(secret, "compactions"),
      clientSecrets: createSealer(secret, "client secrets"),
      caches,
      runs,
      retentionDays: () => live().responses.responsesRetentionDays,
      conversationBytes: () => live().responses.conversationBytes,
      takeBytes: (keyId, bytes) => storedBytes(keyId, bytes, live().limits.storedBytesPerMinute),
      log,
      now,
    },
    async close() {
      upkeep.stop();
      await retention.stop();
    },
  };
}

interface SessionsContext {
  readonly live: () => Pick<LiveSettings, "routing">;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

/** Topic of turns, as JSON: every worker reads the turns of all others, and objects would cost five times as much. */
const SESSION_TURNS = "session-turns";
const MINUTE_MS = 60_000;
/** Time for which tool loops are remembered even if sessions are off. */
const LOOP_MINUTES = 60;

/** Starts to keep turns; `close` writes what waits. */
export async function openSessions(
  db: Db,
  { live, log, now, worker }: SessionsContext,
): Promise<RoutingSessions & { close(): Promise<void> }> {
  const isOn = () => live().routing.sessionMinutes > 0;
  const idleMs = () => (isOn() ? live().routing.sessionMinutes : LOOP_MINUTES) * MINUTE_MS;
  const memory = createSessionMemory(idleMs, now);
  const keeper = createSessionKeeper({
    store: createSessionStore(db),
    learn: memory.learn,
    idleMs,
    isShared: db.kind === "postgres",
    hasDuties: hasDuties(worker),
    now,
    log,
  });
  worker?.link.on(SESSION_TURNS, (turns) => {
    for (const turn of JSON.parse(turns as string) as readonly SessionTurn[]) memory.learn(turn);
  });
  await keeper.start();
  let share = keeper.keep;
  if (worker !== null) {
    const tell = createTeller((turns) => worker.link.publish(SESSION_TURNS, JSON.stringify(turns)));
    share = (turn) => {
      keeper.keep(turn);
      tell(turn);
    };
  }
  return { ...createSessions({ memory, isOn, now, share }), close: keeper.stop };
}

interface FileStoreContext {
  readonly settings: Pick<Settings, "files">;
  readonly ledger: Pick<Ledger, "end">;
  readonly secret: Buffer;
  /** Name of this run of this process. */
  readonly owner: string;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

export interface OpenedBatches {
  readonly services: BatchServices;
  close(): Promise<void>;
}

export function openBatches(
  { db, contents }: Pick<WorkerDbs, "db" | "contents">,
  { settings, secret, owner, ledger, log, now, worker }: FileStoreContext,
): OpenedBatches {
  const { filesBytesPerAccount, filesPerAccount, filesRetentionDays } = settings.files;
  const { batchConcurrency, batchNativeFrom, batchBytesPerAccount } = settings.files;
  const lines = createSealer(secret, "batches");
  const own = new OwnLines();
  const queue = createBatchQueue(contents, lines, { owner, processes: db, endHolds: ledger.end, own });
  const sealer = createSealer(secret, "files");
  const files = createFileStore(contents, sealer);
  const uploads = createUploadStore(contents, sealer);
  const retention = createRetention({
    ...{ subject: "files", now, log },
    // A file has its own end.
    store: {
      deleteBefore: async (atMs, limit) =>
        (await uploads.deleteExpired(atMs, limit)) +
        (await files.deleteExpired(atMs, limit)) +
        (await queue.deleteBefore(atMs, limit)),
    },
    days: () => 0,
  });
  if (hasDuties(worker)) retention.start();
  return {
    services: {
      files,
      uploads,
      room: { bytes: filesBytesPerAccount, files: filesPerAccount },
      retentionDays: filesRetentionDays,
      store: createBatchStore(contents, lines),
      queue,
      native: createNativeQueue(contents, lines, { owner, own }),
      nativeFrom: batchNativeFrom,
      concurrency: batchConcurrency,
      bytesPerAccount: batchBytesPerAccount,
    },
    close: () => retention.stop(),
  };
}
