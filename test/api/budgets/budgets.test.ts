// Budgets over HTTP: set by operators and owners, checked before a provider is called, and told to callers.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { join, setUpOperator } from "../../support/gateway/signed-in.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank, owed, PRICES, usd } from "../../support/stores/money.ts";

interface Budget {
  readonly id: string;
  readonly standing: { readonly spentUsd: string; readonly reservedUsd: string; readonly leftUsd: string } | null;
  readonly values: readonly { readonly value: string; readonly spentUsd: string }[];
  readonly [field: string]: unknown;
}

const COST = owed({ input: 12, output: 1 }, PRICES.alpha);
const COST_USD = usd(COST).replace(/0+$/, "");
const BODY = { model: "alpha", service_profile: "direct", max_tokens: 100 };
/** No request may hold more than this, and none costs a hundredth of it. */
const ENOUGH = "0.001";

let bank: Bank;
beforeAll(async () => {
  bank = await openBank({ database: "file" });
  const usage = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
  for (const model of ["alpha", "beta", "free"]) bank.provider.on(model, answers("ok", { usage }));
});
afterAll(() => bank.close());

async function set(body: object): Promise<Budget> {
  const wanted = { name: "test", scope: "account", amountUsd: ENOUGH, period: "day", ...body };
  const answer = await bank.gateway.api("POST", "/api/budgets", wanted);
  expect(answer.status, await answer.clone().text()).toBe(201);
  return (await answer.json()) as Budget;
}

const read = async (id: string): Promise<Budget> =>
  (await (await bank.gateway.api("GET", `/api/budgets/${id}`)).json()) as Budget;
const end = async ({ id }: Budget): Promise<void> => {
  expect((await bank.gateway.api("DELETE", `/api/budgets/${id}`)).status).toBe(204);
};
const refused = async (answer: Response): Promise<string> =>
  (await expectError(answer, { status: 402, code: "budget_exceeded" })).message;

describe("a budget", () => {
  test("counts what is spent, refuses once it is spent, and lets free things through", async () => {
    const budget = await set({ name: "Everything" });
    expect((await bank.ask(BODY)).status).toBe(200);
    await bank.atRest();
    expect((await read(budget.id)).standing).toMatchObject({ spentUsd: COST_USD, reservedUsd: "0" });
    // Lowered below what is spent, it blocks at once.
    const lower = { name: "Everything", scope: "account", amountUsd: "0.00000001", period: "day" };
    expect((await bank.gateway.api("PUT", `/api/budgets/${budget.id}`, lower)).status).toBe(200);
    const asked = bank.provider.requests.length;
    const message = await refused(await bank.ask(BODY));
    expect(message).toMatch(
      /^The budget 'Everything' is spent \(.* USD needed, 0 of 0\.00000001 USD left\)\. It renews on /,
    );
    expect(bank.provider.requests).toHaveLength(asked);
    expect((await bank.ask({ ...BODY, model: "free" })).status).toBe(200);
    expect((await bank.gateway.get("/v1/models")).status).toBe(200);
    await end(budget);
    expect((await bank.ask(BODY)).status).toBe(200);
  });

  test("of each end user counts each one, by body, by metadata and by header", async () => {
    const budget = await set({ scope: "endUser", amountUsd: ENOUGH });
    await bank.ask({ ...BODY, user: "ada" });
    await bank.ask({ ...BODY, metadata: { user_id: "ada" } });
    await bank.ask({ ...BODY, user: "ignored" }, { "X-OpenWebUI-User-Id": "grace" });
    await bank.ask(BODY);
    await bank.atRest();
    const { values, standing } = await read(budget.id);
    expect(standing).toBeNull();
    expect(values.map(({ value, spentUsd }) => [value, spentUsd])).toEqual([
      ["ada", usd(2n * COST).replace(/0+$/, "")],
      ["grace", COST_USD],
    ]);
    const told = (await (await bank.gateway.get("/v1/budgets?user=grace")).json()) as { data: readonly object[] };
    expect(told.data).toMatchObject([{ object: "budget", value: "grace", spent_usd: COST_USD, hard: true }]);
    await end(budget);
  });

  test("of a tag counts that value, or each", async () => {
    const [one, each] = [await set({ scope: "tag", value: "team=search" }), await set({ scope: "tag", value: "team" })];
    await bank.ask(BODY, { "x-tag-team": "search" });
    await bank.ask(BODY, { "x-tag-team": "ads" });
    await bank.atRest();
    expect((await read(one.id)).standing).toMatchObject({ spentUsd: COST_USD });
    expect((await read(each.id)).values.map(({ value }) => value).sort()).toEqual(["team=ads", "team=search"]);
    await Promise.all([one, each].map(end));
  });

  test("of a model takes it out of the chain, and refuses where nothing else is left", async () => {
    interface Routed {
      readonly service: { readonly model: string; readonly notes: readonly { readonly code: string }[] };
    }
    const route = async () => (await (await bank.ask({ max_tokens: 50 })).json()) as Routed;
    const { model: value } = (await route()).service;
    const budget = await set({ scope: "model", value, amountUsd: "0" });
    const answer = await route();
    expect(answer.service.model).not.toBe(value);
    expect(answer.service.notes.map(({ code }) => code)).toContain("model_over_budget");
    await refused(await bank.ask({ ...BODY, model: value }));
    await end(budget);
  });

  test("of a tier counts what is routed there", async () => {
    const budget = await set({ scope: "tier", amountUsd: "0" });
    expect(await refused(await bank.ask({ max_tokens: 50 }))).toContain("of 'SIMPLE'");
    await end(budget);
  });

  test("that is soft only says so", async () => {
    const budget = await set({ name: "Watch", amountUsd: "0", hard: false });
    const answer = (await (await bank.ask(BODY)).json()) as { service: { notes: readonly object[] } };
    expect(answer.service.notes).toContainEqual(expect.objectContaining({ code: "budget_spent" }));
    await end(budget);
  });

  test("of a key holds for that key, and callers see only their own", async () => {
    const made = await bank.gateway.api("POST", "/api/keys", { name: "other" });
    const { id, key } = (await made.json()) as { id: string; key: string };
    const budget = await set({ scope: "key", value: id, amountUsd: "0" });
    const authorization = `Bearer ${key}`;
    await refused(await bank.ask(BODY, { authorization }));
    expect((await bank.ask(BODY)).status).toBe(200);
    const told = async (headers: Record<string, string>) =>
      ((await (await bank.gateway.get("/v1/budgets", headers)).json()) as { data: readonly object[] }).data;
    expect(await told({ authorization })).toMatchObject([{ scope: "key", value: id, left_usd: "0" }]);
    expect(await told({})).toEqual([]);
    await end(budget);
  });

  test("holds for racing requests together", async () => {
    const budget = await set({ scope: "account", amountUsd: ENOUGH });
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await bank.ask(BODY)).status));
    await bank.atRest();
    const { standing } = await read(budget.id);
    const answered = BigInt(statuses.filter((status) => status === 200).length);
    expect(answered).toBeGreaterThan(0n);
    expect(answered).toBeLessThan(60n);
    expect(standing).toMatchObject({ spentUsd: usd(answered * COST).replace(/0+$/, ""), reservedUsd: "0" });
    await end(budget);
  });
});

describe("a budget is refused", () => {
  test.each<readonly [string, object, string]>([
    ["an unknown time zone", { timeZone: "Mars/Base" }, "timeZone"],
    ["a value of the whole account", { value: "x" }, "value"],
    ["a tag without a name", { scope: "tag", value: "=x" }, "value"],
    ["no tag", { scope: "tag" }, "value"],
    ["a strange key", { scope: "key", value: "key_none" }, "value"],
    ["a strange tier", { scope: "tier", value: "HUGE" }, "value"],
    ["a strange model", { scope: "model", value: "nothing-like-it" }, "value"],
    ["an amount that is none", { amountUsd: "much" }, "amountUsd"],
    ["a period that is none", { period: "year" }, "period"],
  ])("%s", async (_, body, param) => {
    const wanted = { name: "test", scope: "account", amountUsd: "1", period: "day", ...body };
    const answer = await bank.gateway.api("POST", "/api/budgets", wanted);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param } });
  });
});

test("owners set budgets of their account, and cannot touch those of an operator", async () => {
  await setUpOperator(bank.gateway);
  const owner = await join(bank.gateway, { email: "owner@example.com", role: "owner", accountId: "default" });
  const theirs = await set({ amountUsd: "10" });
  const body = { name: "mine", scope: "account", amountUsd: "5", period: "month", rolling: true };
  const made = await owner.call("POST", "/api/budgets", body);
  expect(made.status).toBe(201);
  const mine = (await made.json()) as Budget;
  expect(mine).toMatchObject({ setByOperator: false, rolling: true, timeZone: "UTC", standing: { spentUsd: "0" } });
  expect((await owner.call("DELETE", `/api/budgets/${theirs.id}`)).status).toBe(403);
  expect((await owner.call("PUT", `/api/budgets/${theirs.id}`, body)).status).toBe(403);
  expect((await owner.call("DELETE", `/api/budgets/${mine.id}`)).status).toBe(204);
  expect((await owner.call("GET", "/api/budgets")).status).toBe(200);
  await end(theirs);
  expect((await bank.gateway.api("GET", `/api/budgets/${theirs.id}`)).status).toBe(404);
});
