// Forgetting a repeatable request that got no answer, so that it can be tried again. A store that is away only delays it:
// otherwise its key would be taken for a day by a request that is long over.

import { setTimeout as wait } from "node:timers/promises";
import type { Call } from "./call.ts";
import type { Services } from "./services.ts";

const RETRY_MS = 1_000;
/** By then the store's own sweep has removed it. */
const TRIES_MAX = (24 * 60 * 60 * 1000) / RETRY_MS;

export async function forgetAnswer(
  { requestId, idempotencyId }: Pick<Call, "requestId" | "idempotencyId">,
  { idempotency, log }: Pick<Services, "idempotency" | "log">,
): Promise<void> {
  if (idempotencyId === null) return;
  try {
    await idempotency.forget(idempotencyId);
  } catch (error) {
    log.warn({ requestId, err: error }, "an idempotency key could not be freed; trying again");
    void keepTrying(() => idempotency.forget(idempotencyId));
  }
}

async function keepTrying(forget: () => Promise<void>): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    await wait(RETRY_MS, undefined, { ref: false });
    const isDone = await forget().then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
}
