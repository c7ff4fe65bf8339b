// Events of budgets over the real store: one at 80%, one at the end, and new ones in the next period.

import { expect, test } from "vitest";
import { createBudgets } from "../../../src/accounts/budgets/budgets.ts";
import { createDirectory } from "../../../src/accounts/directory.ts";
import { budgetSource } from "../../../src/app/alerts/budgets.ts";
import { post } from "../../../src/billing/post.ts";
import { sentenceOf } from "../../../src/core/alerts/kinds.ts";
import { counterId } from "../../../src/core/budgets/counter.ts";
import { createAccountStore } from "../../../src/store/accounts/accounts.ts";
import { createBudgetStore } from "../../../src/store/accounts/budgets.ts";
import { createKeyStore } from "../../../src/store/accounts/keys.ts";
import { createProfileStore } from "../../../src/store/accounts/profiles.ts";
import { createTeamStore } from "../../../src/store/accounts/teams.ts";
import { createUserStore } from "../../../src/store/accounts/users.ts";
import { createAlertEventStore } from "../../../src/store/alerts/events.ts";
import { openDb } from "../../../src/store/db.ts";
import { createLedgerStore } from "../../../src/store/ledger/ledger.ts";
import { hold, settle, topUp } from "../../support/stores/ledger.ts";
import { describeStores } from "../../support/stores/stores.ts";

const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const USD = 1_000_000_000;
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

await describeStores("events of budgets", ({ url }) => {
  test("come once at 80% and once at the end, for each value and each period", async () => {
    const db = await openDb(url);
    await db.migrate();
    const accounts = createAccountStore(db);
    await accounts.insert({ id: "a", name: "Example Ltd", billingMode: null, createdAtMs: 0 });
    let nowMs = NOVEMBER + 5;
    const now = (): number => nowMs;
    const stores = { accounts, keys: createKeyStore(db), profiles: createProfileStore(db), teams: createTeamStore(db) };
    const store = createBudgetStore(db);
    const directory = createDirectory({ ...stores, budgets: store, log: SILENT });
    const budgets = createBudgets({ store, users: createUserStore(db), directory, now });
    const calendar = { timeZone: "UTC", isRolling: false, requestsPerMinute: null, tokensPerMinute: null } as const;
    const made = await budgets.create(
      { accountId: "a", isOperator: false },
      {
        ...{ name: "People", scope: "endUser", value: null, amount: BigInt(10 * USD), period: "month", isHard: true },
        ...calendar,
      },
    );
    const ledger = createLedgerStore(db, "me");
    await ledger.commit([topUp("t", BigInt(1_000 * USD))], post);
    let holds = 0;
    const spend = async (user: string, usd: number): Promise<void> => {
      holds += 1;
      const fromMs = nowMs >= DECEMBER ? DECEMBER : NOVEMBER;
      const term = { counter: counterId(made.id, user), fromMs, partMs: fromMs, limit: made.amount };
      const budget = { ...term, isHard: true, most: null };
      await ledger.commit([hold(`h${holds}`, BigInt(usd * USD), { budgets: [budget] })], post);
      await ledger.commit([settle(`h${holds}`, usd * USD, { budgets: [budget] })], post);
    };
    const source = budgetSource({ budgets, accounts });
    const events = createAlertEventStore(db);
    const raised = async (): Promise<readonly string[]> => {
      const observed = await source.look(nowMs);
      return (await events.raise(observed, nowMs)).map(({ kind, text }) => `${kind}: ${text}`);
    };

    await spend("ada", 7);
    await spend("grace", 1);
    expect(await raised()).toEqual([]);
    await spend("ada", 1);
    const renews = "It renews on 2026-12-01 00:00 UTC.";
    expect(await raised()).toEqual([
      `budget.warning: 80% of the budget People (ada) of Example Ltd are spent: 8.00 of 10.00 USD. ${renews}`,
    ]);
    expect(await raised()).toEqual([]);
    await spend("ada", 2);
    expect(await raised()).toEqual([
      `budget.spent: The budget People (ada) of Example Ltd is spent, and requests are refused: 10.00 of 10.00 USD. ${renews}`,
    ]);
    expect(await raised()).toEqual([]);
    nowMs = DECEMBER + 5;
    expect(await source.look(nowMs)).toEqual([]);
    await spend("ada", 9);
    expect((await raised()).map((text) => text.slice(0, 19))).toEqual(["budget.warning: 90%"]);

    // Of many values, those that are furthest have one.
    for (let user = 0; user < 20; user += 1) await spend(`user-${user}`, 8);
    await spend("grace", 10);
    const many = await source.look(nowMs);
    expect(many).toHaveLength(20);
    const sentences = many.map(sentenceOf).join("\n");
    expect(sentences).toContain("People (ada)");
    expect(sentences).toContain("People (grace)");

    // A soft one warns on, and a deleted one is silent.
    const author = { accountId: "a", isOperator: false };
    const soft = { ...made, amount: BigInt(9 * USD), isHard: false };
    await budgets.replace(author, made.id, soft);
    const spent = (await source.look(nowMs)).find((one) => sentenceOf(one).includes("(ada)"));
    expect(spent && sentenceOf(spent)).toContain("is spent, and requests go on: 9.00 of 9.00 USD");
    await budgets.delete(author, made.id);
    expect(await source.look(nowMs)).toEqual([]);
    directory.stop();
    await db.close();
  });
});
