// The audit finds what somebody changed behind the ledger's back, and names it. The triggers that would have refused it
// are dropped first, as an attacker would.

import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { Db } from "../../src/core/db.ts";
import type { LedgerOp } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { hold, release, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

const LIMITED = { spendLimit: 1_000n, keyId: "limited" };
const HISTORY: readonly LedgerOp[] = [
  topUp("top-up", 1_000n),
  hold("first", 50n),
  settle("first", 40),
  hold("second", 50n, LIMITED),
  settle("second", 30),
  hold("third", 50n),
  settle("third", 20),
  hold("open", 60n, LIMITED),
  hold("given-back", 10n),
  release("given-back"),
  settle("leased", 5, {
    reserved: { owner: "me", keyId: "key", amount: 10n, isMetered: false, isFresh: false },
  }),
];

/** What is done, and what the audit must say of it. */
const TAMPERINGS: readonly (readonly [string, string, RegExp])[] = [
  ["a wallet's money", "UPDATE wallets SET posted = posted + 1", /wallet a says 906, its transactions come to 905/],
  ["what a wallet holds", "UPDATE wallets SET held = held - 1", /wallet a says 59 on hold, its open holds are 60/],
  ["a wallet's hash", "UPDATE wallets SET hash = 'x'", /wallet a has another hash/],
  ["a wallet's last number", "UPDATE wallets SET sequence = 3", /beyond the end of its wallet: charge:third/],
  ["a number too many", "UPDATE wallets SET sequence = 9", /wallet a has no transaction number 6/],
  [
    "one entry",
    "UPDATE ledger_entries SET amount = 41 WHERE sequence = 2 AND book = 'revenue'",
    /transaction charge:first: its entries do not sum to zero/,
  ],
  [
    "both entries of a top-up",
    "UPDATE ledger_entries SET amount = amount * 2 WHERE sequence = 1",
    /transaction top-up: its balance does not follow/,
  ],
  [
    "an entry's book",
    "UPDATE ledger_entries SET book = 'absorbed' WHERE book = 'revenue' AND sequence = 2",
    /charge:first/,
  ],
  ["an entry that is gone", "DELETE FROM ledger_entries WHERE sequence = 3 AND book = 'wallet'", /charge:second/],
  [
    "an entry of nothing known",
    "INSERT INTO ledger_entries VALUES ('a', 77, 'wallet', 5)",
    /entry has no transaction: a 77/,
  ],
  [
    "a balance",
    "UPDATE ledger_transactions SET balance_after = 1 WHERE id = 'charge:second'",
    /charge:second: its balance/,
  ],
  ["a note", "UPDATE ledger_transactions SET note = 'gift' WHERE id = 'top-up'", /top-up: it was changed/],
  [
    "a transaction's kind",
    "UPDATE ledger_transactions SET kind = 'adjustment' WHERE id = 'top-up'",
    /top-up: it was changed/,
  ],
  [
    "a transaction that is gone",
    "DELETE FROM ledger_transactions WHERE id = 'charge:second'",
    /number 3 is missing|charge has no transaction: second/,
  ],
  [
    "the last transaction that is gone",
    "DELETE FROM ledger_transactions WHERE id = 'charge:leased'",
    /no transaction number 5/,
  ],
  [
    "a charge's tokens",
    "UPDATE charges SET input_tokens = 39 WHERE hold_id = 'first'",
    /charge:first: its charge is not tokens times price/,
  ],
  [
    "tokens that cost nothing",
    "UPDATE charges SET is_estimated = 1 WHERE hold_id = 'first'",
    /charge:first: it was changed/,
  ],
  ["a charge's model", "UPDATE charges SET model = 'other' WHERE hold_id = 'second'", /charge:second: it was changed/],
  ["a charge's key", "UPDATE charges SET key_id = 'other' WHERE hold_id = 'first'", /charge:first: it was changed/],
  ["a charge's price", "UPDATE charges SET price_json = '{}' WHERE hold_id = 'first'", /charge:first: its charge is/],
  [
    "a price that cannot be read",
    "UPDATE charges SET price_json = 'x' WHERE hold_id = 'first'",
    /charge:first: .*cannot be read/,
  ],
  [
    "who paid",
    "UPDATE charges SET paid = 39, absorbed = 1 WHERE hold_id = 'first'",
    /charge:first: its entries do not match/,
  ],
  ["what was paid", "UPDATE charges SET paid = 39 WHERE hold_id = 'first'", /charge:first: paid and absorbed/],
  [
    "a charge that is gone",
    "DELETE FROM charges WHERE hold_id = 'third'",
    /settled without a charge: third|charge:third: its charge is missing/,
  ],
  [
    "a charge too many",
    "INSERT INTO charges SELECT 'ghost', request_id, account_id, key_id, model, provider, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, is_estimated, price_json, markup_ppm, outcome, charge, paid, absorbed, created_at, is_reserved FROM charges WHERE hold_id = 'first'",
    /charge has no transaction: ghost/,
  ],
  [
    "a settled hold opened again",
    "UPDATE holds SET state = 'open' WHERE id = 'first'",
    /charge:first: its hold is open/,
  ],
  [
    "an open hold given back",
    "UPDATE holds SET state = 'voided' WHERE id = 'open'",
    /says 60 on hold, its open holds are 0/,
  ],
  [
    "a hold said to be settled",
    "UPDATE holds SET state = 'settled' WHERE id = 'given-back'",
    /settled without a charge: given-back/,
  ],
  ["an open hold's amount", "UPDATE holds SET amount = 1 WHERE id = 'open'", /says 60 on hold, its open holds are 1/],
  ["a hold that is gone", "DELETE FROM holds WHERE id = 'first'", /charge:first: its hold is missing/],
  [
    "a hold of a charge that had none",
    "UPDATE holds SET id = 'leased' WHERE id = 'given-back'",
    /charge:leased: its hold is voided/,
  ],
  [
    "a charge that should have had a hold",
    "UPDATE charges SET is_reserved = 0 WHERE hold_id = 'leased'",
    /charge:leased: its hold is missing/,
  ],
  [
    "a hold of nobody",
    "UPDATE holds SET account_id = 'nobody' WHERE id = 'given-back'",
    /hold has no wallet: given-back/,
  ],
  ["what a key has spent", "UPDATE key_spends SET spent = 0", /key has other holds or spending.*: limited/],
  ["what a key holds", "UPDATE key_spends SET held = 0", /key has other holds or spending.*: limited/],
  ["a key's record that is gone", "DELETE FROM key_spends", /key has other holds or spending.*: limited/],
];

await describeStores("audit", ({ url }) => {
  let db: Db;

  const tables = ["accounts", "wallets", "holds", "key_spends", "ledger_transactions", "ledger_entries", "charges"];
  const verify = () => verifyLedger(createLedgerAudit(db));

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await dropTriggers(db);
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('a', 'a', 0)");
    const store = createLedgerStore(db, "me");
    for (const op of HISTORY) await store.commit([op], post);
    for (const table of tables) await db.query(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  });
  afterAll(() => db.close());

  async function restore(): Promise<void> {
    for (const table of [...tables].reverse()) await db.query(`DELETE FROM ${table}`);
    for (const table of tables) await db.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
  }

  test("what nobody touched fits", async () => {
    expect(await verify()).toEqual({
      ok: true,
      accounts: 1,
      transactions: 5,
      openHolds: 1,
      auditEntries: 0,
      problems: [],
    });
  });

  test.each(TAMPERINGS)("%s", async (_, sql, finding) => {
    await db.query(sql);
    const { ok, problems } = await verify();
    await restore();
    expect(ok).toBe(false);
    expect(problems.join("\n")).toMatch(finding);
    expect((await verify()).problems).toEqual([]);
  });
});

async function dropTriggers(db: Db): Promise<void> {
  if (db.kind === "sqlite") {
    for (const { name } of await db.query("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
      await db.query(`DROP TRIGGER ${name}`);
    return;
  }
  for (const table of ["ledger_transactions", "ledger_entries", "charges"])
    await db.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
}
