// One API key: its text, and the rules for its fields. New and changed keys obey the same rules. Behaviour 3.

import { hash, randomBytes } from "node:crypto";
import { GatewayError } from "../core/errors.ts";
import type { KeyChange, KeyRecord, SpendReset } from "../core/keys.ts";
import { checkedName } from "../core/names.ts";
import type { Residency } from "../core/requests/controls.ts";
import { BatchRejected } from "../core/store-errors.ts";
import type { Directory } from "./directory.ts";

const KEY_PREFIX = "sk-service-";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is just above 2^256: 32 random bytes fill 43 characters. */
const BODY_LENGTH = 43;
/** Enough to recognise a key in a list, too little to guess it. */
const SHOWN_LENGTH = KEY_PREFIX.length + 5;
const TEXT_LENGTH_MAX = 256;
const TEXT_SHAPE = /^sk-service-[A-Za-z0-9_-]+$/;

export function makeKeyText(): string {
  let rest = BigInt(`0x${randomBytes(32).toString("hex")}`);
  let body = "";
  while (body.length < BODY_LENGTH) {
    body = DIGITS.charAt(Number(rest % 62n)) + body;
    rest /= 62n;
  }
  return KEY_PREFIX + body;
}

/** Cheaply rules out texts that cannot be a key of ours, before anything is hashed or looked up. */
export function isKeyShaped(text: string): boolean {
  return text.length <= TEXT_LENGTH_MAX && TEXT_SHAPE.test(text);
}

/** Plain SHA-256 is enough: the key is 256 random bits, so there is no dictionary to try. */
export function hashKeyText(text: string): string {
  return hash("sha256", text, "hex");
}

export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly profileId?: string | null;
  readonly teamId?: string | null;
  readonly memberId?: string | null;
  readonly requires?: Residency | null;
  readonly requestsPerMinute?: number | null;
  readonly spendLimitNano?: bigint | null;
  readonly spendReset?: SpendReset;
  readonly expiresAtMs?: number | null;
  /** Left out, its own spending counts. */
  readonly spendKeyId?: string;
  /** Random if left out. With a fixed id a key is made exactly once: the second time is a UniqueViolation. */
  readonly id?: string;
}

/** A key that stands for the holder of an identity provider's tokens. Nobody knows a text with its hash. */
export interface DerivedKey extends Pick<KeyRecord, "id" | "accountId" | "name" | "hash" | "prefix"> {
  /** Fields that claims decide. Everything else can be changed like that of other keys. */
  readonly settings: Partial<Pick<KeyRecord, "profileId" | "teamId" | "memberId" | "requestsPerMinute">>;
}

/** A profile that does not exist is refused with each request, as for any key. */
export function toDerivedRecord({ settings, ...wanted }: DerivedKey, atMs: number): KeyRecord {
  const { profileId = null, teamId = null, memberId = null, requestsPerMinute = null } = settings;
  return {
    ...wanted,
    ...{
      profileId,
      teamId,
      memberId,
      requires: null,
      requestsPerMinute,
      spendLimitNano: null,
      spendReset: "never",
    },
    spendKeyId: wanted.id,
    ...{ expiresAtMs: null, revokedAtMs: null, lastUsedAtMs: null, createdAtMs: atMs },
  };
}

export function isDerived({ prefix }: Pick<KeyRecord, "prefix">): boolean {
  return !prefix.startsWith(KEY_PREFIX);
}

/** The surroundings that the rules need besides the fields themselves. */
interface RuleContext {
  readonly directory: Directory;
  readonly atMs: number;
}

/** The record of a new key with this text. Throws when a field breaks a rule. */
export async function toKeyRecord(wanted: NewKey, text: string, context: RuleContext): Promise<KeyRecord> {
  const { accountId, profileId = null, requestsPerMinute = null, expiresAtMs = null } = wanted;
  const { spendLimitNano = null, spendReset = "never", teamId = null, memberId = null } = wanted;
  const limits = { requestsPerMinute, spendLimitNano, spendReset, expiresAtMs };
  const fields = { name: wanted.name, profileId, teamId, memberId, requires: wanted.requires ?? null, ...limits };
  const id = wanted.id ?? newKeyId();
  return {
    ...(await checkedChange(fields, accountId, context)),
    id,
    spendKeyId: wanted.spendKeyId ?? id,
    accountId,
    prefix: text.slice(0, SHOWN_LENGTH),
    hash: hashKeyText(text),
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: context.atMs,
  };
}

/** The change with its name trimmed. Throws when a field breaks a rule. */
export async function checkedChange<Change extends KeyChange>(
  change: Change,
  accountId: string,
  { directory, atMs }: RuleContext,
): Promise<Change> {
  const { requestsPerMinute = null, spendLimitNano = null, expiresAtMs = null, profileId = null } = change;
  const name = change.name === undefined ? undefined : checkedName("A key", change.name);
  ensure(
    requestsPerMinute === null || (Number.isSafeInteger(requestsPerMinute) && requestsPerMinute >= 1),
    "requestsPerMinute",
    "The per-minute limit is a whole number of at least 1.",
  );
  ensure(spendLimitNano === null || spendLimitNano >= 0n, "spendLimitUsd", "A spend limit cannot be negative.");
  ensure(expiresAtMs === null || expiresAtMs > atMs, "expiresAt", "The expiry must be in the future.");
  await ensureProfile(directory, accountId, profileId);
  await ensureTeam(directory, accountId, change.teamId ?? null);
  return name === undefined ? change : { ...change, name };
}

/** A reset period needs a spend limit. `limit` is the one the key will have. */
export function ensureLimited({ spendReset = "never" }: Pick<KeyChange, "spendReset">, limit: bigint | null): void {
  const message = "A limit that resets needs an amount. Set the spend limit, too.";
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

async function ensureTeam(directory: Directory, accountId: string, teamId: string | null): Promise<void> {
  if (teamId === null) return;
  if (directory.team(teamId) === undefined) await directory.catchUp();
  const message = `The account has no team "${teamId}". Create it first, or leave the team out.`;
  ensure(directory.team(teamId)?.accountId === accountId, "team", message);
}

/** Turns the refusal of the store into the error for it: the rest was checked from memory. */
export async function ensureOwners<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    if (!(error instanceof BatchRejected)) throw error;
    const message =
      "The account has no such member or team. Invited people are members once they accept. List them with /api/users and /api/teams.";
    throw new GatewayError("badRequest", message, { param: "member" });
  }
}

function ensure(isMet: boolean, param: string, message: string): void {
  if (!isMet) throw new GatewayError("badRequest", message, { param });
}
