// Spend limits that reset, on every store: exact over many processes, also where one remembers what another has changed.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createSpending } from "../../src/accounts/spending.ts";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db, Statement } from "../../src/core/db.ts";
import type { KeyRecord, KeySpendStore } from "../../src/core/keys.ts";
import type { HoldOp, LedgerOp, LedgerStore } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createKeySpendStore } from "../../src/store/ledger/key-spends.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { hold, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

const DAY_MS = 86_400_000;
const TODAY = Date.UTC(2026, 10, 15);
const TOMORROW = TODAY + DAY_MS;

await describeStores("spend periods", ({ url, isShared }) => {
  let db: Db;
  let spends: KeySpendStore;
  let keys = 0;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    spends = createKeySpendStore(db);
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('a', 'a', 0)");
    await createLedgerStore(db, "me").commit([topUp("t", 1_000_000n)], post);
  });
  afterAll(() => db.close());

  /** A key of its own for each test, as one process uses it. */
  function newKey() {
    keys += 1;
    const keyId = `key-${keys}`;
    let holds = 0;
    const use = (store: LedgerStore) => {
      const commit = async (op: LedgerOp) => (await store.commit([op], post))[0];
      const take = async (amount: bigint, periodStartMs: number, more: Partial<HoldOp> = {}) => {
        holds += 1;
        const id = `${keyId}-${holds}`;
        const outcome = await commit(hold(id, amount, { keyId, spendLimit: 10n, periodStartMs, ...more }));
        return outcome?.state === "held" ? id : null;
      };
      const pay = (id: string | null, amount: number, periodStartMs: number) =>
        commit(settle(id as string, amount, { periodStartMs }));
      return { take, pay };
    };
    const stored = async () => (await spends.of([keyId])).get(keyId);
    return { keyId, use, stored };
  }
  const verdict = () => verifyLedger(createLedgerAudit(db));

  test("a day that is used up refuses, and the next one grants again", async () => {
    const { use, stored } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(10n, TODAY), 10, TODAY);
    expect(await take(1n, TODAY)).toBeNull();
    const next = await take(10n, TOMORROW);
    expect(next).not.toBeNull();
    expect(await stored()).toMatchObject({ spent: 10n, held: 10n, periodStartMs: TOMORROW, spentBefore: 10n });
    await pay(next, 4, TOMORROW);
    expect(await take(7n, TOMORROW)).toBeNull();
    expect(await take(6n, TOMORROW)).not.toBeNull();
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
  });

  test("what was held yesterday and is charged today counts today", async () => {
    const { use, stored } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(9n, TODAY), 8, TOMORROW);
    expect(await stored()).toMatchObject({ spent: 8n, held: 0n, periodStartMs: TOMORROW, spentBefore: 0n });
    expect(await take(3n, TOMORROW)).toBeNull();
  });

  test("a limit that is never reset goes on as it did", async () => {
    const { use, stored } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(10n, 0), 10, 0);
    expect(await take(1n, 0)).toBeNull();
    expect(await stored()).toMatchObject({ spent: 10n, periodStartMs: 0, spentBefore: 0n });
  });

  test("reset by hand elsewhere, a process that remembers otherwise grants again, and does not undo it", async () => {
    const { keyId, use, stored } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(6n, TODAY), 6, TODAY);
    await spends.reset(keyId, TODAY + 5_000);
    // From memory, where six are spent: it fits all the same, and what it writes leaves the new period as it is.
    await pay(await take(4n, TODAY), 4, TODAY);
    expect(await stored()).toMatchObject({ spent: 10n, spentBefore: 6n, periodStartMs: TODAY + 5_000 });
    // Nothing is left by memory, six by the truth.
    expect(await take(7n, TODAY)).toBeNull();
    expect(await take(6n, TODAY)).not.toBeNull();
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
  });

  test("reset by hand elsewhere, an answer is not cut short for want of what is there again", async () => {
    const { keyId, use, stored } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(9n, TODAY), 9, TODAY);
    await spends.reset(keyId, TODAY + 5_000);
    // By memory one is left, which would do for a short answer.
    await take(8n, TODAY, { atLeast: 1n });
    expect(await stored()).toMatchObject({ held: 8n });
  });

  test("reset with a clock that is behind does not let the day begin again", async () => {
    const { keyId, use } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(10n, TOMORROW), 10, TOMORROW);
    await spends.reset(keyId, TODAY + 5_000);
    await pay(await take(10n, TOMORROW), 10, TOMORROW);
    const another = use(createLedgerStore(db, "other"));
    expect(await another.take(1n, TOMORROW)).toBeNull();
  });

  test("what the version before writes leaves the period, and what it made is counted from its start", async () => {
    const { keyId, use, stored } = newKey();
    const old = (spent: number) =>
      db.query(
        `INSERT INTO key_spends (key_id, spent, held) VALUES ($1, $2, 0)
         ON CONFLICT (key_id) DO UPDATE SET spent = excluded.spent, held = excluded.held`,
        [keyId, spent],
      );
    await old(9);
    expect(await stored()).toMatchObject({ spent: 9n, periodStartMs: 0, spentBefore: 0n });
    const { take } = use(createLedgerStore(db, "me"));
    expect(await take(0n, TODAY)).not.toBeNull();
    await old(12);
    expect(await stored()).toMatchObject({ spent: 12n, periodStartMs: TODAY, spentBefore: 9n });
    await db.query("UPDATE key_spends SET spent = 0, spent_before = 0 WHERE key_id = $1", [keyId]);
  });

  test("a batch at the start of a period is written by the statements of any other", async () => {
    const written: string[][] = [];
    const note = (statements: readonly Statement[]) => void written.push(statements.map(({ sql }) => sql));
    const store = createLedgerStore(
      {
        ...db,
        batchAtOnce: (statements) => {
          note(statements);
          return db.batchAtOnce(statements);
        },
      },
      "me",
    );
    const { use, stored } = newKey();
    const { take } = use(store);
    await take(1n, TODAY);
    await take(2n, TODAY);
    await take(3n, TOMORROW);
    expect(await stored()).toMatchObject({ held: 6n, periodStartMs: TOMORROW });
    const [within, atStart] = written.map((texts) => texts.filter((sql) => sql.includes("key_spends")));
    expect(within).toHaveLength(1);
    expect(atStart).toEqual(within);
  });

  test("is shown as the next request will find it", async () => {
    const { keyId, use } = newKey();
    const { take, pay } = use(createLedgerStore(db, "me"));
    await pay(await take(9n, TODAY), 9, TODAY);
    let nowMs = TODAY + 3_600_000;
    const spending = createSpending({ store: spends, now: () => nowMs });
    const key = { id: keyId, spendKeyId: keyId, spendLimitNano: 10n, spendReset: "daily" } as KeyRecord;
    const shown = async () => (await spending.of([key])).get(keyId);
    expect(await shown()).toEqual({ spent: 9n, sinceMs: TODAY, resetsAtMs: TOMORROW });
    nowMs = TOMORROW;
    expect(await shown()).toEqual({ spent: 0n, sinceMs: TOMORROW, resetsAtMs: TOMORROW + DAY_MS });
    nowMs = TODAY + 7_200_000;
    expect(await spending.reset(key)).toEqual({ spent: 0n, sinceMs: nowMs, resetsAtMs: TOMORROW });
    expect((await spending.of([{ ...key, spendLimitNano: null }])).size).toBe(0);
    const unused = { ...key, id: "unused", spendKeyId: "unused", spendReset: "never" as const };
    expect((await spending.of([unused])).get("unused")).toEqual({ spent: 0n, sinceMs: null, resetsAtMs: null });
  });

  test.skipIf(!isShared)("many processes at once grant each day what it has, to the nano", async () => {
    const { use } = newKey();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDb(url)));
    const users = opened.map((each, index) => use(createLedgerStore(each, `process-${index}`)));
    for (const day of [TODAY, TOMORROW, TOMORROW + DAY_MS]) {
      const asked = users.flatMap(({ take, pay }) =>
        Array.from({ length: 6 }, async () => {
          const id = await take(1n, day);
          if (id !== null) await pay(id, 1, day);
          return id;
        }),
      );
      const granted = (await Promise.all(asked)).filter((id) => id !== null);
      expect(granted).toHaveLength(10);
    }
    for (const each of opened) await each.close();
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
  });
});
