// Accounts, keys and profiles on every store, and two processes that share one database.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { ensureFirstAccount, ensureFirstKey } from "../../src/accounts/bootstrap.ts";
import { createDirectory } from "../../src/accounts/directory.ts";
import { createKeys } from "../../src/accounts/keys.ts";
import { createProfiles } from "../../src/accounts/profiles.ts";
import type { Db } from "../../src/core/db.ts";
import { NO_CONSTRAINTS } from "../../src/core/decision.ts";
import type { KeyRecord } from "../../src/core/keys.ts";
import type { Log } from "../../src/core/log.ts";
import { UniqueViolation } from "../../src/core/store-errors.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createKeyStore } from "../../src/store/accounts/keys.ts";
import { createProfileStore } from "../../src/store/accounts/profiles.ts";
import { createTeamStore } from "../../src/store/accounts/teams.ts";
import { openDb } from "../../src/store/db.ts";
import { describeStores } from "../support/stores/stores.ts";

const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What one process has of keys and profiles. */
function createProcess(db: Db) {
  const stores = {
    accounts: createAccountStore(db),
    keys: createKeyStore(db),
    profiles: createProfileStore(db),
    teams: createTeamStore(db),
  };
  const directory = createDirectory({ ...stores, log: quiet, pollMs: 20 });
  const keys = createKeys({ store: stores.keys, directory, log: quiet });
  const profiles = createProfiles({ store: stores.profiles, directory });
  return {
    ...stores,
    stores,
    directory,
    keys,
    profiles,
    accounts: createAccounts({ store: stores.accounts, directory }),
  };
}

await describeStores("accounts", ({ url, isShared }) => {
  let db: Db;
  let here: ReturnType<typeof createProcess>;
  let account: string;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    here = createProcess(db);
    await here.directory.catchUp();
    account = (await here.accounts.create("tests")).id;
  });
  afterAll(() => db.close());

  const record = (id: string, createdAtMs: number): KeyRecord => ({
    id,
    accountId: account,
    name: `key ${id}`,
    prefix: "sk-service-abcde",
    hash: id.padEnd(64, "0"),
    profileId: null,
    teamId: null,
    memberId: null,
    spendKeyId: id,
    requires: null,
    requestsPerMinute: null,
    spendLimitNano: null,
    spendReset: "never",
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs,
  });

  const stored = async (id: string) => (await here.stores.keys.all()).find((key) => key.id === id);

  test("a key is stored and found with every field", async () => {
    const full: KeyRecord = {
      ...record("full", 1_700_000_000_123),
      profileId: "gone",
      requires: { regions: ["eu"], zeroRetention: true, excludedProviders: ["lab"] },
      requestsPerMinute: 60,
      spendLimitNano: 9_007_199_254_740_993n,
      expiresAtMs: 4_102_444_800_000,
      revokedAtMs: 5,
      lastUsedAtMs: 6,
    };
    await here.stores.keys.insert(full);
    expect(await here.stores.keys.all()).toContainEqual(full);
  });

  test("what keys and teams require is changed and taken away", async () => {
    await here.stores.keys.insert(record("bound", 1));
    const requires = { providers: ["lab"] };
    expect(await here.stores.keys.update(account, "bound", { requires })).toMatchObject({ requires });
    expect((await stored("bound"))?.requires).toEqual(requires);
    expect(await here.stores.keys.update(account, "bound", { requires: null })).toMatchObject({ requires: null });
    const bounds = { parentId: null, profileId: null, allowedModels: null, tierCeiling: null };
    const team = { ...bounds, id: "team", accountId: account, name: "eu", requires, createdAtMs: 1 };
    expect(await here.stores.teams.insert(team)).toBeNull();
    expect(await here.stores.teams.all()).toContainEqual(team);
    expect(await here.stores.teams.update(account, "team", { requires: null })).toBeNull();
    expect(await here.stores.teams.all()).toContainEqual({ ...team, requires: null });
  });

  test("two keys with one hash, or of an account that is not there, are refused and move no revision", async () => {
    await here.stores.keys.insert(record("once", 1));
    const before = await here.stores.keys.revision();
    const twin = { ...record("twin", 1), hash: record("once", 1).hash };
    await expect(here.stores.keys.insert(twin)).rejects.toBeInstanceOf(UniqueViolation);
    await expect(here.stores.keys.insert({ ...record("lone", 1), accountId: "nobody" })).rejects.toThrow();
    expect(await here.stores.keys.revision()).toBe(before);
  });

  test("lists go page by page, newest first, without gaps or repeats even at equal times", async () => {
    const owner = await here.accounts.create("pages");
    const times = [50, 10, 30, 30, 30, 20, 40];
    for (const [index, time] of times.entries()) {
      await here.stores.keys.insert({ ...record(`page${index}`, time), accountId: owner.id });
    }
    const seen: KeyRecord[] = [];
    for (let after: string | null = null; ; ) {
      const page = await here.stores.keys.list(owner.id, { limit: 2, after }, 0);
      seen.push(...page);
      if (page.length < 2) break;
      after = page.at(-1)?.id ?? null;
    }
    expect(seen.map((key) => key.createdAtMs)).toEqual([50, 40, 30, 30, 30, 20, 10]);
    expect(new Set(seen.map((key) => key.id)).size).toBe(times.length);
    expect(await here.stores.keys.list(owner.id, { limit: 9, after: "no such key" }, 0)).toEqual([]);
    expect(await here.stores.keys.list(account, { limit: 9, after: "page0" }, 0)).toEqual([]);
  });

  test("accounts and profiles are paged in the same way", async () => {
    const owner = await here.accounts.create("profiles");
    for (const time of [1, 3, 2]) {
      await here.stores.profiles.insert({
        id: `p${time}`,
        accountId: owner.id,
        name: "p",
        description: null,
        constraints: NO_CONSTRAINTS,
        shadow: null,
        createdAtMs: time,
        updatedAtMs: time,
      });
    }
    const first = await here.stores.profiles.list(owner.id, { limit: 2, after: null });
    const second = await here.stores.profiles.list(owner.id, { limit: 2, after: "p2" });
    expect([...first, ...second].map((profile) => profile.id)).toEqual(["p3", "p2", "p1"]);
    const accounts = await here.accounts.list({ limit: 100, after: null });
    const rest = await here.accounts.list({ limit: 100, after: accounts[0]!.id });
    expect(rest).toEqual(accounts.slice(1));
    expect(await here.accounts.get(owner.id)).toEqual(owner);
    expect(await here.accounts.get("nobody")).toBeNull();
  });

  test("a profile's description is kept, replaced and taken away; one of a version before has none", async () => {
    const owner = await here.accounts.create("described");
    const content = (description: string) => ({ name: "p", description, constraints: NO_CONSTRAINTS });
    const made = await here.profiles.create(owner.id, content('For "batch" jobs, naïve ones too: 価格 ≤ 1 ¢'));
    const kept = () => here.stores.profiles.list(owner.id, { limit: 9, after: null });
    expect(await kept()).toEqual([made]);
    expect(made.description).toBe('For "batch" jobs, naïve ones too: 価格 ≤ 1 ¢');
    await here.profiles.update(owner.id, made.id, content("  another  "));
    expect((await kept())[0]?.description).toBe("another");
    await here.profiles.update(owner.id, made.id, content(" "));
    expect((await kept())[0]?.description).toBeNull();
    // As the version before writes it.
    await db.query(
      "INSERT INTO profiles (id, account_id, name, constraints_json, created_at, updated_at) VALUES ($1, $2, 'old', '{}', 1, 1)",
      ["old", owner.id],
    );
    expect((await kept()).map(({ description }) => description)).toEqual([null, null]);
  });

  test("revoking twice keeps the first time; a stranger's key is not found", async () => {
    await here.stores.keys.insert(record("revoked", 1));
    expect(await here.stores.keys.revoke(account, ["revoked"], 100)).toEqual(["revoked"]);
    expect(await here.stores.keys.revoke(account, ["revoked"], 200)).toEqual(["revoked"]);
    expect((await stored("revoked"))?.revokedAtMs).toBe(100);
    expect(await here.stores.keys.revoke("other", ["revoked"], 300)).toEqual([]);
    expect(await here.stores.keys.revoke(account, ["missing"], 300)).toEqual([]);
  });

  test("a key that another one replaces expires or is revoked with it", async () => {
    for (const id of ["graced", "ended"]) await here.stores.keys.insert({ ...record(id, 1), expiresAtMs: 50 });
    await here.stores.keys.insert(record("after-graced", 2), { id: "graced", expiresAtMs: 40, revokedAtMs: null });
    await here.stores.keys.insert(record("after-ended", 2), { id: "ended", expiresAtMs: 60, revokedAtMs: 7 });
    expect(await stored("graced")).toMatchObject({ expiresAtMs: 40, revokedAtMs: null });
    expect(await stored("ended")).toMatchObject({ expiresAtMs: 50, revokedAtMs: 7 });
  });

  test("a change writes what it names and nothing else; a stranger's or revoked key is not changed", async () => {
    const old = { ...record("changed", 1), profileId: "old", requestsPerMinute: 5, spendLimitNano: 7n, expiresAtMs: 9 };
    await here.stores.keys.insert(old);
    const before = await here.stores.keys.revision();
    expect(await here.stores.keys.update(account, "changed", { name: "new", spendLimitNano: null })).toEqual({
      ...old,
      name: "new",
      spendLimitNano: null,
    });
    const rest = { profileId: null, requestsPerMinute: 6, spendLimitNano: 9_007_199_254_740_993n, expiresAtMs: null };
    expect(await here.stores.keys.update(account, "changed", rest)).toEqual({ ...old, name: "new", ...rest });
    expect(await stored("changed")).toEqual({ ...old, name: "new", ...rest });
    expect(await here.stores.keys.revision()).toBeGreaterThan(before);
    expect(await here.stores.keys.update("other", "changed", { name: "stolen" })).toBeNull();
    expect(await here.stores.keys.update(account, "missing", { name: "x" })).toBeNull();
    await here.stores.keys.revoke(account, ["changed"], 100);
    expect(await here.stores.keys.update(account, "changed", { name: "too late" })).toBeNull();
  });

  test("touching writes the newer time only and moves no revision", async () => {
    await here.stores.keys.insert(record("touched", 1));
    const before = await here.stores.keys.revision();
    await here.stores.keys.touch(
      new Map([
        ["touched", 500],
        ["missing", 1],
      ]),
    );
    await here.stores.keys.touch(new Map([["touched", 400]]));
    await here.stores.keys.touch(new Map());
    expect((await stored("touched"))?.lastUsedAtMs).toBe(500);
    expect(await here.stores.keys.revision()).toBe(before);
  });

  test("profiles keep their constraints, are changed, and are gone when deleted", async () => {
    const constraints = { ...NO_CONSTRAINTS, tierFloor: "LIGHT", capabilities: ["tools"], maxCostUsd: 0.01 } as const;
    const made = await here.profiles.create(account, { name: " careful ", constraints });
    expect(made.name).toBe("careful");
    expect(await here.stores.profiles.all()).toContainEqual(made);
    const changed = await here.profiles.update(account, made.id, { name: "free", constraints: NO_CONSTRAINTS });
    expect(await here.profiles.get(account, made.id)).toEqual(changed);
    expect(await here.profiles.get("other", made.id)).toBeNull();
    expect(await here.profiles.update("other", made.id, { name: "x", constraints })).toBeNull();
    expect(await here.profiles.delete("other", made.id)).toBe(false);
    expect(await here.profiles.delete(account, made.id)).toBe(true);
    expect(await here.profiles.delete(account, made.id)).toBe(false);
    expect(await here.profiles.get(account, made.id)).toBeNull();
  });

  test("a deleted profile's keys move in the same step, within the account, or nothing happens", async () => {
    const make = (name: string, owner = account) => here.profiles.create(owner, { name, constraints: NO_CONSTRAINTS });
    const stranger = await make("theirs", (await here.accounts.create("strangers")).id);
    const [old, heir] = [await make("old"), await make("heir")];
    const { key, text } = await here.keys.create({ accountId: account, name: "tied", profileId: old.id });
    for (const wrong of ["profile_nothing", stranger.id, old.id]) {
      await expect(here.profiles.delete(account, old.id, wrong)).rejects.toMatchObject({
        details: { param: "keysTo" },
      });
    }
    expect(await here.keys.verify(text)).toMatchObject({ state: "ok", profile: { id: old.id } });
    expect(await here.profiles.delete(account, old.id, heir.id)).toBe(true);
    expect(await here.keys.verify(text)).toMatchObject({ state: "ok", profile: { id: heir.id } });
    expect(await here.profiles.delete(account, old.id, heir.id)).toBe(false);
    expect(await here.profiles.delete(account, heir.id, null)).toBe(true);
    expect(await here.keys.verify(text)).toMatchObject({ state: "ok", profile: null });
    expect((await stored(key.id))?.profileId).toBeNull();
  });

  test("the first start makes the account and one key, later starts and starts at the same time none", async () => {
    const startOnce = async (): Promise<string | null> => {
      await ensureFirstAccount(here.stores.accounts);
      return ensureFirstKey(here.keys);
    };
    const texts = await Promise.all([1, 2, 3].map(startOnce));
    const made = texts.filter((text) => text !== null);
    expect(made).toHaveLength(1);
    expect(await here.keys.verify(made[0]!)).toMatchObject({
      state: "ok",
      key: { name: "first key", accountId: "default" },
    });
    expect(await startOnce()).toBeNull();
    expect((await here.accounts.get("default"))?.id).toBe("default");
  });

  test.runIf(isShared)("another process sees new keys at once and revocations by polling", async () => {
    const otherDb = await openDb(url);
    const there = createProcess(otherDb);
    await there.directory.start();
    const { key, text } = await here.keys.create({ accountId: account, name: "shared" });
    expect(await there.keys.verify(text)).toMatchObject({ state: "ok", key: { id: key.id } });
    expect(await here.keys.revoke(account, [key.id])).toEqual([key.id]);
    expect(await here.keys.verify(text)).toEqual({ state: "unknown" });
    await expect.poll(() => there.keys.verify(text)).toEqual({ state: "unknown" });
    there.directory.stop();
    await otherDb.close();
  });

  test.runIf(isShared)(
    "a key changed elsewhere, and one moved off a deleted profile, count here by polling",
    async () => {
      const otherDb = await openDb(url);
      const there = createProcess(otherDb);
      await there.directory.start();
      const [old, heir] = await Promise.all(
        ["old", "heir"].map((name) => here.profiles.create(account, { name, constraints: NO_CONSTRAINTS })),
      );
      const { key, text } = await here.keys.create({ accountId: account, name: "moving", profileId: old!.id });
      expect(await there.keys.verify(text)).toMatchObject({ state: "ok", profile: { id: old!.id } });
      await here.keys.change(account, key.id, { requestsPerMinute: 3 });
      await expect.poll(() => there.keys.verify(text)).toMatchObject({ key: { requestsPerMinute: 3 } });
      await here.profiles.delete(account, old!.id, heir!.id);
      // Never refused on the way from the one profile to the other.
      for (let profile = old!.id; profile !== heir!.id; await new Promise(setImmediate)) {
        const verification = await there.keys.verify(text);
        expect(verification.state).toBe("ok");
        profile = (verification as { profile: { id: string } }).profile.id;
      }
      there.directory.stop();
      await otherDb.close();
    },
  );

  test.runIf(isShared)("a profile made and deleted in another process counts here", async () => {
    const otherDb = await openDb(url);
    const there = createProcess(otherDb);
    const profile = await there.profiles.create(account, { name: "theirs", constraints: NO_CONSTRAINTS });
    const { text } = await here.keys.create({ accountId: account, name: "tied", profileId: profile.id });
    expect(await here.keys.verify(text)).toMatchObject({ state: "ok", profile: { id: profile.id } });
    await there.profiles.delete(account, profile.id);
    await here.directory.catchUp();
    expect(await here.keys.verify(text)).toEqual({ state: "profile-deleted" });
    await otherDb.close();
  });

  test.runIf(isShared)(
    "a key of another process that is revoked here before it was ever seen here is refused",
    async () => {
      const otherDb = await openDb(url);
      const there = createProcess(otherDb);
      const { key, text } = await there.keys.create({ accountId: account, name: "brief" });
      expect(await here.keys.revoke(account, [key.id])).toEqual([key.id]);
      expect(await here.keys.verify(text)).toEqual({ state: "unknown" });
      await otherDb.close();
    },
  );
});
