// The services behind stored responses and conversations. `app/state.ts` builds them once.

import type { Log } from "../../core/log.ts";
import type { CacheStore } from "../../core/responses/caches.ts";
import type { CompletionStore } from "../../core/responses/completions.ts";
import type { ConversationStore, ResponseStore } from "../../core/responses/stored.ts";
import type { StoredForm } from "../../formats/stored-form.ts";
import type { Sealer } from "../../store/secret/seal.ts";
import type { BackgroundRuns } from "./background.ts";

export interface StateServices {
  /** The form in which responses are stored. */
  readonly form: StoredForm;
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly completions: CompletionStore;
  readonly caches: CacheStore;
  readonly retentionDays: () => number;
  /** For summaries that clients carry. */
  readonly compactions: Sealer;
  /** Seals client secrets of realtime sessions. */
  readonly clientSecrets: Sealer;
  readonly runs: BackgroundRuns;
  /** The most bytes that a continued conversation may have. */
  readonly conversationBytes: () => number;
  /** Counts bytes that a key is about to store. Returns 0, or the seconds to wait if nothing may be stored now. */
  readonly takeBytes: (keyId: string, bytes: number) => Promise<number>;
  readonly log: Log;
  readonly now: () => number;
}
