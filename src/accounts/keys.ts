// API keys: made, listed, changed, revoked, and verified on every request from memory.

import { timingSafeEqual } from "node:crypto";
import type { Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import type { KeyChange, KeyRecord, KeyStore } from "../core/keys.ts";
import type { Log } from "../core/log.ts";
import type { Profile } from "../core/profiles.ts";
import type { Directory } from "./directory.ts";
import { checkedChange, ensureLimited, type NewKey, newKeyId, toRecord } from "./key-rules.ts";
import { hashKeyText, isKeyShaped, makeKeyText } from "./key-text.ts";
import { createLastUsed } from "./last-used.ts";
import { createUnknownKeys } from "./unknown-keys.ts";

export type Verification =
  | { readonly state: "ok"; readonly key: KeyRecord; readonly profile: Profile | null }
  | { readonly state: "unknown" }
  | { readonly state: "profile-deleted" };

export interface MadeKey {
  readonly key: KeyRecord;
  readonly text: string;
}

export interface Keys {
  /** The text is in the answer and nowhere else. */
  create(wanted: NewKey): Promise<MadeKey>;
  /**
   * A value for keys that are known; a promise only when the database has to be asked. Rejects when it cannot be.
   * Without `mayAsk` it is not asked: a key that is not known here is unknown.
   */
  verify(text: string, mayAsk?: boolean): Verification | Promise<Verification>;
  list(accountId: string, page: Page): Promise<readonly KeyRecord[]>;
  /** Null when the account has no such key; one that is over cannot be changed. */
  active(accountId: string, id: string): Promise<KeyRecord | null>;
  /** What is left out stays. Null when the account has no such key; a key that is over cannot be changed. */
  change(accountId: string, id: string, change: KeyChange): Promise<KeyRecord | null>;
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
      ensureLimited(wanted, wanted.spendLimitNano ?? null);
      const text = makeKeyText();
      const key = await toRecord(wanted, { text, directory, atMs: now() });
      await store.insert(key);
      directory.putKey(key);
      return { key, text };
    },
    verify: (text, mayAsk = true) => {
      if (!isKeyShaped(text)) return UNKNOWN;
      const hash = hashKeyText(text);
      const key = find(directory, hash);
      if (key !== undefined) return judge(key);
      return !mayAsk || unknownKeys.has(hash) ? UNKNOWN : lookUp(hash);
    },
    list: async (accountId, page) => (await store.list(accountId, page)).map(lastUsed.overlay),
    active: async (accountId, id) => {
      const key = await activeKey(directory, { accountId, id, atMs: now() });
      return key === null ? null : lastUsed.overlay(key);
    },
    change: async (accountId, id, change) => {
      const key = await changeKey({ store, directory, atMs: now() }, { accountId, id, change });
      if (key !== null) directory.putKey(key);
      return key === null ? null : lastUsed.overlay(key);
    },
    revoke: async (accountId, id) => {
      const atMs = now();
      const isFound = await store.revoke(accountId, id, atMs);
      if (!isFound) return false;
      const known = directory.keyById(id);
      if (known === undefined) await directory.catchUp();
      else directory.putKey({ ...known, revokedAtMs: known.revokedAtMs ?? atMs });
      return true;
    },
    rotate: (accountId, id, graceMs) => rotateKey({ store, directory, atMs: now() }, { accountId, id, graceMs }),
    ofProfile: async (accountId, profileId) => {
      const keys = (await store.all()).filter((key) => key.accountId === accountId && key.profileId === profileId);
      return keys.map(lastUsed.overlay);
    },
    flush: lastUsed.flush,
    start: lastUsed.start,
    stop: lastUsed.stop,
  };
}

interface Changing {
  readonly store: KeyStore;
  readonly directory: Directory;
  readonly atMs: number;
}

interface WantedChange {
  readonly accountId: string;
  readonly id: string;
  readonly change: KeyChange;
}

async function changeKey({ store, directory, atMs }: Changing, wanted: WantedChange): Promise<KeyRecord | null> {
  const { accountId, id, change } = wanted;
  const old = await activeKey(directory, { accountId, id, atMs });
  if (old === null) return null;
  ensureLimited(change, change.spendLimitNano === undefined ? old.spendLimitNano : change.spendLimitNano);
  const checked = await checkedChange(withoutReset(change), { accountId, directory, atMs });
  const changed = await store.update(accountId, id, checked);
  if (changed === null) throw notActive(UNCHANGEABLE);
  return changed;
}

/** With the limit goes what would start it anew. */
function withoutReset(change: KeyChange): KeyChange {
  return change.spendLimitNano === null ? { ...change, spendReset: "never" } : change;
}

interface WantedRotation {
  readonly accountId: string;
  readonly id: string;
  readonly graceMs: number;
}

async function rotateKey({ store, directory, atMs }: Changing, wanted: WantedRotation): Promise<MadeKey | null> {
  const { accountId, id, graceMs } = wanted;
  const old = await activeKey(directory, { accountId, id, atMs }, "there is nothing to take the place of");
  if (old === null) return null;
  const text = makeKeyText();
  const key = await toRecord({ ...old, id: newKeyId() }, { text, directory, atMs });
  const expiresAtMs = Math.min(old.expiresAtMs ?? Number.POSITIVE_INFINITY, atMs + graceMs);
  await store.insert(key, { id, expiresAtMs });
  directory.putKey(key);
  directory.putKey({ ...old, expiresAtMs });
  return { key, text };
}

const UNCHANGEABLE = "it cannot be changed";

interface Wanted {
  readonly accountId: string;
  readonly id: string;
  readonly atMs: number;
}

/** Null when the account has no such key. Throws, naming the consequence, when it is over. */
async function activeKey(
  directory: Directory,
  { accountId, id, atMs }: Wanted,
  consequence = UNCHANGEABLE,
): Promise<KeyRecord | null> {
  await directory.catchUp();
  const key = directory.keyById(id);
  if (key?.accountId !== accountId) return null;
  if (keyStatus(key, atMs) !== "active") throw notActive(consequence);
  return key;
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

function notActive(consequence: string): GatewayError {
  return new GatewayError("conflict", `This key was revoked or has expired: ${consequence}. Make a new one.`, {
    code: "key_not_active",
  });
}
