// Hearing of changes that other processes make, and finding them when nothing can be heard. PostgreSQL only: a SQLite file
// has one server, which polls.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDirectory } from "../../src/accounts/directory.ts";
import { createKeys, type Keys } from "../../src/accounts/keys.ts";
import { createProfiles } from "../../src/accounts/profiles.ts";
import type { Db } from "../../src/core/db.ts";
import { NO_CONSTRAINTS } from "../../src/core/decision.ts";
import type { Log } from "../../src/core/log.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createKeyStore } from "../../src/store/accounts/keys.ts";
import { createProfileStore } from "../../src/store/accounts/profiles.ts";
import { createTeamStore } from "../../src/store/accounts/teams.ts";
import { openDb } from "../../src/store/db.ts";
import { type ChangeListener, listenForChanges } from "../../src/store/postgres/changes.ts";
import { startTcpProxy, type TcpProxy } from "../support/network/tcp-proxy.ts";
import { createTestDatabase } from "../support/stores/postgres.ts";

const QUIET: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const NEVER_MS = 3_600_000;

const database = await createTestDatabase();

/** What one process knows of keys and profiles. */
async function openProcess(db: Db, pollMs: number) {
  const [accounts, keyStore, profileStore] = [createAccountStore(db), createKeyStore(db), createProfileStore(db)];
  const directory = createDirectory({
    accounts,
    keys: keyStore,
    profiles: profileStore,
    teams: createTeamStore(db),
    log: QUIET,
    pollMs,
  });
  await directory.start();
  const keys = createKeys({ store: keyStore, directory, log: QUIET });
  return { directory, keys, profiles: createProfiles({ store: profileStore, directory }) };
}

describe.skipIf(database === null)("changes by other processes", () => {
  let db: Db;
  let proxy: TcpProxy;
  const open: (() => unknown)[] = [];

  beforeAll(async () => {
    db = await openDb(database!.url);
    await db.migrate();
    await createAccountStore(db).insert({ id: "acme", name: "acme", billingMode: null, createdAtMs: 1 });
    proxy = await startTcpProxy(database!.url);
  });
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
    await proxy.comeBack();
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
    await database!.drop();
  });

  async function listen(onChange: () => void, lost: Error[] = []): Promise<ChangeListener> {
    const changes = await listenForChanges(proxy.url, { onChange, onLost: (error) => lost.push(error) });
    open.push(changes.close);
    return changes;
  }

  async function pair(pollMs: number) {
    const [here, there] = [await openProcess(db, pollMs), await openProcess(db, pollMs)];
    open.push(here.directory.stop, there.directory.stop);
    return { here, there };
  }

  const stateOf = async (keys: Keys, text: string) => (await keys.verify(text)).state;

  test("a revocation, a key and a deleted profile are heard of, without polling", async () => {
    const { here, there } = await pair(NEVER_MS);
    let heard = 0;
    await listen(() => {
      heard += 1;
      there.directory.nudge();
    });
    await expect.poll(() => heard).toBe(1);
    const profile = await here.profiles.create("acme", { name: "p", constraints: NO_CONSTRAINTS });
    const bound = await here.keys.create({ accountId: "acme", name: "bound", profileId: profile.id });
    const free = await here.keys.create({ accountId: "acme", name: "free" });
    await expect.poll(() => there.directory.keyById(free.key.id)?.name).toBe("free");
    expect(await stateOf(there.keys, bound.text)).toBe("ok");
    await here.keys.revoke("acme", [free.key.id]);
    await here.profiles.delete("acme", profile.id);
    await expect.poll(() => stateOf(there.keys, free.text)).toBe("unknown");
    await expect.poll(() => stateOf(there.keys, bound.text)).toBe("profile-deleted");
  });

  test("what is rolled back is not told", async () => {
    let heard = 0;
    await listen(() => {
      heard += 1;
    });
    await expect.poll(() => heard).toBe(1);
    const failing = db.transaction(async (tx) => {
      await tx.query("UPDATE revisions SET value = value + 1 WHERE name = 'access'");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await db.query("UPDATE revisions SET value = value + 1 WHERE name = 'access'");
    await expect.poll(() => heard).toBe(2);
  });

  test("a connection that is cut is made again, and every listener looks once more", async () => {
    let heard = 0;
    const lost: Error[] = [];
    await listen(() => {
      heard += 1;
    }, lost);
    await expect.poll(() => heard).toBe(1);
    await proxy.goAway();
    await expect.poll(() => lost.length).toBe(1);
    await db.query("UPDATE revisions SET value = value + 1 WHERE name = 'access'");
    await proxy.comeBack();
    await expect.poll(() => heard).toBe(2);
    await db.query("UPDATE revisions SET value = value + 1 WHERE name = 'access'");
    await expect.poll(() => heard).toBe(3);
    expect(lost).toHaveLength(1);
  });

  test("with the channel cut, polling finds a revocation", async () => {
    const { here, there } = await pair(100);
    await proxy.goAway("swallow");
    await listen(there.directory.nudge);
    const { key, text } = await here.keys.create({ accountId: "acme", name: "k" });
    await expect.poll(() => there.directory.keyById(key.id)?.id).toBe(key.id);
    await here.keys.revoke("acme", [key.id]);
    await expect.poll(() => stateOf(there.keys, text)).toBe("unknown");
  });
});

test("a SQLite file needs no listener", async () => {
  const heard: string[] = [];
  const changes = await listenForChanges("sqlite::memory:", {
    onChange: () => heard.push("change"),
    onLost: () => heard.push("lost"),
  });
  await changes.close();
  expect(heard).toEqual([]);
});
