// A key's spend limit that resets: shown with what is spent of it, reset by hand, and by the calendar.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { join, setUpOperator } from "../../support/gateway/signed-in.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank, owed, PRICES, usd } from "../../support/stores/money.ts";

interface Key {
  readonly id: string;
  readonly key: string;
  readonly [field: string]: unknown;
}

const BODY = { model: "alpha", service_profile: "direct", max_tokens: 100 };
const COST = owed({ input: 12, output: 1 }, PRICES.alpha);
const COST_USD = usd(COST).replace(/0+$/, "");
/** No request may hold more than this, and none costs a hundredth of it. */
const LIMIT = "0.001";

let bank: Bank;
beforeAll(async () => {
  bank = await openBank({ database: "file" });
  bank.provider.on("alpha", answers("ok", { usage: { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 } }));
});
afterAll(() => bank.close());

async function create(body: object): Promise<Key> {
  const answer = await bank.gateway.api("POST", "/api/keys", { name: "limited", ...body });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Key;
}

async function listed(id: string): Promise<Key | undefined> {
  const answer = await bank.gateway.api("GET", "/api/keys?limit=500");
  return ((await answer.json()) as { data: Key[] }).data.find((key) => key.id === id);
}

const ask = ({ key }: Key): Promise<Response> =>
  bank.gateway.post(
    "/v1/chat/completions",
    { ...BODY, messages: [{ role: "user", content: "Hi" }] },
    {
      authorization: `Bearer ${key}`,
    },
  );

/** Until it is refused; how often it was not, and the message. */
async function useUp(key: Key): Promise<{ readonly count: number; readonly message: string }> {
  for (let count = 0; count < 1_000; count += 1) {
    const answer = await ask(key);
    if (answer.status !== 200) {
      const { message } = await expectError(answer, { status: 402, code: "spend_limit_reached" });
      return { count, message };
    }
    await answer.text();
  }
  throw new Error("the limit never came");
}

describe("a key that is rotated", () => {
  const rotate = async ({ id }: Key, graceHours: number): Promise<Key> => {
    const answer = await bank.gateway.api("POST", `/api/keys/${id}/rotate`, { graceHours });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Key;
  };

  it("goes on with what the old one spent, and a second time too", async () => {
    const old = await create({ spendLimitUsd: LIMIT, spendReset: "monthly" });
    const { count } = await useUp(old);
    const next = await rotate(old, 0);
    expect(next).toMatchObject({ spentUsd: usd(BigInt(count) * COST).replace(/0+$/, "") });
    expect((await useUp(next)).count).toBe(0);
    expect((await useUp(await rotate(next, 0))).count).toBe(0);
  });

  it("shares the limit with the old one during the grace period, also when it is reset", async () => {
    const old = await create({ spendLimitUsd: LIMIT });
    const next = await rotate(old, 1);
    const { count } = await useUp(next);
    expect((await useUp(old)).count).toBe(0);
    expect((await bank.gateway.api("POST", `/api/keys/${next.id}/reset-spend`)).status).toBe(200);
    await (await ask(old)).text();
    expect((await useUp(next)).count).toBeLessThan(count);
  });

  it("stays in the budget of the key", async () => {
    const old = await create({});
    const next = await rotate(old, 0);
    const wanted = { name: "key", scope: "key", amountUsd: "0", period: "day" };
    for (const { id } of [old, next]) {
      const made = await bank.gateway.api("POST", "/api/budgets", { ...wanted, value: id });
      expect(made.status).toBe(201);
      const budget = (await made.json()) as Key;
      expect(budget).toMatchObject({ value: old.id });
      await expectError(await ask(next), { status: 402, code: "budget_exceeded" });
      await bank.gateway.api("DELETE", `/api/budgets/${budget.id}`);
      expect((await ask(next)).status).toBe(200);
    }
  });
});

describe("a limit that resets", () => {
  it("is shown with what is spent of it, and when it resets", async () => {
    const key = await create({ spendLimitUsd: LIMIT, spendReset: "monthly" });
    expect(key).toMatchObject({ spendReset: "monthly", spentUsd: "0" });
    expect(key.spendResetsAt).toMatch(/^\d{4}-\d\d-01T00:00:00\.000Z$/);
    expect(Date.parse(String(key.spendResetsAt))).toBeGreaterThan(Date.now());
    await (await ask(key)).text();
    expect(await listed(key.id)).toMatchObject({
      ...{ spendLimitUsd: LIMIT, spendReset: "monthly", spentUsd: COST_USD },
      ...{ spentSince: expect.stringMatching(/-01T00:00:00\.000Z$/), spendResetsAt: key.spendResetsAt },
    });
  });

  it("grants again when the month is over, and says in the 402 when that is", async () => {
    const key = await create({ spendLimitUsd: LIMIT, spendReset: "monthly" });
    const { count, message } = await useUp(key);
    expect(count).toBeGreaterThan(1);
    expect(message).toContain(`It resets on ${String(key.spendResetsAt).slice(0, 10)} (00:00 UTC).`);
    // A month later, as the gateway sees it: the period under way is the one before.
    const db = await openDb(bank.gateway.database);
    await db.query("UPDATE key_spends SET period_start = period_start - 2700000000 WHERE key_id = $1", [key.id]);
    await db.close();
    expect(await listed(key.id)).toMatchObject({ spentUsd: "0" });
    expect((await useUp(key)).count).toBe(count);
    expect(await (await bank.gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true });
  });

  it("is reset by hand at once, with one line in the log that says by whom", async () => {
    const key = await create({ spendLimitUsd: LIMIT });
    const { count, message } = await useUp(key);
    expect(message).not.toContain("resets on");
    const answer = await bank.gateway.api("POST", `/api/keys/${key.id}/reset-spend`);
    expect(answer.status).toBe(200);
    const { key: _, ...shown } = key;
    const since = { spentSince: expect.stringMatching(/Z$/), lastUsedAt: expect.any(String) };
    expect(await answer.json()).toEqual({ ...shown, ...since, spentUsd: "0", spendResetsAt: null });
    expect((await useUp(key)).count).toBe(count);
    expect(bank.gateway.logged.map(({ fields }) => fields)).toContainEqual({
      event: "key.spend_reset",
      keyId: key.id,
      actor: "admin token",
    });
  });

  it("is changed with the key, and goes with the limit", async () => {
    const { id } = await create({ spendLimitUsd: "5", spendReset: "daily" });
    const patch = (body: object): Promise<Response> => bank.gateway.api("PATCH", `/api/keys/${id}`, body);
    expect(await (await patch({ spendReset: "weekly" })).json()).toMatchObject({ spendReset: "weekly" });
    expect(await (await patch({ name: "same" })).json()).toMatchObject({ spendReset: "weekly", spendLimitUsd: "5" });
    const freed = await (await patch({ spendLimitUsd: null })).json();
    expect(freed).toMatchObject({ spendLimitUsd: null, spendReset: "never", spentUsd: null, spendResetsAt: null });
    await expectError(await patch({ spendReset: "daily" }), { status: 400, param: "spendReset" });
    expect((await patch({ spendReset: "daily", spendLimitUsd: "1" })).status).toBe(200);
    const rotated = await bank.gateway.api("POST", `/api/keys/${id}/rotate`, {});
    expect(await rotated.json()).toMatchObject({ spendReset: "daily", spendLimitUsd: "1", spentUsd: "0" });
  });

  it.each<[object, string]>([
    [{ spendReset: "daily" }, "spendReset"],
    [{ spendReset: "hourly", spendLimitUsd: "1" }, "spendReset"],
    [{ spendReset: 1, spendLimitUsd: "1" }, "spendReset"],
    [{ spentUsd: "0", spendLimitUsd: "1" }, "spentUsd"],
    [{ spentSince: null }, "spentSince"],
    [{ spendResetsAt: "2030-01-01T00:00:00Z" }, "spendResetsAt"],
  ])("%j is refused", async (body, param) => {
    const made = await bank.gateway.api("POST", "/api/keys", { name: "x", ...body });
    await expectError(made, { status: 400, param });
  });

  it("is for the account's own people; what is not there is 404, what is over 409", async () => {
    await setUpOperator(bank.gateway);
    const made = await bank.gateway.api("POST", "/api/accounts", { name: "Acme" });
    const accountId = ((await made.json()) as { id: string }).id;
    const owner = await join(bank.gateway, { email: "owner@acme.example", role: "owner", accountId });
    const theirs = await create({ spendLimitUsd: LIMIT });
    await (await ask(theirs)).text();
    const path = `/api/keys/${theirs.id}/reset-spend`;
    await expectError(await owner.call("POST", path), { status: 404, param: "id" });
    await expectError(await owner.call("POST", `${path}?account=default`), { status: 404 });
    expect(await listed(theirs.id)).toMatchObject({ spentUsd: COST_USD });
    const own = (await (await owner.call("POST", "/api/keys", { name: "o", spendLimitUsd: "1" })).json()) as Key;
    expect((await owner.call("POST", `/api/keys/${own.id}/reset-spend`)).status).toBe(200);
    await bank.gateway.api("DELETE", `/api/keys/${theirs.id}`);
    await expectError(await bank.gateway.api("POST", path), { status: 409, code: "key_not_active" });
    await expectError(await bank.gateway.api("POST", "/api/keys/key_none/reset-spend"), { status: 404, param: "id" });
  });
});
