// Budgets of teams and members: a team inside another counts for both, and a person for all of their keys.

import { afterAll, beforeAll, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { join, type Person, setUpOperator } from "../../support/gateway/signed-in.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank, owed, PRICES, usd } from "../../support/stores/money.ts";

interface Made {
  readonly id: string;
  readonly key: string;
}

interface Budget {
  readonly id: string;
  readonly label: string | null;
  readonly standing: { readonly spentUsd: string } | null;
  readonly values: readonly { readonly value: string; readonly label: string | null; readonly spentUsd: string }[];
}

const COST = owed({ input: 12, output: 1 }, PRICES.alpha);
const times = (count: bigint): string => usd(count * COST).replace(/0+$/, "");
const BODY = { model: "alpha", service_profile: "direct", max_tokens: 100 };

let bank: Bank;
let ada: Person;
let adaId: string;
beforeAll(async () => {
  bank = await openBank({ database: "file" });
  const usage = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
  bank.provider.on("alpha", answers("ok", { usage }));
  await setUpOperator(bank.gateway);
  ada = await join(bank.gateway, { email: "ada@example.com", role: "member" });
  adaId = ((await (await ada.call("GET", "/api/session")).json()) as { user: { id: string } }).user.id;
});
afterAll(() => bank.close());

async function make(path: string, body: object): Promise<Made> {
  const answer = await bank.gateway.api("POST", path, body);
  expect(answer.status, await answer.clone().text()).toBe(201);
  return (await answer.json()) as Made;
}

let names = 0;
const named = (fields: object): object => {
  names += 1;
  return { name: `n${names}`, ...fields };
};
const team = (fields: object = {}) => make("/api/teams", named(fields));
const keyOf = (fields: object) => make("/api/keys", named(fields));
const budget = (fields: object) => make("/api/budgets", named({ amountUsd: "1", period: "month", ...fields }));
const read = async (id: string): Promise<Budget> =>
  (await (await bank.gateway.api("GET", `/api/budgets/${id}`)).json()) as Budget;
const bearer = ({ key }: Pick<Made, "key">) => ({ authorization: `Bearer ${key}` });
const ask = async (key: Made, status = 200): Promise<Response> => {
  const answer = await bank.ask(BODY, bearer(key));
  expect(answer.status, await answer.clone().text()).toBe(status);
  return answer;
};

test("a team inside another counts for both, and a key that moves leaves what it spent behind", async () => {
  const outer = await team();
  const [one, two] = [await team({ parent: outer.id }), await team({ parent: outer.id })];
  const [wide, narrow, each] = [
    await budget({ scope: "team", value: outer.id }),
    await budget({ scope: "team", value: one.id }),
    await budget({ scope: "team" }),
  ];
  const key = await keyOf({ team: one.id });
  await ask(key);
  await ask(await keyOf({ team: two.id }));
  await ask(await keyOf({}));
  expect((await bank.gateway.api("PATCH", `/api/keys/${key.id}`, { team: two.id })).status).toBe(200);
  await ask(key);
  await bank.atRest();
  expect((await read(wide.id)).standing).toMatchObject({ spentUsd: times(3n) });
  expect((await read(narrow.id)).standing).toMatchObject({ spentUsd: times(1n) });
  const { values } = await read(each.id);
  expect(Object.fromEntries(values.map(({ value, spentUsd }) => [value, spentUsd]))).toEqual({
    [outer.id]: times(3n),
    [one.id]: times(1n),
    [two.id]: times(2n),
  });
  const { name } = (await (await bank.gateway.api("GET", `/api/teams/${outer.id}`)).json()) as { name: string };
  expect(values[0]?.label).toBe(name);
  for (const { id } of [wide, narrow, each]) await bank.gateway.api("DELETE", `/api/budgets/${id}`);
});

test("the team around refuses for both, and the refusal names it", async () => {
  const outer = await make("/api/teams", { name: "Research" });
  const inner = await team({ parent: outer.id });
  const each = await budget({ scope: "team", name: "Each team", amountUsd: "0" });
  const key = await keyOf({ team: inner.id });
  const { message } = await expectError(await ask(key, 402), { status: 402, code: "budget_exceeded" });
  expect(message).toMatch(/The budget 'Each team' of 'n\d+' is spent/);
  await bank.gateway.api("DELETE", `/api/budgets/${each.id}`);
  const wide = await budget({ scope: "team", value: outer.id, amountUsd: "0" });
  await ask(key, 402);
  await ask(await keyOf({}));
  await bank.gateway.api("DELETE", `/api/budgets/${wide.id}`);
  await ask(key);
});

test("a second key of a member has no amount of its own", async () => {
  const each = await budget({ scope: "member", name: "Each person", amountUsd: "0.001" });
  const mine = async (name: string): Promise<Made> => {
    const answer = await ada.call("POST", "/api/keys", { name });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Made;
  };
  const keys = [await mine("one"), await mine("two")] as const;
  for (const key of keys) await ask(key);
  await bank.atRest();
  const { values } = await read(each.id);
  expect(values).toMatchObject([{ value: adaId, label: "ada@example.com", spentUsd: times(2n) }]);
  const spent = { name: "Each person", scope: "member", amountUsd: times(2n), period: "month" };
  expect((await bank.gateway.api("PUT", `/api/budgets/${each.id}`, spent)).status).toBe(200);
  for (const key of [...keys, await mine("three")]) {
    const { message } = await expectError(await ask(key, 402), { status: 402, code: "budget_exceeded" });
    expect(message).toContain("The budget 'Each person' is spent");
    expect(message).not.toContain(adaId);
  }
  // The key of a service is nobody's.
  await ask(await keyOf({}));
  const told = await bank.gateway.get("/v1/budgets", bearer(keys[0]));
  expect((await told.json()) as object).toMatchObject({ data: [{ scope: "member", value: adaId, left_usd: "0" }] });
  await bank.gateway.api("DELETE", `/api/budgets/${each.id}`);
});

test("a program sees budgets of its own teams and its own person only", async () => {
  const [ours, theirs] = [await team(), await team()];
  const made = [
    await budget({ scope: "team", value: ours.id }),
    await budget({ scope: "team", value: theirs.id }),
    await budget({ scope: "member", value: adaId }),
  ];
  const told = async (key: Made): Promise<readonly string[]> => {
    const { data } = (await (await bank.gateway.get("/v1/budgets", bearer(key))).json()) as {
      data: readonly { value: string }[];
    };
    return data.map(({ value }) => value);
  };
  expect(await told(await keyOf({ team: ours.id }))).toEqual([ours.id]);
  expect(await told(await keyOf({ member: adaId }))).toEqual([adaId]);
  for (const { id } of made) await bank.gateway.api("DELETE", `/api/budgets/${id}`);
});

test("teams and people of other accounts are refused", async () => {
  const other = await make("/api/accounts", { name: "other" });
  const { id } = await make(`/api/teams?account=${other.id}`, { name: "theirs" });
  for (const wanted of [
    { scope: "team", value: id },
    { scope: "team", value: "team_none" },
    { scope: "member", value: "user_none" },
  ]) {
    const body = { name: "x", amountUsd: "1", period: "day", ...wanted };
    const answer = await bank.gateway.api("POST", "/api/budgets", body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: "value" } });
  }
  const body = { name: "x", amountUsd: "1", period: "day", scope: "member", value: adaId };
  expect((await bank.gateway.api("POST", `/api/budgets?account=${other.id}`, body)).status).toBe(400);
});
