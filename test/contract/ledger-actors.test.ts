// Who moved money, on every store: kept once and for good beside the entry, and nothing of it in what the version before
// reads, writes and audits.

import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db, Statement } from "../../src/core/db.ts";
import type { LedgerOp, LedgerStore, MoveOp, MoveOutcome } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { createLedgerList } from "../../src/store/ledger/list.ts";
import { createMemoryLedger, hold, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

const ADA = 'ada+"ops"@example.com';

await describeStores("actors", ({ url }) => {
  let db: Db;
  let store: LedgerStore;
  let written: Statement[] = [];

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    for (const id of ["a", "b"]) await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [id]);
    const watched: Db = {
      ...db,
      batchAtOnce: (statements) => {
        written.push(...statements);
        return db.batchAtOnce(statements);
      },
    };
    store = createLedgerStore(watched, "me");
  });
  afterAll(() => db.close());

  const commit = async (op: LedgerOp) => (await store.commit([op], post))[0];
  const move = async (op: MoveOp): Promise<MoveOutcome> => (await commit(op)) as MoveOutcome;
  const actors = async (accountId = "a") =>
    (await createLedgerList(db).list(accountId, { limit: 20, after: null })).map(
      ({ transaction }) => transaction.actor,
    );

  test("an entry has who made it; one without, and a charge, have nobody", async () => {
    await move({ ...topUp("t1", 1_000n), actor: ADA });
    await move(topUp("t2", 1_000n));
    await commit(hold("h1", 10n));
    await commit(settle("h1", 7));
    await move({ ...topUp("t3", -5n), transactionKind: "adjustment", actor: "command line" });
    expect(await actors()).toEqual(["command line", null, null, ADA]);
  });

  test("done again by somebody else it is still the first one's", async () => {
    const first = await move({ ...topUp("once", 5n, "b"), actor: ADA });
    const again = await move({ ...topUp("once", 5n, "b"), actor: "admin token" });
    expect(again).toMatchObject({ state: "already-moved", transaction: { actor: ADA } });
    expect(first).toMatchObject({ state: "moved", transaction: { actor: ADA } });
    expect(await actors("b")).toEqual([ADA]);
  });

  test("a charge writes what it wrote before there were actors", async () => {
    await move(topUp("t4", 100n));
    written = [];
    await commit(hold("h2", 10n));
    await commit(settle("h2", 7));
    expect(written.length).toBeGreaterThan(0);
    expect(written.map(({ sql }) => sql).join("\n")).not.toContain("actor");
  });

  test("the chain is the one that a ledger without actors has", async () => {
    const pure = createMemoryLedger();
    const ops = [topUp("c1", 50n, "b"), topUp("c2", 60n, "b")];
    const [before] = await db.query("SELECT posted, held, sequence, hash FROM wallets WHERE account_id = 'b'");
    pure.wallets.set("b", {
      ...{ accountId: "b", posted: BigInt(before?.posted ?? 0), held: BigInt(before?.held ?? 0), leased: 0n, epoch: 0 },
      ...{ sequence: Number(before?.sequence), hash: String(before?.hash) },
    });
    for (const op of ops) {
      await pure.commit([op], post);
      await move({ ...op, actor: ADA });
    }
    expect(await store.balance("b")).toEqual(await pure.balance("b"));
    expect(await verifyLedger(createLedgerAudit(db))).toMatchObject({ ok: true, problems: [] });
  });

  test.each(["UPDATE ledger_actors SET actor = 'nobody'", "DELETE FROM ledger_actors"])(
    "the database refuses %s",
    async (sql) => {
      await expect(db.query(sql)).rejects.toThrow(/append-only/);
      expect((await actors()).at(-1)).toBe(ADA);
    },
  );

  test("the audit finds an actor of nothing", async () => {
    await db.query("INSERT INTO ledger_actors (transaction_id, actor) VALUES ('ghost', 'somebody')");
    const { problems } = await verifyLedger(createLedgerAudit(db));
    expect(problems).toEqual(["actor of a transaction that is not there: ghost"]);
  });
});
