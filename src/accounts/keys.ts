// API keys: made, listed, revoked, and verified on every request from memory.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../core/errors.ts";
import type { KeyRecord, KeyStore, Log, Page, Profile } from "../core/ports.ts";
import type { Directory } from "./directory.ts";
import { hashKeyText, isKeyShaped, makeKeyText, shownPrefix } from "./key-text.ts";
import { createLastUsed } from "./last-used.ts";
import { createUnknownKeys } from "./unknown-keys.ts";

export type Verification =
  | { readonly state: "ok"; readonly key: KeyRecord; readonly profile: Profile | null }
  | { readonly state: "unknown" }
  | { readonly state: "profile-deleted" };

export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly profileId?: string | null;
  readonly requestsPerMinute?: number | null;
  readonly spendLimitNano?: bigint | null;
  readonly expiresAtMs?: number | null;
  /** Left out, a random one. A fixed one lets a caller make a key exactly once: the second time is a UniqueViolation. */
  readonly id?: string;
}

export interface MadeKey {
  readonly key: KeyRecord;
  readonly text: string;
}

export interface Keys {
  /** The text is in the answer and nowhere else. */
  create(wanted: NewKey): Promise<MadeKey>;
  /** A value for keys that are known; a promise only when the database has to be asked. Rejects when it cannot be. */
  verify(text: string): Verification | Promise<Verification>;
  list(accountId: string, page: Page): Promise<readonly KeyRecord[]>;
  /** False when the account has no such key. */
  revoke(accountId: string, id: string): Promise<boolean>;
  /** A new key like the old one, which expires after the grace. Null when the account has no such key. */
  rotate(accountId: string, id: string, graceMs: number): Promise<MadeKey | null>;
  /** The keys of the account that have this profile. */
  ofProfile(accountId: string, profileId: string): Promise<readonly KeyRecord[]>;
  /** Writes the `last used` times gathered since the last call. */
  flush(): Promise<void>;
  start(): void;
  /** Ends the timers and flushes. */
  stop(): Promise<void>;
}

export interface KeysOptions {
  readonly store: KeyStore;
  readonly directory: Directory;
  readonly log: Log;
  readonly now?: () => number;
  readonly flushMs?: number;
}

export function createKeys({ store, directory, log, now = Date.now, flushMs = 60_000 }: KeysOptions): Keys {
  const lastUsed = createLastUsed({ store, log, flushMs });
  const unknownKeys = createUnknownKeys(now);

  const judge = (key: KeyRecord): Verification => {
    const atMs = now();
    const verification = judgeKey(key, directory, atMs);
    if (verification.state === "ok") lastUsed.note(key.id, atMs);
    return verification;
  };
  const lookUp = async (hash: string): Promise<Verification> => {
    await directory.catchUp();
    const key = find(directory, hash);
    if (key !== undefined) return judge(key);
    unknownKeys.add(hash);
    return UNKNOWN;
  };

  return {
    create: async (wanted) => {
      const text = makeKeyText();
      const key = await toRecord(wanted, { text, directory, atMs: now() });
      await store.insert(key);
      directory.putKey(key);
      return { key, text };
    },
    verify: (text) => {
      if (!isKeyShaped(text)) return UNKNOWN;
      const hash = hashKeyText(text);
      const key = find(directory, hash);
      if (key !== undefined) return judge(key);
      return unknownKeys.has(hash) ? UNKNOWN : lookUp(hash);
    },
    list: async (accountId, page) => (await store.list(accountId, page)).map(lastUsed.overlay),
    revoke: async (accountId, id) => {
      const atMs = now();
      const isFound = await store.revoke(accountId, id, atMs);
      if (!isFound) return false;
      const known = directory.keyById(id);
      if (known === undefined) await directory.catchUp();
      else directory.putKey({ ...known, revokedAtMs: known.revokedAtMs ?? atMs });
      return true;
    },
    rotate: async (accountId, id, graceMs) => {
      await directory.catchUp();
      const old = directory.keyById(id);
      if (old?.accountId !== accountId) return null;
      const atMs = now();
      if (keyStatus(old, atMs) !== "active") throw notActive();
      const text = makeKeyText();
      const key = await toRecord({ ...old, id: newKeyId() }, { text, directory, atMs });
      const expiresAtMs = Math.min(old.expiresAtMs ?? Number.POSITIVE_INFINITY, atMs + graceMs);
      await store.insert(key, { id, expiresAtMs });
      directory.putKey(key);
      directory.putKey({ ...old, expiresAtMs });
      return { key, text };
    },
    ofProfile: async (accountId, profileId) => {
      const keys = (await store.all()).filter((key) => key.accountId === accountId && key.profileId === profileId);
      return keys.map(lastUsed.overlay);
    },
    flush: lastUsed.flush,
    start: lastUsed.start,
    stop: lastUsed.stop,
  };
}

export type KeyStatus = "active" | "revoked" | "expired";

export function keyStatus(key: KeyRecord, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return "revoked";
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active";
}

const UNKNOWN: Verification = { state: "unknown" };

function find(directory: Directory, hash: string): KeyRecord | undefined {
  const key = directory.keyByHash(hash);
  if (key === undefined) return undefined;
  return timingSafeEqual(Buffer.from(key.hash, "hex"), Buffer.from(hash, "hex")) ? key : undefined;
}

function judgeKey(key: KeyRecord, directory: Directory, atMs: number): Verification {
  if (keyStatus(key, atMs) !== "active") return UNKNOWN;
  if (key.profileId === null) return { state: "ok", key, profile: null };
  const profile = directory.profile(key.profileId);
  if (profile === undefined || profile.accountId !== key.accountId) return { state: "profile-deleted" };
  return { state: "ok", key, profile };
}

interface Making {
  readonly text: string;
  readonly directory: Directory;
  readonly atMs: number;
}

async function toRecord(wanted: NewKey, { text, directory, atMs }: Making): Promise<KeyRecord> {
  const { accountId, profileId = null, requestsPerMinute = null, spendLimitNano = null, expiresAtMs = null } = wanted;
  const name = wanted.name.trim();
  ensure(name.length >= 1 && name.length <= 200, "name", "A key's name has 1 to 200 characters.");
  ensure(
    requestsPerMinute === null || (Number.isSafeInteger(requestsPerMinute) && requestsPerMinute >= 1),
    "requestsPerMinute",
    "The per-minute limit is a whole number of at least 1.",
  );
  ensure(spendLimitNano === null || spendLimitNano >= 0n, "spendLimitUsd", "A spend limit is not negative.");
  ensure(expiresAtMs === null || expiresAtMs > atMs, "expiresAt", "The expiry must lie in the future.");
  await ensureProfile(directory, accountId, profileId);
  return {
    id: wanted.id ?? newKeyId(),
    accountId,
    name,
    prefix: shownPrefix(text),
    hash: hashKeyText(text),
    profileId,
    requestsPerMinute,
    spendLimitNano,
    expiresAtMs,
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: atMs,
  };
}

function newKeyId(): string {
  return `key_${randomBytes(12).toString("hex")}`;
}

function notActive(): GatewayError {
  return new GatewayError("conflict", "This key was revoked or has expired: there is nothing to take the place of.", {
    code: "key_not_active",
  });
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
