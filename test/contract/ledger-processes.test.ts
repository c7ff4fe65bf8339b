// Several processes on one PostgreSQL ledger: what one remembers may be out of date, and what it gave up may still be sent.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../src/billing/ledger.ts";
import { createOutbox } from "../../src/billing/outbox.ts";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db } from "../../src/core/db.ts";
import type { LedgerOp, LedgerStore } from "../../src/core/ledger.ts";
import { StoreUnavailable } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { SILENT_LOG } from "../../src/telemetry/log.ts";
import { startTcpProxy } from "../support/network/tcp-proxy.ts";
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

  test("a batch that is tried again keeps its place: a hold is written before its release", async () => {
    await theirs(hold(idOf("h0"), 1_000n, { accountId }));
    await mine(topUp(idOf("t2"), 1n, accountId));
    const [[held], [released]] = await Promise.all([
      theirs(hold(idOf("h1"), 1_000n, { accountId })),
      // Together with one that nobody remembers, so that it has to be read.
      theirs(release(idOf("h1"), { accountId }), release(idOf("never"), { accountId })),
    ]);
    expect([held, released]).toMatchObject([{ state: "held" }, { state: "voided" }]);
    expect(await db.query("SELECT held FROM wallets WHERE account_id = $1", [accountId])).toEqual([{ held: 1_000 }]);
    expect(await problems()).toEqual([]);
  });

  test("a charge that is tried again is written before the lease that was asked for after it", async () => {
    const lease: LedgerOp = { kind: "lease", owner: "mine", accountId, atLeast: 1n, epoch: null };
    const reserved = { owner: "mine", keyId: "key", amount: 1_000n, isMetered: false, isFresh: true };
    await mine(lease);
    await theirs(topUp(idOf("t2"), 1n, accountId));
    const [, [leased]] = await Promise.all([mine({ ...settle(idOf("h1"), 500), accountId, reserved }), mine(lease)]);
    const [row] = await db.query("SELECT amount FROM leases WHERE account_id = $1", [accountId]);
    expect(leased).toMatchObject({ state: "leased", amount: BigInt(row!.amount as number) });
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

  test("a hold that the network delivers after it was given up and released is not written", async () => {
    const proxy = await startTcpProxy(database!.url);
    const behind = await openDb(proxy.url, { queryTimeoutMs: 500 });
    const folder = mkdtempSync(join(tmpdir(), "switchyard-late-"));
    const outbox = createOutbox({ folder, name: "late", log: SILENT_LOG });
    const store = createLedgerStore(behind, "late");
    const ledger = createLedger({ store, owner: "late", outbox, log: SILENT_LOG, ownerSilentMs: 60_000 });
    await ledger.start();
    const wanted = (id: string) => ledger.hold(limited(id));
    await wanted("first");
    // From memory, over the connection that the next one shares.
    await wanted("second");
    let delivered = (): void => undefined;
    const isDelivered = new Promise<void>((resolve) => {
      delivered = resolve;
    });
    proxy.harm({}, { delayMs: LATE_MS });
    // Its release names it too, and says nothing of an open one.
    proxy.listen((bytes) => bytes.includes(idOf("given-up")) && bytes.includes(`"open"`) && delivered());
    await expect(wanted("given-up")).rejects.toBeInstanceOf(StoreUnavailable);
    proxy.harm({});
    await isDelivered;
    await ledger.stop();
    await behind.close();
    // The server has done by then what was delivered.
    await expect.poll(() => proxy.open).toBe(0);
    await proxy.close();
    rmSync(folder, { recursive: true });
    const isOpen = "SELECT id FROM holds WHERE account_id = $1 AND state = 'open'";
    expect(await db.query(`${isOpen} ORDER BY id`, [accountId])).toEqual([
      { id: idOf("first") },
      { id: idOf("second") },
    ]);
    expect(await problems()).toEqual([]);
  });
});

/** Longer than a release takes to be tried again. */
const LATE_MS = 5_000;
