// Leases on real stores: requests that wait for no commit, processes that share a wallet down to its last credit, and
// processes that die with a lease.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createLedger, type Ledger } from "../../src/billing/ledger.ts";
import { createOutbox } from "../../src/billing/outbox.ts";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db } from "../../src/core/db.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { SILENT_LOG } from "../../src/telemetry/log.ts";
import { hold, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

let names = 0;

await describeStores("leases", ({ url, isShared }) => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-leases-"));
  const running = new Set<Ledger>();
  const opened: Db[] = [];
  let db: Db;
  let account: string;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
  });
  afterEach(async () => {
    for (const ledger of running) await ledger.stop();
    running.clear();
    for (const handle of opened.splice(0)) await handle.close();
    expect((await verifyLedger(createLedgerAudit(db))).problems).toEqual([]);
    expect(await db.query("SELECT owner FROM leases WHERE amount > 0")).toEqual([]);
  });
  afterAll(async () => {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A process: with a connection of its own where the store can have several. `commits` counts what it waits for. */
  async function startProcess(ownerSilentMs = 60_000) {
    names += 1;
    const owner = `process-${names}`;
    const own = isShared ? await openDb(url) : db;
    if (own !== db) opened.push(own);
    const store = createLedgerStore(own, owner);
    const counts = { commits: 0 };
    const counting = {
      ...store,
      commit: ((ops, post) => {
        counts.commits += 1;
        return store.commit(ops, post);
      }) satisfies typeof store.commit,
    };
    const outbox = createOutbox({ folder, name: owner, log: SILENT_LOG });
    const ledger = createLedger({ store: counting, owner, outbox, log: SILENT_LOG, ownerSilentMs });
    await ledger.start();
    running.add(ledger);
    return { ledger, owner, counts, die: () => running.delete(ledger) };
  }

  async function newAccount(ledger: Ledger, credits: bigint): Promise<void> {
    names += 1;
    account = `account-${names}`;
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [account]);
    await ledger.move(topUp(`topup-${names}`, credits, account));
  }
  const holdOn = (ledger: Ledger, id: string, amount: bigint) =>
    ledger.hold(hold(`${account}-${id}`, amount, { accountId: account }));
  const settleOn = (ledger: Ledger, id: string, nano: number) =>
    ledger.settle(settle(`${account}-${id}`, nano, { accountId: account }));
  const releaseOn = (ledger: Ledger, id: string) => ledger.release({ holdId: `${account}-${id}`, accountId: account });
  const leased = async (): Promise<bigint> =>
    BigInt((await db.query("SELECT leased FROM wallets WHERE account_id = $1", [account]))[0]?.leased as number);
  /** The process knows of its lease only after the database does. */
  const untilLeased = (ledger: Ledger): Promise<void> =>
    vi.waitFor(() => expect(ledger.leased(account)).toBeGreaterThan(0n), 60_000);

  test("with a lease a hold waits for no commit, and its charge is one", async () => {
    const { ledger, counts } = await startProcess();
    await newAccount(ledger, 10_000n);
    await holdOn(ledger, "first", 10n);
    await untilLeased(ledger);
    const before = counts.commits;
    expect(await holdOn(ledger, "second", 10n)).toEqual({ state: "held", amount: 10n });
    expect(await holdOn(ledger, "third", 10n)).toEqual({ state: "held", amount: 10n });
    expect(counts.commits).toBe(before);
    expect(await ledger.balance(account)).toMatchObject({ posted: 10_000n, held: 30n });
    expect(ledger.leased(account)).toBe((await leased()) - 20n);
    await releaseOn(ledger, "third");
    expect(await settleOn(ledger, "second", 7)).toMatchObject({ state: "settled", paid: 7n, absorbed: 0n });
    expect(await settleOn(ledger, "second", 7)).toMatchObject({ state: "already-resolved" });
    expect(await settleOn(ledger, "first", 8)).toMatchObject({ state: "settled", paid: 8n });
    expect(await ledger.balance(account)).toMatchObject({ posted: 9_985n, held: 0n });
  });

  test("a lease that is not used goes back by itself", async () => {
    // It must not count as silent by then.
    const { ledger } = await startProcess(600_000);
    await newAccount(ledger, 10_000n);
    await holdOn(ledger, "first", 10n);
    await untilLeased(ledger);
    const laterMs = Date.now() + 31_000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(laterMs);
    try {
      await vi.waitFor(async () => expect(await leased()).toBe(0n), { timeout: 120_000, interval: 50 });
    } finally {
      clock.mockRestore();
    }
    await releaseOn(ledger, "first");
  });

  test("a wallet that has little is never leased from", async () => {
    const { ledger } = await startProcess();
    await newAccount(ledger, 319n);
    await holdOn(ledger, "first", 10n);
    await holdOn(ledger, "second", 10n);
    expect(await leased()).toBe(0n);
    expect(ledger.leased(account)).toBe(0n);
    await releaseOn(ledger, "first");
    await releaseOn(ledger, "second");
  });

  test("the whole balance can be taken by one hold, and corrected away", async () => {
    const { ledger } = await startProcess();
    await newAccount(ledger, 10_000n);
    await holdOn(ledger, "first", 10n);
    await untilLeased(ledger);
    expect(await holdOn(ledger, "large", 9_990n)).toEqual({ state: "held", amount: 9_990n });
    expect(await holdOn(ledger, "more", 1n)).toMatchObject({ state: "refused", reason: "on-hold" });
    await releaseOn(ledger, "large");
    await releaseOn(ledger, "first");
    await holdOn(ledger, "again", 10n);
    await releaseOn(ledger, "again");
    const all = { ...topUp(`correction-${account}`, -10_000n, account), transactionKind: "adjustment" as const };
    expect(await ledger.move(all)).toMatchObject({ state: "moved" });
  });

  test.runIf(isShared)("nobody is refused what another process has on lease and does not use", async () => {
    const [one, other] = [await startProcess(), await startProcess()];
    await newAccount(one.ledger, 10_000n);
    await holdOn(one.ledger, "first", 10n);
    await untilLeased(one.ledger);
    expect(await holdOn(other.ledger, "large", 9_980n)).toEqual({ state: "held", amount: 9_980n });
    await releaseOn(other.ledger, "large");
    await releaseOn(one.ledger, "first");
  });

  test.runIf(isShared).each([
    ["and settles", true],
    ["and only begins", false],
  ])("nor what it has on lease while it goes on with requests %s", async (_, isSettled) => {
    const [busy, other] = [await startProcess(), await startProcess()];
    await newAccount(busy.ledger, 100_000n);
    let isOver = false;
    let begun = 0;
    const traffic = (async () => {
      for (; !isOver; begun += 1) {
        expect(await holdOn(busy.ledger, `small-${begun}`, 1n)).toMatchObject({ state: "held" });
        if (isSettled) await settleOn(busy.ledger, `small-${begun}`, 1);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await untilLeased(busy.ledger);
    expect(await holdOn(other.ledger, "large", 98_000n)).toEqual({ state: "held", amount: 98_000n });
    // What runs is on hold for everybody by now, and nothing beyond it is set aside.
    expect(await leased()).toBe(0n);
    isOver = true;
    await traffic;
    await releaseOn(other.ledger, "large");
    if (!isSettled) for (let number = 0; number < begun; number += 1) await releaseOn(busy.ledger, `small-${number}`);
  });

  test.runIf(isShared)("processes that spend at once spend all of it, and not one credit more", async () => {
    const processes = [await startProcess(), await startProcess(), await startProcess()];
    await newAccount((processes[0] as { ledger: Ledger }).ledger, 3_000n);
    let granted = 0;
    // More is asked for than there is, and each of them takes and pays 10 until it is refused.
    await Promise.all(
      processes.flatMap(({ ledger }, index) =>
        Array.from({ length: 6 }, async (_, lane) => {
          for (let round = 0; round < 40; round += 1) {
            const id = `storm-${index}-${lane}-${round}`;
            const outcome = await holdOn(ledger, id, 10n);
            if (outcome.state === "refused") continue;
            granted += 1;
            expect(await settleOn(ledger, id, 10)).toMatchObject({ state: "settled", paid: 10n, absorbed: 0n });
          }
        }),
      ),
    );
    expect(granted).toBe(300);
    expect(await db.query("SELECT posted, held FROM wallets WHERE account_id = $1", [account])).toEqual([
      { posted: 0, held: 0 },
    ]);
  });

  test("the lease of a process that died comes back once, and its requests cost nothing", async () => {
    const dead = await startProcess();
    await newAccount(dead.ledger, 10_000n);
    await holdOn(dead.ledger, "first", 10n);
    await untilLeased(dead.ledger);
    await holdOn(dead.ledger, "second", 10n);
    dead.die();
    await startProcess(0);
    expect(await leased()).toBe(0n);
    expect(await db.query("SELECT posted, held FROM wallets WHERE account_id = $1", [account])).toEqual([
      { posted: 10_000, held: 0 },
    ]);
    // It was not dead after all: what it still delivers is paid once, from what is available.
    expect(await settleOn(dead.ledger, "second", 7)).toMatchObject({ state: "settled", paid: 7n, absorbed: 0n });
    expect(await settleOn(dead.ledger, "second", 7)).toMatchObject({ state: "already-resolved" });
    await dead.ledger.stop();
  });

  test("a process whose lease was ended for it does not pay from what it remembers of it", async () => {
    await newAccount((await startProcess()).ledger, 10_000n);
    names += 1;
    const [owner, other] = [`paused-${names}`, `other-${names}`];
    const [paused, awake] = [createLedgerStore(db, owner), createLedgerStore(db, other)];
    const lease = { kind: "lease", accountId: account, atLeast: 1n, epoch: null } as const;
    const end = { kind: "return", accountId: account, holds: [], isExpiry: false } as const;
    await paused.commit([{ ...lease, owner }], post);
    await awake.commit([{ ...lease, owner: other }], post);
    await awake.commit([{ ...end, owner, isExpiry: true }], post);
    // This reads the wallet as it is now, and nothing of leases.
    await paused.commit([topUp(`second-${account}`, 1n, account)], post);
    const reserved = { owner, keyId: "key", amount: 10n, isMetered: false, isFresh: true };
    const late = settle(`${account}-late`, 10, { accountId: account, reserved });
    expect(await paused.commit([late], post)).toMatchObject([{ state: "settled", paid: 10n, lease: { left: 0n } }]);
    await awake.commit([{ ...end, owner: other }], post);
    expect(await leased()).toBe(0n);
  });
});
