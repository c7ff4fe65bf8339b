// Random histories of the ledger: few accounts, keys and ids, so that repetitions, collisions, late and double settlements
// and spending above the balance all happen.

import type { LedgerOp } from "../../../src/core/ledger.ts";
import { fc } from "../property.ts";
import { hold, release, settle, topUp } from "./ledger.ts";

const accountId = fc.constantFrom("a", "b", "nobody");
const holdId = fc.integer({ min: 0, max: 9 }).map((number) => `hold-${number}`);
/** Of a spend limit: most are the first, and a clock may be behind. */
const period = fc.constantFrom(0, 0, 0, 1_000, 2_000);
const nano = fc.integer({ min: 0, max: 120 });
const mayRecall = fc.boolean();

const moving = fc
  .record({ number: fc.integer({ min: 0, max: 5 }), amount: fc.integer({ min: -80, max: 150 }), accountId, mayRecall })
  .map(({ number, amount, accountId: account, mayRecall: may }) => ({
    ...topUp(`move-${number}-${account}`, BigInt(amount), account),
    mayRecall: may,
    transactionKind: amount < 0 ? ("adjustment" as const) : ("topup" as const),
  }));

const holding = fc
  .record({
    id: holdId,
    accountId,
    amounts: fc.array(nano, { minLength: 1, maxLength: 3 }),
    atLeast: fc.option(nano),
    limit: fc.option(nano),
    periodStartMs: period,
    isMetered: fc.nat({ max: 3 }).map((number) => number === 0),
    mayRecall,
  })
  .map(({ id, accountId: account, amounts, atLeast, limit, periodStartMs, isMetered, mayRecall: may }) =>
    hold(id, 0n, {
      accountId: account,
      keyId: `key-${account}-${limit === null ? "free" : "limited"}`,
      amounts: amounts.sort((a, b) => b - a).map(BigInt),
      atLeast: atLeast === null ? null : BigInt(atLeast),
      spendLimit: limit === null ? null : BigInt(limit),
      isMetered,
      periodStartMs,
      mayRecall: may,
    }),
  );

const settling = fc
  .record({ id: holdId, accountId, tokens: nano, periodStartMs: period })
  .map(({ id, accountId: account, tokens, periodStartMs }) =>
    settle(id, tokens, { accountId: account, periodStartMs }),
  );

const releasing = fc
  .record({ id: holdId, accountId, isExpiry: fc.boolean() })
  .map(({ id, accountId: account, isExpiry }) => release(id, { accountId: account, isExpiry }));

const owner = fc.constantFrom("me", "other");

const leasing = fc
  .record({ owner, accountId, atLeast: fc.integer({ min: 0, max: 12 }), epoch: fc.constantFrom(null, null, 0, 1) })
  .map(({ atLeast, ...of }): LedgerOp => ({ kind: "lease", ...of, atLeast: BigInt(atLeast) }));

const returning = fc
  .record({
    ...{ owner, accountId, isExpiry: fc.boolean() },
    holds: fc.uniqueArray(fc.record({ id: holdId, amount: nano }), { maxLength: 3, selector: ({ id }) => id }),
  })
  .map(
    ({ holds, ...of }): LedgerOp => ({
      ...{ kind: "return", ...of },
      holds: holds.map(({ id, amount }) => ({
        ...{ id: `own-${of.accountId}-${id}`, keyId: `key-${of.accountId}-free`, amount: BigInt(amount) },
      })),
    }),
  );

/** Of holds that were taken in memory: sometimes after their lease is gone, and sometimes twice. */
const settlingReserved = fc
  .record({ id: holdId, accountId, owner, amount: nano, tokens: nano, isMetered: fc.nat({ max: 3 }) })
  .map(({ id, accountId: account, owner: of, amount, tokens, isMetered }) =>
    settle(`own-${account}-${id}`, tokens, {
      accountId: account,
      reserved: {
        ...{ owner: of, keyId: `key-${account}-free`, amount: BigInt(amount) },
        ...{ isMetered: isMetered === 0, isFresh: false },
      },
    }),
  );

export const history: fc.Arbitrary<readonly LedgerOp[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: moving },
    { weight: 5, arbitrary: holding },
    { weight: 4, arbitrary: settling },
    { weight: 2, arbitrary: releasing },
    { weight: 2, arbitrary: leasing },
    { weight: 1, arbitrary: returning },
    { weight: 2, arbitrary: settlingReserved },
  ),
  { minLength: 1, maxLength: 40 },
);

/** How much more than in the normal suite; for long runs by hand. */
export const SCALE = Number(process.env.SWITCHYARD_TEST_SCALE ?? 1);
