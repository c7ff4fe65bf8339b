// API keys: create, list, change, revoke and rotate them, and verify them on every request from memory. Behaviour 3.

import { timingSafeEqual } from "node:crypto";
import type { Page, Profile, Team } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import type { KeyChange, KeyRecord, KeySearch, KeyStatus, KeyStore } from "../core/keys.ts";
import type { Log } from "../core/log.ts";
import { shownName } from "../core/names.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import type { Directory } from "./directory.ts";
import {
  checkedChange,
  type DerivedKey,
  ensureLimited,
  ensureOwners,
  hashKeyText,
  isDerived,
  isKeyShaped,
  makeKeyText,
  type NewKey,
  newKeyId,
  toDerivedRecord,
  toKeyRecord,
} from "./key.ts";

export type Verification =
  /** `teams`: the key's team and the team around it. */
  | {
      readonly state: "ok";
      readonly key: KeyRecord;
      readonly profile: Profile | null;
      readonly teams: readonly Team[];
    }
  | { readonly state: "unknown" }
  | { readonly state: "profile-deleted" };

export interface MadeKey {
  readonly key: KeyRecord;
  readonly text: string;
}

export interface Keys {
  /** The text is returned here and stored nowhere. */
  create(wanted: NewKey): Promise<MadeKey>;
  /**
   * Reads memory first, and asks the database for a key that is not there. Rejects when the database cannot be asked. Where
   * `mayAsk` says no, a key that is not in memory is unknown.
   */
  verify(text: string, mayAsk?: () => boolean): Promise<Verification>;
  /** From memory, by the hash of a key that `derive` made. */
  verifyHash(hash: string): Verification;
  /** Makes the key of a token's holder unless it exists, and gives it the settings. No text opens it. */
  derive(wanted: DerivedKey): Promise<void>;
  list(accountId: string, page: Page, search?: KeySearch): Promise<readonly KeyRecord[]>;
  /** Counts the keys that a search finds. */
  count(accountId: string, search?: KeySearch): Promise<number>;
  /** Counts the active keys of each profile, by its id; profiles without any are left out. */
  countByProfile(accountId: string): Promise<ReadonlyMap<string, number>>;
  get(accountId: string, id: string): Promise<KeyRecord | null>;
  /** From memory, also of revoked keys; null when the account has no such key. */
  nameOf(accountId: string, id: string): string | null;
  /** Returns null when the account has no such key. Throws when the key was revoked or has expired. */
  active(accountId: string, id: string): Promise<KeyRecord | null>;
  /** Fields left out stay. Null when the account has no such key. Throws when it was revoked or has expired. */
  change(accountId: string, id: string, change: KeyChange): Promise<KeyRecord | null>;
  /** The ids of those that the account has. */
  revoke(accountId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Makes a new key like the old one, which expires after the grace period, or is revoked without one. Null when the account has no such key. */
  rotate(accountId: string, id: string, graceMs: number): Promise<MadeKey | null>;
  /** Writes the last-used times gathered since the last call. */
  flush(): Promise<void>;
  start(): void;
  /** Stops the timer and flushes. */
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

  const withLastUse = (key: KeyRecord | null) => (key === null ? null : lastUsed.overlay(key));

  return {
    create: async (wanted) => {
      ensureLimited(wanted, wanted.spendLimitNano ?? null);
      const text = makeKeyText();
      const key = await toKeyRecord(wanted, text, { directory, atMs: now() });
      await ensureOwners(store.insert(key));
      directory.putKey(key);
      return { key, text };
    },
    verify: async (text, mayAsk = () => true) => {
      if (!isKeyShaped(text)) return UNKNOWN;
      const hash = hashKeyText(text);
      const key = find(directory, hash);
      if (key !== undefined) return judge(key);
      return !mayAsk() || unknownKeys.has(hash) ? UNKNOWN : lookUp(hash);
    },
    verifyHash: (hash) => {
      const key = find(directory, hash);
      return key === undefined ? UNKNOWN : judge(key);
    },
    derive: (wanted) => deriveKey({ store, directory, atMs: now() }, wanted),
    list: async (accountId, page, search) => (await store.list(accountId, page, now(), search)).map(lastUsed.overlay),
    count: (accountId, search) => store.count(accountId, now(), search),
    countByProfile: (accountId) => store.countByProfile(accountId, now()),
    get: async (accountId, id) => withLastUse(await store.get(accountId, id)),
    nameOf: (accountId, id) => {
      const key = directory.keyById(id);
      return key?.accountId === accountId ? shownName(key.name) : null;
    },
    active: async (accountId, id) => withLastUse(await activeKey({ directory, atMs: now() }, { accountId, id })),
    change: async (accountId, id, change) => {
      const key = await changeKey({ store, directory, atMs: now() }, { accountId, id, change });
      if (key !== null) directory.putKey(key);
      return withLastUse(key);
    },
    revoke: (accountId, ids) => revokeKeys({ store, directory, atMs: now() }, accountId, ids),
    rotate: (accountId, id, graceMs) => rotateKey({ store, directory, atMs: now() }, { accountId, id, graceMs }),
    ...{ flush: lastUsed.flush, start: lastUsed.start, stop: lastUsed.stop },
  };
}

/** The store and directory that keys are written to, and the time of the change. */
interface KeyWriter {
  readonly store: KeyStore;
  readonly directory: Directory;
  readonly atMs: number;
}

interface KeyOfAccount {
  readonly accountId: string;
  readonly id: string;
}

/** Two processes that see a holder first at once make one key. Revoked keys stay revoked. */
async function deriveKey(writer: KeyWriter, wanted: DerivedKey): Promise<void> {
  const { store, directory, atMs } = writer;
  if (directory.keyByHash(wanted.hash) === undefined) await directory.catchUp();
  const known = directory.keyByHash(wanted.hash);
  if (known === undefined) {
    const key = toDerivedRecord(wanted, atMs);
    try {
      await store.insert(key);
      directory.putKey(key);
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      await directory.catchUp();
    }
    return;
  }
  const { profileId, teamId, memberId, requestsPerMinute } = { ...known, ...wanted.settings };
  const isSame = [
    profileId === known.profileId,
    teamId === known.teamId,
    memberId === known.memberId,
    requestsPerMinute === known.requestsPerMinute,
  ];
  if (!isSame.includes(false) || keyStatus(known, atMs) !== "active") return;
  const changed = await store.update(known.accountId, known.id, {
    ...{ profileId, teamId, memberId, requestsPerMinute },
  });
  if (changed !== null) directory.putKey(changed);
}

/** One that another process has just made is not in memory yet: it is read with the rest. */
async function revokeKeys(
  { store, directory, atMs }: KeyWriter,
  accountId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const revoked = await store.revoke(accountId, ids, atMs);
  const known = revoked.flatMap((id) => directory.keyById(id) ?? []);
  directory.putKey(...known.map((key) => ({ ...key, revokedAtMs: key.revokedAtMs ?? atMs })));
  if (known.length < revoked.length) await directory.catchUp();
  return revoked;
}

interface WantedChange extends KeyOfAccount {
  readonly change: KeyChange;
}

async function changeKey(writer: KeyWriter, { accountId, id, change }: WantedChange): Promise<KeyRecord | null> {
  const old = await activeKey(writer, { accountId, id });
  if (old === null) return null;
  ensureLimited(change, change.spendLimitNano === undefined ? old.spendLimitNano : change.spendLimitNano);
  const checked = await checkedChange(withoutReset(change), accountId, writer);
  const changed = await ensureOwners(writer.store.update(accountId, id, checked));
  if (changed === null) throw notActive(UNCHANGEABLE);
  return changed;
}

/** A key without a limit has no reset period either. */
function withoutReset(change: KeyChange): KeyChange {
  return change.spendLimitNano === null ? { ...change, spendReset: "never" } : change;
}

interface WantedRotation extends KeyOfAccount {
  readonly graceMs: number;
}

async function rotateKey(writer: KeyWriter, { accountId, id, graceMs }: WantedRotation): Promise<MadeKey | null> {
  const { store, directory, atMs } = writer;
  const old = await activeKey(writer, { accountId, id }, "it cannot be rotated");
  if (old === null) return null;
  if (isDerived(old)) throw notRotatable();
  const text = makeKeyText();
  const key = await toKeyRecord({ ...old, id: newKeyId() }, text, writer);
  const expiresAtMs = Math.min(old.expiresAtMs ?? Number.POSITIVE_INFINITY, atMs + graceMs);
  // Without grace it ends whatever the clock says: one that is set back, or behind in another process, revives no key.
  const revokedAtMs = graceMs === 0 ? atMs : null;
  await ensureOwners(store.insert(key, { id, expiresAtMs, revokedAtMs }));
  directory.putKey(key);
  directory.putKey({ ...old, expiresAtMs, revokedAtMs });
  return { key, text };
}

const UNCHANGEABLE = "it cannot be changed";

/**
 * Returns null when the account has no such key. Throws, naming the consequence, when the key was revoked or has
 * expired.
 */
async function activeKey(
  { directory, atMs }: Omit<KeyWriter, "store">,
  { accountId, id }: KeyOfAccount,
  consequence = UNCHANGEABLE,
): Promise<KeyRecord | null> {
  await directory.catchUp();
  const key = directory.keyById(id);
  if (key?.accountId !== accountId) return null;
  if (keyStatus(key, atMs) !== "active") throw notActive(consequence);
  return key;
}

export function keyStatus(key: KeyRecord, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return "revoked";
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active";
}

const UNKNOWN: Verification = { state: "unknown" };

/** Compares in constant time, so that the time taken tells nothing about a hash. */
function find(directory: Directory, hash: string): KeyRecord | undefined {
  const key = directory.keyByHash(hash);
  if (key === undefined) return undefined;
  return timingSafeEqual(Buffer.from(key.hash, "latin1"), Buffer.from(hash, "latin1")) ? key : undefined;
}

function judgeKey(key: KeyRecord, directory: Directory, atMs: number): Verification {
  if (keyStatus(key, atMs) !== "active") return UNKNOWN;
  const teams = key.teamId === null ? NO_TEAMS : teamsOf(key.teamId, directory);
  const profileId = key.profileId ?? teams.find((team) => team.profileId !== null)?.profileId ?? null;
  if (profileId === null) return { state: "ok", key, profile: null, teams };
  const profile = directory.profile(profileId);
  if (profile === undefined || profile.accountId !== key.accountId) return { state: "profile-deleted" };
  return { state: "ok", key, profile, teams };
}

const NO_TEAMS: readonly Team[] = [];

/** The team, then the team around it. */
function teamsOf(id: string, directory: Directory): readonly Team[] {
  const team = directory.team(id);
  if (team === undefined) return NO_TEAMS;
  const parent = team.parentId === null ? undefined : directory.team(team.parentId);
  return parent === undefined ? [team] : [team, parent];
}

function notActive(consequence: string): GatewayError {
  return new GatewayError("conflict", `This key was revoked or has expired: ${consequence}. Create a new one.`, {
    code: "key_not_active",
  });
}

function notRotatable(): GatewayError {
  const message =
    "This key belongs to somebody who signs in with an identity provider: it has no text to rotate. Revoke it to keep them out.";
  return new GatewayError("conflict", message, { code: "key_of_identity" });
}

/** A wrong key is not looked up again for this long. */
const UNKNOWN_MS = 2_000;
const UNKNOWN_KEYS_MAX = 10_000;

/** Keys that were not found a moment ago: a client that repeats a wrong key must not reach the database each time. */
function createUnknownKeys(now: () => number) {
  /** In the order of insertion, which is the order of expiry. */
  const untilMsByHash = new Map<string, number>();
  return {
    add(hash: string): void {
      untilMsByHash.delete(hash);
      untilMsByHash.set(hash, now() + UNKNOWN_MS);
      if (untilMsByHash.size <= UNKNOWN_KEYS_MAX) return;
      const [oldest] = untilMsByHash.keys();
      if (oldest !== undefined) untilMsByHash.delete(oldest);
    },
    has(hash: string): boolean {
      const untilMs = untilMsByHash.get(hash);
      if (untilMs === undefined) return false;
      if (untilMs > now()) return true;
      untilMsByHash.delete(hash);
      return false;
    },
  };
}

/** Last-used times: gathered in memory and written in batches, never once per request. */
function createLastUsed({ store, log, flushMs }: Required<Pick<KeysOptions, "store" | "log" | "flushMs">>) {
  const gathered = new Map<string, number>();
  let flushing: ReadonlyMap<string, number> = new Map();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  const write = async (): Promise<void> => {
    flushing = new Map(gathered);
    gathered.clear();
    try {
      await store.touch(flushing);
    } catch (error) {
      // Kept for the next flush, unless the key was used again meanwhile.
      for (const [id, atMs] of flushing) if (!gathered.has(id)) gathered.set(id, atMs);
      log.warn({ event: "keys.last_used_failed", err: error }, "last-used times could not be written; retrying later");
    } finally {
      flushing = new Map();
      running = null;
    }
  };
  const flush = async (): Promise<void> => {
    if (running !== null) await running;
    if (gathered.size === 0) return;
    running ??= write();
    await running;
  };

  return {
    note: (id: string, atMs: number): void => void gathered.set(id, atMs),
    /** The record with the newer of the stored and the gathered time. */
    overlay: (key: KeyRecord): KeyRecord => {
      const atMs = Math.max(key.lastUsedAtMs ?? 0, gathered.get(key.id) ?? 0, flushing.get(key.id) ?? 0);
      return atMs === 0 ? key : { ...key, lastUsedAtMs: atMs };
    },
    flush,
    start: (): void => {
      timer ??= setInterval(() => void flush(), flushMs).unref();
    },
    stop: async (): Promise<void> => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await flush();
    },
  };
}
