// The ledger on every store: the same history gives what the pure ledger gives, the database itself refuses what must
// never be, and processes that write at once never spend more than there is.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBatcher } from "../../src/billing/batcher.ts";
import { batchesOf } from "../../src/billing/ledger.ts";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db } from "../../src/core/db.ts";
import type { LedgerOp, LedgerStore } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { createLedgerList } from "../../src/store/ledger/list.ts";
import { LedgerMemory } from "../../src/store/ledger/memory.ts";
import { fc } from "../support/property.ts";
import { idempotencyOf } from "../support/stores/idempotency.ts";
import { createMemoryLedger, hold, release, runEach, settle, topUp } from "../support/stores/ledger.ts";
import { history, SCALE } from "../support/stores/ledger-history.ts";
import { describeStores } from "../support/stores/stores.ts";

let worlds = 0;

/** The same operations under names of their own, so that one database serves many histories. */
function apart(ops: readonly LedgerOp[], world: string): readonly LedgerOp[] {
  return ops.map((op) => {
    const accountId = `${op.accountId}${world}`;
    if (op.kind === "hold") return { ...op, accountId, id: `${op.id}${world}`, keyId: `${op.keyId}${world}` };
    if (op.kind === "move") return { ...op, accountId, id: `${op.id}${world}` };
    if (op.kind === "lease") return { ...op, accountId };
    if (op.kind === "return") {
      const holds = op.holds.map((one) => ({ ...one, id: `${one.id}${world}`, keyId: `${one.keyId}${world}` }));
      return { ...op, accountId, holds };
    }
    return { ...op, accountId, holdId: `${op.holdId}${world}` };
  });
}

await describeStores("ledger", ({ url, isShared }) => {
  let db: Db;
  let store: LedgerStore;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createLedgerStore(db, "me");
  });
  afterAll(() => db.close());

  async function newWorld(): Promise<string> {
    worlds += 1;
    const world = `~${worlds}`;
    for (const id of ["a", "b"])
      await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [`${id}${world}`]);
    return world;
  }
  const verdict = () => verifyLedger(createLedgerAudit(db));

  test("a random history has the outcomes of the pure ledger, one by one and in batches", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.boolean(), async (ops, isBatched) => {
        const world = await newWorld();
        const own = apart(ops, world);
        const model = createMemoryLedger([`a${world}`, `b${world}`]);
        const expected = await runEach(model, own);
        const batcher = createBatcher(batchesOf(store));
        const outcomes = isBatched
          ? await Promise.all(own.map((op) => batcher.submit(op).catch(() => null)))
          : await runEach(store, own);
        expect(outcomes.map(withoutOrder)).toEqual(expected.map(withoutOrder));
        for (const wallet of model.wallets.values()) expect(await store.balance(wallet.accountId)).toEqual(wallet);
      }),
      { numRuns: 15 * SCALE },
    );
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
  });

  test("stores that write in turns, each with a memory of its own, have the outcomes of the pure ledger", async () => {
    const turns = fc.array(fc.nat(1), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(history, turns, async (ops, order) => {
        const world = await newWorld();
        const own = apart(ops, world);
        const model = createMemoryLedger([`a${world}`, `b${world}`]);
        const stores = [0, 1].map(() => createLedgerStore(db, "me", new LedgerMemory(0)));
        for (const [index, op] of own.entries()) {
          const expected = await runEach(model, [op]);
          const writer = stores[order[index % order.length] as number] as LedgerStore;
          expect((await runEach(writer, [op])).map(withoutOrder)).toEqual(expected.map(withoutOrder));
        }
        for (const wallet of model.wallets.values()) expect(await store.balance(wallet.accountId)).toEqual(wallet);
      }),
      { numRuns: 15 * SCALE },
    );
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
  });

  test("money that another process brought is seen although less is remembered", async () => {
    const world = await newWorld();
    const [one, other] = [createLedgerStore(db, "me"), createLedgerStore(db, "other")];
    await one.commit(apart([topUp("t1", 10n)], world), post);
    expect(await one.commit(apart([hold("h1", 10n)], world), post)).toMatchObject([{ state: "held" }]);
    await other.commit(apart([topUp("t2", 10n)], world), post);
    expect(await one.commit(apart([hold("h2", 10n)], world), post)).toMatchObject([{ state: "held" }]);
    expect(await one.commit(apart([hold("h3", 1n)], world), post)).toMatchObject([{ state: "refused" }]);
  });

  test("what is remembered is written without a read", async () => {
    const world = await newWorld();
    let reads = 0;
    const counting: Db = {
      ...db,
      readThenWrite: (statements, decide) => {
        reads += 1;
        return db.readThenWrite(statements, decide);
      },
    };
    const one = createLedgerStore(counting, "me");
    await one.commit(apart([topUp("t", 100n)], world), post);
    for (let round = 0; round < 5; round += 1) {
      await one.commit(apart([hold(`h${round}`, 10n)], world), post);
      await one.commit(apart([settle(`h${round}`, 5)], world), post);
    }
    expect(reads).toBe(1);
    expect(await one.balance(`a${world}`)).toMatchObject({ posted: 75n, held: 0n });
  });

  test("the largest amounts come back as they went in", async () => {
    const world = await newWorld();
    const [account, most] = [`a${world}`, 1_000_000_000_000_000_000n];
    const move = topUp(`most${world}`, most, account);
    await store.commit([move], post);
    await store.commit([hold(`h${world}`, most, { accountId: account, spendLimit: most })], post);
    expect(await store.balance(account)).toMatchObject({ posted: most, held: most });
    const usage = settle("x", 1).usage;
    const price = { ...usage.price, input: 1_000_000_000_000 };
    const charged = settle(`h${world}`, 1, {
      accountId: account,
      charge: most,
      usage: { ...usage, price, buckets: { ...usage.buckets, input: 1_000_000_000 } },
    });
    expect(await store.commit([charged], post)).toEqual([{ state: "settled", paid: most, absorbed: 0n }]);
    expect(await store.balance(account)).toMatchObject({ posted: 0n, held: 0n });
    expect(await store.commit([move], post)).toMatchObject([{ state: "already-moved" }]);
    expect((await verdict()).problems).toEqual([]);
  });

  test("names and notes with quotes, backslashes, braces, commas and line breaks survive", async () => {
    const world = await newWorld();
    const odd = `"a" \\ {b},c\n'd' NULL é🙂${world}`;
    const note = { ...topUp(odd, 50n, `a${world}`), note: odd };
    await store.commit([note], post);
    const usage = { ...settle("x", 5).usage, model: odd, requestId: odd };
    await store.commit([hold(odd, 5n, { accountId: `a${world}`, keyId: odd })], post);
    await store.commit([settle(odd, 5, { accountId: `a${world}`, usage })], post);
    const lines = await createLedgerList(db).list(`a${world}`, { limit: 10, after: null });
    expect(lines.map(({ transaction }) => transaction.note)).toEqual([null, odd]);
    expect(lines[0]).toMatchObject({ requestId: odd, model: odd });
    expect((await verdict()).problems).toEqual([]);
  });

  test.each([
    "UPDATE ledger_transactions SET balance_after = 1",
    "DELETE FROM ledger_transactions",
    "UPDATE ledger_entries SET amount = 1",
    "DELETE FROM ledger_entries",
    "UPDATE charges SET paid = 0",
    "DELETE FROM charges",
    "TRUNCATE ledger_transactions CASCADE",
    "TRUNCATE ledger_entries",
    "TRUNCATE charges",
  ])("the database refuses: %s", async (sql) => {
    await expect(db.query(sql)).rejects.toThrow();
  });

  test.each([
    ["a wallet below zero", "UPDATE wallets SET posted = -1, held = 0"],
    ["more held than there is", "UPDATE wallets SET held = posted + 1"],
    ["less held than nothing", "UPDATE wallets SET held = -1"],
    ["a hold of less than nothing", "UPDATE holds SET amount = -1"],
    ["a state that is none", "UPDATE holds SET state = 'gone'"],
    ["a wallet of nobody", "INSERT INTO wallets VALUES ('nobody', 0, 0, 0, '')"],
    [
      "the same transaction twice",
      `INSERT INTO ledger_transactions SELECT account_id, sequence + 1000, id, kind, balance_after, hold_id, note, hash,
       created_at FROM ledger_transactions`,
    ],
  ])("the database refuses %s", async (_, sql) => {
    const world = await newWorld();
    await runEach(store, apart([topUp("t", 9n), hold("h", 5n)], world));
    await expect(db.query(sql)).rejects.toThrow();
    await runEach(store, apart([release("h")], world));
  });

  describe("who is alive", () => {
    test("holds of those silent for long are orphans, by the database's clock; one's own never", async () => {
      const world = await newWorld();
      const [mine, silent, alive, unheard] = ["mine", "silent", "alive", "unheard"].map((name) =>
        createLedgerStore(db, `${name}${world}`),
      ) as [LedgerStore, LedgerStore, LedgerStore, LedgerStore];
      for (const process of [mine, silent, alive]) await process.beat();
      await db.query("UPDATE processes SET seen_at = seen_at - 60000 WHERE id = $1", [`silent${world}`]);
      await store.commit(apart([topUp("t", 100n)], world), post);
      for (const [index, process] of [mine, silent, alive, unheard].entries())
        await process.commit(apart([hold(`h${index}`, 1n)], world), post);
      const found = async (silentMs: number) =>
        (await mine.orphans(silentMs)).map(({ id }) => id).filter((id) => id.endsWith(world));
      expect(await found(30_000)).toEqual([`h1${world}`, `h3${world}`]);
      // Where nobody else can be alive, no clock is asked.
      await db.query("UPDATE processes SET seen_at = seen_at + 3600000 WHERE id = $1", [`alive${world}`]);
      expect(await found(0)).toEqual([`h1${world}`, `h2${world}`, `h3${world}`]);
      const known = async () =>
        (await db.query("SELECT id FROM processes WHERE id LIKE $1 ORDER BY id", [`%${world}`])).map(({ id }) => id);
      const names = ["alive", "mine", "silent"].map((name) => `${name}${world}`);
      // A process with open holds stays listed, or nobody would know that it is dead.
      await mine.forgetSilent(30_000);
      await mine.leave();
      expect(await known()).toEqual(names);
      await runEach(
        store,
        apart(
          [0, 1, 2, 3].map((index) => release(`h${index}`)),
          world,
        ),
      );
      await mine.forgetSilent(30_000);
      expect(await known()).toEqual(names.slice(0, 2));
      await mine.leave();
      expect(await known()).toEqual(names.slice(0, 1));
      await mine.forgetSilent(0);
      expect(await known()).toEqual([]);
    });
  });

  test("what a process holds that is gone is at once that of nobody; others are left alone", async () => {
    const world = await newWorld();
    const [mine, gone, alive] = ["mine", "gone", "alive"].map((name) => createLedgerStore(db, `${name}${world}`)) as [
      LedgerStore,
      LedgerStore,
      LedgerStore,
    ];
    for (const process of [mine, gone, alive]) await process.beat();
    await store.commit(apart([topUp("t", 100n)], world), post);
    for (const [index, process] of [mine, gone, alive].entries())
      await process.commit(apart([hold(`h${index}`, 1n)], world), post);
    await mine.forgetGone((owner) => owner === `gone${world}` || owner === `mine${world}`);
    const found = (await mine.orphans(2_000_000_000)).map(({ id }) => id).filter((id) => id.endsWith(world));
    expect(found).toEqual([`h1${world}`]);
    await runEach(
      store,
      apart(
        [0, 1, 2].map((index) => release(`h${index}`)),
        world,
      ),
    );
  });

  test("an answer is kept with its charge, for the request it was made for and no later one", async () => {
    const world = await newWorld();
    const [mine, theirs] = [idempotencyOf(db, "me"), idempotencyOf(db, "them")];
    const id = `key${world}`;
    const answer = { idempotencyId: id, contentType: "text/plain", text: "an\0swer" };
    await runEach(store, apart([topUp("t", 100n), hold("h", 5n), hold("i", 5n)], world));
    expect(await theirs.begin(id, "body")).toEqual({ state: "new" });
    await store.commit(apart([settle("h", 5, { answer })], world), post);
    expect(await mine.begin(id, "body")).toEqual({ state: "in-flight" });
    await theirs.forget(id);
    expect(await mine.begin(id, "body")).toEqual({ state: "new" });
    await store.commit(apart([settle("i", 5, { answer })], world), post);
    expect(await theirs.begin(id, "body")).toEqual({ state: "answered", contentType: "text/plain", text: "answer" });
    expect(await theirs.begin(id, "other")).toEqual({ state: "other-body" });
    // To version 0.1.0, which runs beside this one in a rolling deploy, the request is still running.
    const [row] = await db.query("SELECT answer_text FROM idempotent_requests WHERE id = $1", [id]);
    expect(row?.answer_text).toBeNull();
  });

  test("a request that could not be forgotten, or whose beginning was lost, does not block its key", async () => {
    const world = await newWorld();
    let isAway = false;
    let isLost = false;
    const shaky = Object.create(db, {
      query: {
        value: async (...query: Parameters<Db["query"]>) => {
          if (isAway) throw new Error("away");
          const rows = await db.query(...query);
          if (isLost) throw new Error("lost");
          return rows;
        },
      },
    }) as Db;
    const requests = idempotencyOf(shaky, "me");
    expect(await requests.begin(`one${world}`, "body")).toEqual({ state: "new" });
    isAway = true;
    await requests.forget(`one${world}`);
    isAway = false;
    expect(await requests.begin(`one${world}`, "body")).toEqual({ state: "new" });
    isLost = true;
    await expect(requests.begin(`two${world}`, "body")).rejects.toThrow("lost");
    // The one that runs under this key is not disturbed by a second that got no answer.
    await expect(requests.begin(`one${world}`, "body")).rejects.toThrow("lost");
    isLost = false;
    expect(await requests.begin(`two${world}`, "body")).toEqual({ state: "new" });
    expect(await requests.begin(`one${world}`, "body")).toEqual({ state: "in-flight" });
  });

  test.runIf(isShared)("two handles that write at once never spend more than there is", async () => {
    const world = await newWorld();
    const other = await openDb(url);
    const stores = [store, createLedgerStore(other, "other")];
    // The first money of two handles at once makes one wallet.
    const first = await Promise.all(
      stores.map((one, index) => one.commit(apart([topUp(`t${index}`, 50n)], world), post)),
    );
    expect(first.flat()).toMatchObject([{ state: "moved" }, { state: "moved" }]);
    const again = await Promise.all(stores.map((one) => one.commit(apart([topUp("t0", 50n)], world), post)));
    expect(again.flat()).toMatchObject([{ state: "already-moved" }, { state: "already-moved" }]);
    const outcomes = await Promise.all(
      stores.flatMap((one, process) =>
        Array.from({ length: 8 }, async (_, batch) => {
          const ids = Array.from({ length: 10 }, (_unused, index) => `h-${process}-${batch}-${index}`);
          const held = await one.commit(
            apart(
              ids.map((id) => hold(id, 10n)),
              world,
            ),
            post,
          );
          const granted = ids.filter((_unused, index) => held[index]?.state === "held");
          await one.commit(
            apart(
              granted.map((id, index) => (index % 2 === 0 ? settle(id, 10) : release(id))),
              world,
            ),
            post,
          );
          return granted.length;
        }),
      ),
    );
    expect(outcomes.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(10);
    const { posted, held } = await store.balance(`a${world}`);
    expect([posted >= 0n, held]).toEqual([true, 0n]);
    const [paid] = await db.query("SELECT COUNT(*) AS count FROM charges WHERE account_id = $1", [`a${world}`]);
    expect(posted).toBe(100n - 10n * BigInt(paid!.count as number));
    expect((await verdict()).problems).toEqual([]);
    await other.close();
  });

  test("an audit during traffic has nothing to complain of", async () => {
    const world = await newWorld();
    await store.commit(apart([topUp("t", 100_000n)], world), post);
    let isDone = false;
    const traffic = (async () => {
      for (let round = 0; round < 25; round += 1) {
        const ids = Array.from({ length: 5 }, (_, index) => `h-${round}-${index}`);
        const limit = { spendLimit: 1_000_000n, keyId: "limited" };
        await store.commit(
          apart(
            ids.map((id) => hold(id, 10n, limit)),
            world,
          ),
          post,
        );
        await store.commit(apart([...ids.slice(1).map((id) => settle(id, 7)), release(ids[0]!)], world), post);
      }
      isDone = true;
    })();
    while (!isDone) expect((await verdict()).problems).toEqual([]);
    await traffic;
  });
});

/** The entries of a transaction have no order. */
function withoutOrder(outcome: unknown): unknown {
  const transaction = (outcome as { transaction?: { entries: readonly { book: string; amount: bigint }[] } } | null)
    ?.transaction;
  if (transaction === undefined) return outcome;
  const entries = transaction.entries
    .filter(({ amount }) => amount !== 0n)
    .map(({ book, amount }) => `${book}=${amount}`);
  return { ...(outcome as object), transaction: { ...transaction, entries: entries.sort() } };
}
