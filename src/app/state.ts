// Wiring of stored responses and conversations: the secret, their tables, and their upkeep.

import { randomBytes } from "node:crypto";
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
import { isSecretChanged, openSecret } from "../store/secret/secret.ts";
import { createRetention } from "../telemetry/retention.ts";

interface StateContext {
  readonly settings: Pick<Settings, "secret" | "dataDir" | "responses">;
  /** The name of this run of this process. */
  readonly owner: string;
  readonly log: Log;
  readonly now: () => number;
}

export interface OpenedState {
  readonly services: StateServices;
  close(): Promise<void>;
}

/** Started; responses of dead processes have failed. The ledger has forgotten those processes before. */
export async function openState(db: Db, { settings, owner, log, now }: StateContext): Promise<OpenedState> {
  const { responsesRetentionDays, responsesBytesPerAccount, conversationBytes } = settings.responses;
  const secret = await secretFor(db, settings, log);
  const runs = createBackgroundRuns();
  const store = createResponseUpkeepStore(db, owner);
  const upkeep = createStateUpkeep({ store, runs, bytesPerAccount: responsesBytesPerAccount, log });
  const sealed = createSealedContent(createSealer(secret, "responses"), {
    onUnreadable: (row) => log.error({ event: "responses.unreadable", ...row }, "stored content cannot be opened"),
    onSealed: upkeep.noteStored,
  });
  const retention = createRetention({ subject: "responses", store, days: responsesRetentionDays, now, log });
  await upkeep.start();
  retention.start();
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

/** A process that finds no secret serves all the same: what it stores lasts as long as it runs. */
async function secretFor(db: Db, settings: StateContext["settings"], log: Log): Promise<Buffer> {
  let secret: Buffer;
  try {
    secret = openSecret(settings);
  } catch (error) {
    log.error({ event: "secret.unavailable", err: error }, "the secret file can be neither read nor made");
    return randomBytes(32);
  }
  if (await isSecretChanged(db, secret))
    log.error({ event: "secret.changed" }, "the database was last used with another secret");
  return secret;
}
