// Wiring of stored responses and conversations: their tables and their upkeep.

import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { createBackgroundRuns } from "../gateway/state/background.ts";
import type { StateServices } from "../gateway/state/services.ts";
import { createStateUpkeep } from "../gateway/state/upkeep.ts";
import { createSealedContent } from "../store/responses/content.ts";
import { createConversationStore } from "../store/responses/conversations.ts";
import { createResponseStore } from "../store/responses/responses.ts";
import { createResponseUpkeepStore } from "../store/responses/upkeep.ts";
import { createSealer } from "../store/secret/seal.ts";
import { createRetention } from "../telemetry/retention.ts";
import { hasDuties, type WorkerSlot } from "./worker.ts";

interface StateContext {
  readonly settings: Pick<Settings, "responses">;
  readonly secret: Buffer;
  /** The name of this run of this process. */
  readonly owner: string;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

export interface OpenedState {
  readonly services: StateServices;
  close(): Promise<void>;
}

/** Started; responses of dead processes have failed. The ledger has forgotten those processes before. */
export async function openState(
  db: Db,
  { settings, secret, owner, log, now, worker }: StateContext,
): Promise<OpenedState> {
  const { responsesRetentionDays, responsesBytesPerAccount, conversationBytes } = settings.responses;
  const runs = createBackgroundRuns();
  const store = createResponseUpkeepStore(db, owner);
  const upkeep = createStateUpkeep({ store, runs, bytesPerAccount: responsesBytesPerAccount, log });
  const sealed = createSealedContent(createSealer(secret, "responses"), {
    onUnreadable: (row) => log.error({ event: "responses.unreadable", ...row }, "stored content cannot be opened"),
    onSealed: upkeep.noteStored,
  });
  const retention = createRetention({ subject: "responses", store, days: responsesRetentionDays, now, log });
  await upkeep.start();
  if (hasDuties(worker)) retention.start();
  return {
    services: {
      responses: createResponseStore(db, sealed, owner),
      conversations: createConversationStore(db, sealed),
      compactions: createSealer(secret, "compactions"),
      runs,
      conversationBytes,
      log,
      now,
    },
    async close() {
      upkeep.stop();
      await retention.stop();
    },
  };
}
