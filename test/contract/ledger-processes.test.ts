// Several processes on one PostgreSQL ledger: what one remembers may be out of date, and what it gave up may still be sent.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db } from "../../src/core/db.ts";
import type { LedgerOp, LedgerStore } from "../../src/core/ledger.ts";
import { StoreUnavailable } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { hold, release, settle, topUp } from "../support/stores/ledger.ts";
import { createTestDatabase } from "../support/stores/postgres.ts";

const database = await createTestDatabase();

describe.skipIf(database === null)("processes on one ledger", () => {
  let db: Db;
  let other: Db;
  let accounts = 0;
  let accountId = "";
  let mine: (...ops: readonly LedgerOp[]) => ReturnType<LedgerStore["commit"]>;
  let theirs: typeof mine;

  beforeAll(async () => {
    db = await openDb(database!.url);
    other = await openDb(database!.url, { queryTimeoutMs: 500 });
    await db.migrate();
  });
  afterAll(async () => {
    await db.close();
    await other.close();
    await database!.drop();
  });
  beforeEach(async () => {
    accountId = await newAccount();
    const [one, two] = [createLedgerStore(db, "mine"), createLedgerStore(other, "theirs")];
    mine = (...ops) => one.commit(ops, post);
    theirs = (...ops) => two.commit(ops, post);
    await mine(topUp(`t${accountId}`, 1_000_000n, accountId));
  });

  async function newAccount(): Promise<string> {
    accounts += 1;
    const id = `account${accounts}`;
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [id]);
    return id;
  }
  const idOf = (id: string) => `${id}-${accountId}`;
  const limited = (id: string, key = "key") =>
    hold(idOf(id), 1_000n, { accountId, keyId: idOf(key), spendLimit: 1_000_000n });
  const problems = async () => (await verifyLedger(createLedgerAudit(db))).problems;

  test("what another process spent on a key counts after the wallet was read for a lease", async () => {
    await mine(limited("h1"));
    await theirs(limited("h2"));
    await mine({ kind: "lease", owner: "mine", accountId, atLeast: 1n, epoch: null });
    await mine(limited("h3"));
    expect(await db.query("SELECT held FROM key_spends WHERE key_id = $1", [idOf("key")])).toEqual([{ held: 3_000 }]);
    expect(await problems()).toEqual([]);
  });

  test("a hold that another process ended is not freed twice after the wallet was read", async () => {
    await mine(hold(idOf("h0"), 1_000n, { accountId }), hold(idOf("h1"), 1_000n, { accountId }));
    await theirs({ ...release(idOf("h1"), { accountId }), isExpiry: true });
    await mine({ kind: "return", owner: "mine", accountId, holds: [], isExpiry: false });
    await mine({ ...settle(idOf("h1"), 500), accountId });
    expect(await db.query("SELECT held FROM wallets WHERE account_id = $1", [accountId])).toEqual([{ held: 1_000 }]);
    expect(await problems()).toEqual([]);
  });

  test("a key's spending is right although the wallet looks as if nobody had written", async () => {
    await mine(limited("h1"), limited("h2", "second"));
    await theirs(release(idOf("h2"), { accountId }));
    await theirs(limited("h3"));
    await mine(limited("h4"));
    expect(await db.query("SELECT held FROM key_spends WHERE key_id = $1", [idOf("key")])).toEqual([{ held: 3_000 }]);
    expect(await problems()).toEqual([]);
  });

  test("a hold that timed out behind another and was released is not written afterwards", async () => {
    const second = await newAccount();
    await theirs(topUp(`t${second}`, 1_000_000n, second));
    await theirs(hold(idOf("h0"), 1_000n, { accountId }));
    let unlock = (): void => undefined;
    const isOver = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    let isLocked = (): void => undefined;
    const locked = new Promise<void>((resolve) => {
      isLocked = resolve;
    });
    const locking = db.transaction(async (tx) => {
      await tx.query("SELECT 1 AS one FROM wallets WHERE account_id = $1 FOR UPDATE", [accountId]);
      isLocked();
      await isOver;
    });
    await locked;
    const held = [accountId, second].map((id) => theirs(hold(idOf(`late-${id}`), 1_000n, { accountId: id })));
    const [slow, behind] = await Promise.allSettled(held);
    expect(slow).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    // As the ledger does with a hold whose outcome is unknown.
    if (behind?.status === "rejected") await theirs(release(idOf(`late-${second}`), { accountId: second }));
    unlock();
    await locking;
    // Behind whatever is still waiting for its turn.
    await expect
      .poll(() =>
        db.query(
          "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      )
      .toEqual([]);
    const isOpen = "SELECT id FROM holds WHERE account_id = $1 AND state = 'open'";
    const open = behind?.status === "fulfilled" ? [{ id: idOf(`late-${second}`) }] : [];
    expect(await db.query(isOpen, [second])).toEqual(open);
    expect(await problems()).toEqual([]);
  });
});
