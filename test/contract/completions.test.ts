// Stored chat completions on every store: what is kept, for whom, how it is found, and that it is sealed.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { CompletionPage, CompletionStore, StoredCompletion } from "../../src/core/responses/completions.ts";
import { openDb } from "../../src/store/db.ts";
import { createCompletionStore, createMark } from "../../src/store/responses/completions.ts";
import { createSealedContent, type UnreadableRow } from "../../src/store/responses/content.ts";
import { createResponseUpkeepStore } from "../../src/store/responses/upkeep.ts";
import { createSealer } from "../../src/store/secret/seal.ts";
import { describeStores } from "../support/stores/stores.ts";

const CANARY = "the canary sings in the mine";
const SECRET = Buffer.from("a secret for tests only");
const EVERYTHING: CompletionPage = { model: null, metadata: {}, after: null, isNewestFirst: false, limit: 100 };

function storeOf(db: Db, secret = SECRET): { readonly store: CompletionStore; readonly unreadable: UnreadableRow[] } {
  const unreadable: UnreadableRow[] = [];
  const sealer = createSealer(secret, "responses");
  const sealed = createSealedContent(sealer, { onUnreadable: (row) => unreadable.push(row) });
  return { store: createCompletionStore(db, sealed, createMark(secret)), unreadable };
}

function completion(id: string, more: Partial<StoredCompletion> = {}): StoredCompletion {
  const content = { id, object: "chat.completion", choices: [{ message: { content: CANARY } }] };
  return { accountId: "ada", id, model: "alpha", createdAtMs: 1_000, metadata: {}, completion: content, ...more };
}

await describeStores("stored chat completions", ({ url }) => {
  let db: Db;
  let store: CompletionStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = storeOf(db).store;
  });
  afterAll(() => db.close());

  const message = { id: "m-0", role: "user", content: CANARY };
  const ids = async (page: Partial<CompletionPage>, accountId = "ada"): Promise<readonly string[]> =>
    (await store.list(accountId, { ...EVERYTHING, ...page })).completions.map(({ id }) => id);

  test("one comes back as it was stored, for its account only, until it is deleted", async () => {
    const kept = completion("c_one", { metadata: { topic: "birds" } });
    await store.insert(kept, [message]);
    expect(await store.find(kept)).toEqual(kept);
    expect(await store.messages(kept)).toEqual([message]);
    const stranger = { accountId: "eve", id: "c_one" };
    expect(await store.find(stranger)).toBeNull();
    expect(await store.messages(stranger)).toBeNull();
    expect(await store.update(stranger, {})).toBeNull();
    expect(await store.remove(stranger)).toBe(false);
    expect(await store.remove(kept)).toBe(true);
    expect(await store.find(kept)).toBeNull();
  });

  test("a page of a list ends where it gets long, and has one completion at least", async () => {
    for (const id of ["c_1", "c_2", "c_3"]) await store.insert(completion(id, { accountId: "long" }), []);
    const list = (after: string | null) => store.list("long", { ...EVERYTHING, after });
    expect(await list(null)).toMatchObject({ hasMore: false, completions: { length: 3 } });
    await db.query("UPDATE chat_completions SET bytes = 20000000 WHERE account_id = 'long'");
    expect(await list(null)).toMatchObject({ hasMore: true, completions: [{ id: "c_1" }] });
    await db.query("UPDATE chat_completions SET bytes = 40000000 WHERE account_id = 'long'");
    expect(await list("c_1")).toMatchObject({ hasMore: true, completions: [{ id: "c_2" }] });
    expect(await list("c_2")).toMatchObject({ hasMore: false, completions: [{ id: "c_3" }] });
  });

  test("lists go by model, by every pair of metadata, by page and in both orders", async () => {
    for (const [id, model, metadata] of [
      ["c_1", "alpha", { topic: "birds", lang: "en" }],
      ["c_2", "beta", { topic: "birds" }],
      ["c_3", "alpha", { topic: "bees", lang: "en" }],
    ] as const)
      await store.insert(completion(id, { accountId: "lister", model, metadata }), []);
    const of = (page: Partial<CompletionPage>) => ids(page, "lister");
    expect(await of({})).toEqual(["c_1", "c_2", "c_3"]);
    expect(await of({ isNewestFirst: true, limit: 2 })).toEqual(["c_3", "c_2"]);
    expect(await of({ after: "c_1" })).toEqual(["c_2", "c_3"]);
    expect(await of({ model: "alpha" })).toEqual(["c_1", "c_3"]);
    expect(await of({ metadata: { topic: "birds" } })).toEqual(["c_1", "c_2"]);
    expect(await of({ metadata: { topic: "birds", lang: "en" } })).toEqual(["c_1"]);
    expect(await of({ metadata: { lang: "birds" } })).toEqual([]);
    expect(await of({ metadata: { topic: "%" } })).toEqual([]);
    expect(await ids({}, "eve")).toEqual([]);
    await store.update({ accountId: "lister", id: "c_1" }, { topic: "bees" });
    expect(await of({ metadata: { topic: "bees" } })).toEqual(["c_1", "c_3"]);
    expect(await of({ metadata: { lang: "en" } })).toEqual(["c_3"]);
  });

  test("they expire, and count in the size of their account", async () => {
    const upkeep = createResponseUpkeepStore(db, "here");
    for (const [id, createdAtMs] of [
      ["c_a", 1],
      ["c_b", 2],
      ["c_c", 3],
    ] as const)
      await store.insert(completion(id, { accountId: "full", createdAtMs }), [message]);
    const [row] = await db.query("SELECT SUM(bytes) AS bytes FROM chat_completions WHERE account_id = 'full'");
    const bytes = Number(row?.bytes);
    expect(await upkeep.oversized(bytes - 1)).toContain("full");
    expect(await upkeep.trim("full", bytes - 1)).toBe(1);
    expect(await ids({}, "full")).toEqual(["c_b", "c_c"]);
    expect(await upkeep.deleteBefore(3, 1_000)).toBeGreaterThanOrEqual(1);
    expect(await ids({}, "full")).toEqual(["c_c"]);
  });

  test("no clear text is in the table, and a row of another secret counts as missing", async () => {
    const kept = completion("c_sealed", { metadata: { topic: CANARY } });
    await store.insert(kept, [message]);
    const rows = JSON.stringify(await db.query("SELECT * FROM chat_completions"));
    expect(rows).toContain("c_sealed");
    expect(rows).not.toContain("canary");
    const other = storeOf(db, Buffer.from("another secret"));
    expect(await other.store.find(kept)).toBeNull();
    expect(await other.store.list("ada", { ...EVERYTHING, metadata: { topic: CANARY } })).toEqual({
      completions: [],
      hasMore: false,
    });
    expect(other.unreadable).toMatchObject([{ table: "chat_completions", id: "c_sealed" }]);
  });
});
