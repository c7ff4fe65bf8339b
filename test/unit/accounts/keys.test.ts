import { describe, expect, test } from "vitest";
import { createDirectory } from "../../../src/accounts/directory.ts";
import { hashKeyText, makeKeyText } from "../../../src/accounts/key.ts";
import { createKeys, keyStatus } from "../../../src/accounts/keys.ts";
import { createProfiles } from "../../../src/accounts/profiles.ts";
import { NO_CONSTRAINTS } from "../../../src/core/decision.ts";
import { createMemoryStores } from "../../support/stores/memory-stores.ts";

function createService() {
  const stores = createMemoryStores();
  const clock = { ms: 1_000_000 };
  const now = () => clock.ms;
  const directory = createDirectory({ ...stores });
  const keys = createKeys({ store: stores.keys, directory, log: stores.log, now });
  const profiles = createProfiles({ store: stores.profiles, directory, now });
  return { ...stores, store: stores.keys, clock, directory, keys, profiles };
}

const wanted = { accountId: "default", name: "mine" };

describe("the text of a key", () => {
  test("is sk-service- and 43 characters, never twice the same, and stored only as a hash", async () => {
    const { keys, store } = createService();
    const texts = new Set(Array.from({ length: 200 }, makeKeyText));
    expect(texts.size).toBe(200);
    for (const text of texts) expect(text).toMatch(/^sk-service-[0-9A-Za-z]{43}$/);
    const { key, text } = await keys.create(wanted);
    expect(key.hash).toBe(hashKeyText(text));
    expect(text.startsWith(key.prefix)).toBe(true);
    expect(key.prefix.length).toBe(16);
    const stored = JSON.stringify(await store.all(), (_name, value) => (typeof value === "bigint" ? "" : value));
    expect(stored).not.toContain(text);
  });
});

describe("verify", () => {
  test("finds a known key without asking the database", async () => {
    const { keys, state } = createService();
    const { key, text } = await keys.create(wanted);
    const reads = state.revisionReads;
    expect(await keys.verify(text)).toEqual({ state: "ok", key, profile: null, teams: [] });
    expect(state.revisionReads).toBe(reads);
  });

  test.each([
    ["empty", ""],
    ["another vendor's", "sk-proj-abcdefghijklmnopqrstuvwxyz"],
    ["nothing after the prefix", "sk-service-"],
    ["a character that no key has", "sk-service-abc def"],
    ["a line break at the end", `${makeKeyText()}\n`],
    ["far too long", `sk-service-${"a".repeat(300)}`],
  ])("rejects without asking the database: %s", async (_what, text) => {
    const { keys, state } = createService();
    expect(await keys.verify(text)).toEqual({ state: "unknown" });
    expect(state.revisionReads).toBe(0);
  });

  test("a key one character off is unknown", async () => {
    const { keys } = createService();
    const { text } = await keys.create(wanted);
    const off = text.slice(0, -1) + (text.endsWith("a") ? "b" : "a");
    expect(await keys.verify(off)).toEqual({ state: "unknown" });
    expect(await keys.verify(`${text}a`)).toEqual({ state: "unknown" });
  });

  test("revoked takes effect at once, expired from its moment on", async () => {
    const { keys, clock } = createService();
    const first = await keys.create(wanted);
    const second = await keys.create({ ...wanted, expiresAtMs: clock.ms + 100 });
    expect(await keys.revoke("default", [first.key.id])).toEqual([first.key.id]);
    expect(await keys.verify(first.text)).toEqual({ state: "unknown" });
    expect(await keys.verify(second.text)).toMatchObject({ state: "ok" });
    clock.ms += 99;
    expect(await keys.verify(second.text)).toMatchObject({ state: "ok" });
    clock.ms += 1;
    expect(await keys.verify(second.text)).toEqual({ state: "unknown" });
    expect(keyStatus(second.key, clock.ms)).toBe("expired");
  });

  test("a key rotated without grace ends for good, also where a clock is set back", async () => {
    const { keys, clock } = createService();
    const old = await keys.create(wanted);
    await keys.rotate("default", old.key.id, 0);
    clock.ms -= 60_000;
    expect(await keys.verify(old.text)).toEqual({ state: "unknown" });
  });

  test("returns the key's profile, and says when it was deleted", async () => {
    const { keys, profiles } = createService();
    const profile = await profiles.create("default", { name: "p", constraints: NO_CONSTRAINTS });
    const { text } = await keys.create({ ...wanted, profileId: profile.id });
    expect(await keys.verify(text)).toMatchObject({ state: "ok", profile });
    const changed = await profiles.update("default", profile.id, {
      name: "q",
      constraints: { ...NO_CONSTRAINTS, tierFloor: "COMPLEX" },
    });
    expect(await keys.verify(text)).toMatchObject({ profile: changed });
    await profiles.delete("default", profile.id);
    expect(await keys.verify(text)).toEqual({ state: "profile-deleted" });
  });

  test("asks the database once for an unknown key, then not again for two seconds", async () => {
    const { keys, state, clock } = createService();
    const wrong = makeKeyText();
    expect(await keys.verify(wrong)).toEqual({ state: "unknown" });
    const reads = state.revisionReads;
    clock.ms += 1_999;
    for (let count = 0; count < 50; count += 1) expect(await keys.verify(wrong)).toEqual({ state: "unknown" });
    expect(state.revisionReads).toBe(reads);
    clock.ms += 1;
    await keys.verify(wrong);
    expect(state.revisionReads).toBe(reads + 1);
  });

  test("many different unknown keys cost a handful of reads", async () => {
    const { keys, state } = createService();
    await Promise.all(Array.from({ length: 3_000 }, () => keys.verify(makeKeyText())));
    expect(state.revisionReads).toBeLessThan(5);
  });

  test("without the database an unknown key is an outage, not a wrong key; known keys go on", async () => {
    const { keys, state } = createService();
    const { text } = await keys.create(wanted);
    const wrong = makeKeyText();
    state.isDown = true;
    await expect(keys.verify(wrong)).rejects.toMatchObject({ kind: "unavailable", status: 503 });
    expect(await keys.verify(text)).toMatchObject({ state: "ok" });
    state.isDown = false;
    expect(await keys.verify(wrong)).toEqual({ state: "unknown" });
  });

  test("a read that began before a revocation does not bring the key back", async () => {
    const { keys, directory, store } = createService();
    const { key, text } = await keys.create(wanted);
    const all = store.all;
    let readings = 0;
    store.all = async () => {
      readings += 1;
      const rows = await all();
      // The first reading is overtaken by a revocation after its rows were read.
      if (readings === 1) await keys.revoke("default", [key.id]);
      return rows;
    };
    await directory.catchUp();
    expect(readings).toBe(2);
    expect(await keys.verify(text)).toEqual({ state: "unknown" });
  });
});

describe("create", () => {
  test.each([
    ["a name of nothing", { name: "  " }, "name"],
    ["a name too long", { name: "x".repeat(201) }, "name"],
    ["a limit of zero", { requestsPerMinute: 0 }, "requestsPerMinute"],
    ["half a request", { requestsPerMinute: 1.5 }, "requestsPerMinute"],
    ["a negative spend limit", { spendLimitNano: -1n }, "spendLimitUsd"],
    ["an expiry in the past", { expiresAtMs: 999_999 }, "expiresAt"],
    ["a profile that is not there", { profileId: "profile_x" }, "profile"],
  ])("refuses %s", async (_what, change, param) => {
    const { keys, store } = createService();
    await expect(keys.create({ ...wanted, ...change })).rejects.toMatchObject({ status: 400, details: { param } });
    expect(await store.all()).toEqual([]);
  });

  test("refuses another account's profile", async () => {
    const { keys, profiles } = createService();
    const theirs = await profiles.create("other", { name: "p", constraints: NO_CONSTRAINTS });
    await expect(keys.create({ ...wanted, profileId: theirs.id })).rejects.toMatchObject({ status: 400 });
  });

  test("a key that could not be stored is not valid", async () => {
    const { keys, state, directory } = createService();
    state.isDown = true;
    await expect(keys.create({ ...wanted, id: "key_x" })).rejects.toMatchObject({ kind: "unavailable" });
    expect(directory.keyById("key_x")).toBeUndefined();
  });
});

describe("last used", () => {
  test("is shown from memory, written once for many uses, and not at all without use", async () => {
    const { keys, state, clock } = createService();
    const { key, text } = await keys.create(wanted);
    await keys.flush();
    expect(state.touches).toEqual([]);
    for (let count = 0; count < 10; count += 1) {
      clock.ms += 10;
      await keys.verify(text);
    }
    expect((await keys.list("default", { limit: 10, after: null }))[0]?.lastUsedAtMs).toBe(clock.ms);
    await keys.flush();
    expect(state.touches).toEqual([new Map([[key.id, clock.ms]])]);
    await keys.stop();
    expect(state.touches).toHaveLength(1);
  });

  test("is not noted for a key that was refused", async () => {
    const { keys, state } = createService();
    const { key, text } = await keys.create(wanted);
    await keys.revoke("default", [key.id]);
    await keys.verify(text);
    await keys.stop();
    expect(state.touches).toEqual([]);
  });

  test("survives a failed write, and a newer use wins", async () => {
    const { keys, state, clock, warnings } = createService();
    const first = await keys.create(wanted);
    const second = await keys.create(wanted);
    await keys.verify(first.text);
    await keys.verify(second.text);
    const earlier = clock.ms;
    state.isDown = true;
    const failing = keys.flush();
    clock.ms += 5;
    await keys.verify(first.text);
    await failing;
    expect(warnings).toHaveLength(1);
    state.isDown = false;
    await keys.stop();
    expect(state.touches).toEqual([
      new Map([
        [first.key.id, earlier + 5],
        [second.key.id, earlier],
      ]),
    ]);
  });
});
