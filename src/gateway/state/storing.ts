// Admission of contents that a request wants stored: the account needs credits, and each key has a byte rate.

import { GatewayError } from "../../core/errors.ts";
import type { JsonItem } from "../../core/responses/stored.ts";
import type { Caller } from "../call.ts";
import { hasCredits, requireCredits } from "../reserve.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import type { StateServices } from "./services.ts";

/** Throws for an account without credits. A response needs no such look, because its hold refuses it. */
export async function requireStoringCredits(
  { key: { accountId } }: Caller,
  services: Pick<Services, "ledger" | "billingModeOf">,
): Promise<void> {
  if (!hasCredits(accountId, services)) await requireCredits(accountId, services);
}

/** Counts items against the byte rate of the key. Throws if the key has stored too much in this minute. */
export async function countStored(
  { key }: Caller,
  items: readonly JsonItem[],
  { takeBytes }: Pick<StateServices, "takeBytes">,
): Promise<void> {
  const retryAfterSeconds = await takeBytes(key.id, Buffer.byteLength(JSON.stringify(items)));
  if (retryAfterSeconds === 0) return;
  const message = TEXT.storedTooMuch(retryAfterSeconds);
  throw new GatewayError("rateLimited", message, { code: "stored_bytes_exceeded", retryAfterSeconds });
}
