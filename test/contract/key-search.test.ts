// Keys of an account on every store: searched, filtered, sorted and paged, and what each did by day.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { KeyRecord, KeySearch } from "../../src/core/keys.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createKeyStore } from "../../src/store/accounts/keys.ts";
import { openDb } from "../../src/store/db.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { createRecordStore, makeRecord, NOON } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const DAY_MS = 86_400_000;
const TODAY = Math.floor(NOON / DAY_MS) * DAY_MS;

await describeStores("a search of keys", ({ url }) => {
  let db: Db;
  const keyRecord = (id: string, change: Partial<KeyRecord> = {}): KeyRecord => ({
    id,
    accountId: "acme",
    name: id,
    prefix: `sk-service-${id}`.slice(0, 16),
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
    createdAtMs: NOON,
    ...change,
  });

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    const accounts = createAccountStore(db);
    for (const id of ["acme", "other"]) await accounts.insert({ id, name: id, billingMode: null, createdAtMs: 1 });
    const keys = createKeyStore(db);
    await keys.insert(keyRecord("k_beta", { name: "Beta 100%_x", createdAtMs: 30, lastUsedAtMs: 5 }));
    await keys.insert(keyRecord("k_alpha", { name: "alpha", createdAtMs: 20, profileId: "p1", lastUsedAtMs: 9 }));
    await keys.insert(keyRecord("k_gamma", { name: "Übung", createdAtMs: 20, revokedAtMs: 50 }));
    await keys.insert(keyRecord("k_delta", { name: "delta", createdAtMs: 10, profileId: "p1", expiresAtMs: NOON }));
    await keys.insert(keyRecord("k_alien", { name: "alpha", accountId: "other" }));
    const cost = makeRecord().cost;
    if (cost === null) throw new Error("a record without cost");
    const spend = (keyId: string, charge: bigint, atMs: number, accountId = "acme") =>
      makeRecord({ accountId, keyId, atMs, cost: { ...cost, charge, baseline: 10n } });
    const store = createRecordStore(db);
    await store.write([spend("k_beta", 3n, NOON), spend("k_beta", 4n, NOON), spend("k_delta", 5n, NOON)]);
    await store.write([spend("k_beta", 1n, NOON - DAY_MS), spend("k_delta", 100n, NOON - 40 * DAY_MS)]);
    await store.write([
      spend("k_alpha", 50n, NOON, "other"),
      { ...spend("k_beta", 0n, NOON), status: 500, cost: null },
    ]);
  });
  afterAll(() => db.close());

  /** Page by page, two at a time, so that every order is proved with its cursor. */
  const found = async (search: KeySearch): Promise<readonly string[]> => {
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page = await createKeyStore(db).list("acme", { limit: 2, after }, NOON, search);
      seen.push(...page.map(({ id }) => id));
      if (page.length < 2) break;
      after = seen.at(-1) ?? null;
    }
    expect(await createKeyStore(db).count("acme", NOON, search)).toBe(seen.length);
    return seen;
  };

  test.each<[string, KeySearch, readonly string[]]>([
    ["the newest first", {}, ["k_beta", "k_gamma", "k_alpha", "k_delta"]],
    ["the oldest first", { isAscending: true }, ["k_delta", "k_alpha", "k_gamma", "k_beta"]],
    ["by name", { sort: "name", isAscending: true }, ["k_alpha", "k_beta", "k_delta", "k_gamma"]],
    ["by last use", { sort: "lastUsed" }, ["k_alpha", "k_beta", "k_gamma", "k_delta"]],
    ["by status", { sort: "status", isAscending: true }, ["k_alpha", "k_beta", "k_delta", "k_gamma"]],
    ["by spend", { sort: "spend", spendFromMs: TODAY - DAY_MS }, ["k_beta", "k_delta", "k_gamma", "k_alpha"]],
    ["by all spend", { sort: "spend", spendFromMs: 0 }, ["k_delta", "k_beta", "k_gamma", "k_alpha"]],
    ["active ones", { status: "active" }, ["k_beta", "k_alpha"]],
    ["revoked ones", { status: "revoked" }, ["k_gamma"]],
    ["expired ones", { status: "expired" }, ["k_delta"]],
    ["those of a profile", { profileId: "p1" }, ["k_alpha", "k_delta"]],
    ["those without a profile", { profileId: null }, ["k_beta", "k_gamma"]],
    ["a part of a name in any case", { text: "LTA" }, ["k_delta"]],
    ["letters beyond ASCII as they are written", { text: "Übu" }, ["k_gamma"]],
    ["no wildcards", { text: "0%_" }, ["k_beta"]],
    ["nothing for a wildcard alone", { text: "a%a" }, []],
    ["the beginning of the key", { text: "sk-service-k_del" }, ["k_delta"]],
    ["an id", { text: "k_alpha" }, ["k_alpha"]],
    ["everything at once", { text: "a", status: "active", profileId: "p1", sort: "spend" }, ["k_alpha"]],
  ])("finds %s", async (_name, search, expected) => {
    expect(await found(search)).toEqual(expected);
  });

  test("a page goes on behind a key that the search no longer finds", async () => {
    const keys = createKeyStore(db);
    const page = await keys.list("acme", { limit: 9, after: "k_gamma" }, NOON, { status: "active" });
    expect(page.map(({ id }) => id)).toEqual(["k_alpha"]);
    expect(await keys.list("acme", { limit: 9, after: "k_alien" }, NOON)).toEqual([]);
  });

  test("the keys that cost most are found by the hour and by the day", async () => {
    const top = async (fromMs: number, most: number, keyId?: string) => {
      const narrowed = keyId === undefined ? {} : { keyId };
      const found = await createUsageLog(db).topKeys({ accountId: "acme", fromMs, toMs: NOON + 1, ...narrowed }, most);
      return found.map((key) => [key.keyId, key.requests, key.errors, key.charge, key.baseline]);
    };
    const beta = ["k_beta", 3, 1, 7n, 20n];
    expect(await top(NOON, 5)).toEqual([beta, ["k_delta", 1, 0, 5n, 10n]]);
    expect(await top(NOON, 1)).toEqual([beta]);
    expect(await top(NOON, 5, "k_delta")).toEqual([["k_delta", 1, 0, 5n, 10n]]);
    expect(await top(NOON - 40 * DAY_MS, 2)).toEqual([
      ["k_delta", 2, 0, 105n, 20n],
      ["k_beta", 4, 1, 8n, 30n],
    ]);
  });

  test("active keys are counted by profile, and usage is summed by the profile that a request had", async () => {
    expect(await createKeyStore(db).countByProfile("acme", NOON - 1)).toEqual(new Map([["p1", 2]]));
    expect(await createKeyStore(db).countByProfile("acme", NOON)).toEqual(new Map([["p1", 1]]));
    const of = { accountId: "acme", profileId: "p1", keyId: "k_gone" };
    await createRecordStore(db).write([makeRecord({ ...of, atMs: NOON }), makeRecord({ ...of, atMs: TODAY - 1 })]);
    const { charge, baseline } = makeRecord().cost ?? { charge: 0n, baseline: 0n };
    const usage = createUsageLog(db);
    expect(await usage.ofProfiles("acme", TODAY)).toEqual(new Map([["p1", { requests: 1, charge, baseline }]]));
    expect((await usage.ofProfiles("acme", TODAY - DAY_MS)).get("p1")?.requests).toBe(2);
    expect(await usage.ofProfiles("other", 0)).toEqual(new Map());
  });

  test("one key is found by its account only", async () => {
    const keys = createKeyStore(db);
    expect((await keys.get("acme", "k_beta"))?.name).toBe("Beta 100%_x");
    expect(await keys.get("acme", "k_alien")).toBeNull();
  });

  test("days are summed by key, and those before the time are left out", async () => {
    const days = await createUsageLog(db).ofKeys("acme", ["k_beta", "k_delta", "k_gamma"], TODAY - DAY_MS);
    expect(days.get("k_beta")).toEqual([
      { startMs: TODAY - DAY_MS, requests: 1, errors: 0, charge: 1n, baseline: 10n },
      { startMs: TODAY, requests: 3, errors: 1, charge: 7n, baseline: 20n },
    ]);
    expect(days.get("k_delta")).toEqual([{ startMs: TODAY, requests: 1, errors: 0, charge: 5n, baseline: 10n }]);
    expect(days.has("k_gamma")).toBe(false);
  });

  test("several keys are revoked at once, each keeping its first time", async () => {
    const keys = createKeyStore(db);
    for (const id of ["r1", "r2"]) await keys.insert(keyRecord(id, { name: id }));
    const before = await keys.revision();
    expect([...(await keys.revoke("acme", ["r1", "r2", "k_gamma", "k_alien", "none"], 900))].sort()).toEqual([
      "k_gamma",
      "r1",
      "r2",
    ]);
    expect(await keys.revision()).toBe(before + 1);
    expect((await keys.get("acme", "r1"))?.revokedAtMs).toBe(900);
    expect((await keys.get("acme", "k_gamma"))?.revokedAtMs).toBe(50);
    expect((await keys.get("other", "k_alien"))?.revokedAtMs).toBeNull();
  });
});
