// What a key may look like: the same rules for one that is made and for one that is changed.

import { randomBytes } from "node:crypto";
import { GatewayError } from "../core/errors.ts";
import type { KeyChange, KeyRecord } from "../core/keys.ts";
import type { SpendReset } from "../core/spend-reset.ts";
import type { Directory } from "./directory.ts";
import { hashKeyText, shownPrefix } from "./key-text.ts";

export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly profileId?: string | null;
  readonly requestsPerMinute?: number | null;
  readonly spendLimitNano?: bigint | null;
  readonly spendReset?: SpendReset;
  readonly expiresAtMs?: number | null;
  /** Left out, a random one. A fixed one lets a caller make a key exactly once: the second time is a UniqueViolation. */
  readonly id?: string;
}

interface Making {
  readonly text: string;
  readonly directory: Directory;
  readonly atMs: number;
}

export async function toRecord(wanted: NewKey, { text, directory, atMs }: Making): Promise<KeyRecord> {
  const { accountId, profileId = null, requestsPerMinute = null, expiresAtMs = null } = wanted;
  const { spendLimitNano = null, spendReset = "never" } = wanted;
  const asked = { name: wanted.name, profileId, requestsPerMinute, spendLimitNano, spendReset, expiresAtMs };
  const checked = await checkedChange(asked, { accountId, directory, atMs });
  return {
    ...checked,
    id: wanted.id ?? newKeyId(),
    accountId,
    prefix: shownPrefix(text),
    hash: hashKeyText(text),
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: atMs,
  };
}

interface Checking {
  readonly accountId: string;
  readonly directory: Directory;
  readonly atMs: number;
}

/** The same rules for a new key and for one that is changed. */
export async function checkedChange<Change extends KeyChange>(change: Change, context: Checking): Promise<Change> {
  const { requestsPerMinute = null, spendLimitNano = null, expiresAtMs = null, profileId = null } = change;
  const name = change.name?.trim();
  ensure(
    name === undefined || (name.length >= 1 && name.length <= 200),
    "name",
    "A key's name has 1 to 200 characters.",
  );
  ensure(
    requestsPerMinute === null || (Number.isSafeInteger(requestsPerMinute) && requestsPerMinute >= 1),
    "requestsPerMinute",
    "The per-minute limit is a whole number of at least 1.",
  );
  ensure(spendLimitNano === null || spendLimitNano >= 0n, "spendLimitUsd", "A spend limit is not negative.");
  ensure(expiresAtMs === null || expiresAtMs > context.atMs, "expiresAt", "The expiry must lie in the future.");
  await ensureProfile(context.directory, context.accountId, profileId);
  return name === undefined ? change : { ...change, name };
}

/** A limit that starts anew has to be one. `limit` is what the key will have. */
export function ensureLimited({ spendReset = "never" }: Pick<KeyChange, "spendReset">, limit: bigint | null): void {
  const message = "A limit that starts anew each day, week or month needs an amount: set the spend limit, too.";
  ensure(spendReset === "never" || limit !== null, "spendReset", message);
}

export function newKeyId(): string {
  return `key_${randomBytes(12).toString("hex")}`;
}

async function ensureProfile(directory: Directory, accountId: string, profileId: string | null): Promise<void> {
  if (profileId === null) return;
  // Another process may have made the profile a moment ago.
  if (directory.profile(profileId) === undefined) await directory.catchUp();
  ensure(
    directory.profile(profileId)?.accountId === accountId,
    "profile",
    `The account has no profile "${profileId}". Create it first, or leave the profile out.`,
  );
}

function ensure(isMet: boolean, param: string, message: string): void {
  if (!isMet) throw new GatewayError("badRequest", message, { param });
}
