// The hold of a batch on every store: lines take their holds from it and give back what they do not use, nothing goes beyond
// it, and what is ended is never charged.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import { BATCH_OWNER, batchHoldId } from "../../src/core/batches/holds.ts";
import type { Db } from "../../src/core/db.ts";
import type { HoldOp, LedgerOp, LedgerStore } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { clockSql } from "../../src/store/dialect.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { countProcesses, keepBatchHolds } from "../../src/store/ledger/processes.ts";
import { fc } from "../support/property.ts";
import { hold, release, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("holds of batches", ({ url, isShared }) => {
  let db: Db;
  let second: Db;
  let mine: LedgerStore;
  let theirs: LedgerStore;
  let count = 0;
  let accountId = "";
  let batch = "";
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    second = isShared && db.kind === "postgres" ? await openDb(url) : db;
    mine = createLedgerStore(db, "mine");
    theirs = createLedgerStore(second, "theirs");
  });
  afterAll(async () => {
    if (second !== db) await second.close();
    await db.close();
  });
  beforeEach(async () => {
    count += 1;
    accountId = `account${count}`;
    batch = batchHoldId(`batch_${count}`);
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [accountId]);
    await run(topUp(`t${count}`, 1_000n, accountId));
  });

  const run = async (op: LedgerOp, store = mine) => (await store.commit([op], post))[0];
  const whole = (amount: bigint, isCapped: boolean): HoldOp =>
    hold(batch, amount, { accountId, shared: { isCapped }, owner: BATCH_OWNER });
  const line = (id: string, amount: bigint, more: Partial<HoldOp> = {}) =>
    hold(`${batch}:${id}:1:0`, amount, { accountId, ...more });
  const paidBy = (id: string, nano: number) => settle(`${batch}:${id}:1:0`, nano, { accountId });
  const end = (id: string) => release(`${batch}:${id}:1:0`, { accountId, isFinal: true, keyId: "key" });
  const wallet = async () => {
    const { posted, held } = await mine.balance(accountId);
    return { posted, held };
  };
  const expectSound = async () => expect((await verifyLedger(createLedgerAudit(db))).problems).toEqual([]);

  test("lines take from it and give back, and others cannot use it", async () => {
    expect(await run(whole(800n, false))).toEqual({ state: "held", amount: 800n });
    expect(await run(hold(`other${count}`, 300n, { accountId }))).toMatchObject({ state: "refused" });
    expect(await run(line("0", 500n))).toEqual({ state: "held", amount: 500n });
    expect(await wallet()).toEqual({ posted: 1_000n, held: 800n });
    expect(await run(paidBy("0", 120))).toEqual({ state: "settled", paid: 120n, absorbed: 0n });
    expect(await wallet()).toEqual({ posted: 880n, held: 680n });
    expect(await run(line("1", 680n))).toMatchObject({ state: "held" });
    await run(release(`${batch}:1:1:0`, { accountId }));
    await run(release(batch, { accountId }));
    expect(await wallet()).toEqual({ posted: 880n, held: 0n });
    await expectSound();
  });

  test("a line that needs more takes it from other credits, unless a price was named", async () => {
    await run(whole(100n, false));
    expect(await run(line("0", 300n))).toEqual({ state: "held", amount: 300n });
    expect(await wallet()).toEqual({ posted: 1_000n, held: 300n });
    expect(await run(paidBy("0", 900))).toEqual({ state: "settled", paid: 900n, absorbed: 0n });
    await run(release(batch, { accountId }));
    expect(await wallet()).toEqual({ posted: 100n, held: 0n });
    await expectSound();
  });

  test("with a price, no line goes beyond it", async () => {
    await run(whole(100n, true));
    expect(await run(line("0", 70n))).toMatchObject({ state: "held" });
    // The other line may give some of it back.
    expect(await run(line("1", 40n))).toMatchObject({ state: "refused", reason: "on-hold", available: 30n });
    expect(await run(paidBy("0", 150))).toEqual({ state: "settled", paid: 100n, absorbed: 50n });
    expect(await run(line("1", 40n))).toMatchObject({ state: "refused", reason: "max-cost" });
    await run(release(batch, { accountId }));
    expect(await wallet()).toEqual({ posted: 900n, held: 0n });
    await expectSound();
  });

  test("a version that knows no batches leaves it alone, and the row for that counts as no process", async () => {
    if (db.kind !== "postgres") return;
    await keepBatchHolds(db);
    await keepBatchHolds(db);
    await run(whole(800n, false));
    await mine.forgetSilent(1);
    expect(await countProcesses(db)).toBe(0);
    // The statement of version 0.1.0.
    const orphans = await db.query(
      `SELECT h.id FROM holds h LEFT JOIN processes p ON p.id = h.owner WHERE h.state = 'open' AND h.owner <> $1
       AND (p.seen_at IS NULL OR $2 = 0 OR p.seen_at <= ${clockSql(db.kind)} - $2) AND h.id = $3`,
      ["old", 15_000, batch],
    );
    expect(orphans).toEqual([]);
    await run(release(batch, { accountId }));
  });

  test("it outlives processes, and gets back what those of a dead one held", async () => {
    await run(whole(500n, true));
    await run(line("0", 200n), theirs);
    expect((await mine.orphans(0)).map(({ id }) => id)).toContain(`${batch}:0:1:0`);
    expect((await mine.orphans(0)).map(({ id }) => id)).not.toContain(batch);
    await run(release(`${batch}:0:1:0`, { accountId, isExpiry: true }));
    expect(await wallet()).toEqual({ posted: 1_000n, held: 500n });
    expect(await run(line("1", 500n))).toMatchObject({ state: "held" });
    await expectSound();
  });

  test("a late settlement of an expired line is paid from it, and never once the line was ended", async () => {
    await run(whole(500n, true));
    for (const id of ["0", "1"]) {
      await run(line(id, 200n), theirs);
      await run(release(`${batch}:${id}:1:0`, { accountId, isExpiry: true }));
    }
    expect(await run(paidBy("0", 50), theirs)).toMatchObject({ state: "settled", paid: 50n });
    await run(end("1"));
    expect(await run(paidBy("1", 50), theirs)).toEqual({ state: "already-resolved" });
    // One that has not arrived yet is refused as well.
    await run(end("2"));
    await expect(run(line("2", 10n), theirs)).rejects.toThrow("cannot be used again");
    expect(await run(line("2", 10n, { id: `${batch}:2:2:0` }))).toMatchObject({ state: "held" });
    expect(await wallet()).toEqual({ posted: 950n, held: 450n });
    await expectSound();
  });

  test("a metered account has a price, too", async () => {
    const isMetered = true;
    await run({ ...whole(100n, true), isMetered });
    expect(await run(line("0", 60n, { isMetered }))).toMatchObject({ state: "held" });
    expect(await run(line("1", 60n, { isMetered }))).toMatchObject({ state: "refused", reason: "on-hold" });
    expect(await run(paidBy("0", 100))).toEqual({ state: "settled", paid: 100n, absorbed: 0n });
    expect(await run(line("1", 60n, { isMetered }))).toMatchObject({ state: "refused", reason: "max-cost" });
    expect(await wallet()).toEqual({ posted: 1_000n, held: 0n });
    await expectSound();
  });

  test("lines of two processes that run at once never pay more than there is", async () => {
    const step = fc.record({ amount: fc.integer({ min: 1, max: 400 }), nano: fc.integer({ min: 0, max: 500 }) });
    const steps = fc.sample(fc.array(step, { minLength: 24, maxLength: 24 }), 1)[0] ?? [];
    await run(whole(600n, true));
    await Promise.all(
      steps.map(async ({ amount, nano }, at) => {
        const store = at % 2 === 0 ? mine : theirs;
        const held = await run(line(`${at}`, BigInt(amount)), store);
        if (held?.state === "held") await run(at % 5 === 0 ? end(`${at}`) : paidBy(`${at}`, nano), store);
      }),
    );
    await run(release(batch, { accountId }));
    const { posted, held } = await wallet();
    expect(held).toBe(0n);
    expect(posted).toBeGreaterThanOrEqual(400n);
    expect(posted).toBeLessThan(1_000n);
    await expectSound();
  });
});
