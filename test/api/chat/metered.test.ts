// Metered billing: everything is charged and recorded, and nothing is refused for lack of credits. Also the starter credit
// of a first start.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { type Bank, decimal, openBank, owed, PRICES } from "../../support/stores/money.ts";

const USED = { input: 100, output: 40 };
const DIRECT = { model: "alpha", service_profile: "direct" };
const COST = owed(USED, PRICES.alpha);
const ANSWER = answers("hello", { usage: { prompt_tokens: USED.input, completion_tokens: USED.output } });

let bank: Bank;
beforeAll(async () => {
  bank = await openBank({ creditsUsd: null, env: { SWITCHYARD_BILLING_MODE: "metered" } });
  bank.provider.on("*", ANSWER);
});
afterAll(() => bank.close());

describe("a metered gateway", () => {
  test("serves without credits, and books a grant and a charge of the exact price", async () => {
    expect((await bank.ask(DIRECT)).status).toBe(200);
    await bank.atRest();
    expect(await bank.balance()).toEqual({ posted: 0n, held: 0n, available: 0n });
    const [charge, grant, ...others] = await bank.entries();
    expect([charge?.kind, decimal(charge?.amountUsd ?? "", 9)]).toEqual(["charge", -COST]);
    expect([grant?.kind, decimal(grant?.amountUsd ?? "", 9)]).toEqual(["grant", COST]);
    expect(others).toEqual([]);
  });

  test("reserves nothing while a hundred requests run at once", async () => {
    const before = (await bank.entries(500)).length;
    const asked = await Promise.all(Array.from({ length: 100 }, () => bank.ask(DIRECT)));
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200));
    await bank.atRest();
    expect(await bank.balance()).toEqual({ posted: 0n, held: 0n, available: 0n });
    expect((await bank.entries(500)).length - before).toBe(200);
  });

  test("shows each month's charges and grants", async () => {
    const { data } = (await (await bank.gateway.api("GET", "/api/ledger/months")).json()) as {
      data: readonly { chargesUsd: string; grantsUsd: string; closingUsd: string }[];
    };
    const [month] = data;
    expect(decimal(month?.grantsUsd ?? "", 9)).toBeGreaterThanOrEqual(COST);
    expect(month?.chargesUsd).toBe(`-${month?.grantsUsd}`);
    expect(month?.closingUsd).toBe("0");
  });

  test("an account may be prepaid all the same, from its next request on", async () => {
    const mode = (billingMode: string | null) => bank.gateway.api("PATCH", "/api/accounts/default", { billingMode });
    expect(await (await mode("prepaid")).json()).toMatchObject({ id: "default", billingMode: "prepaid" });
    expect(await (await bank.gateway.api("GET", "/api/credits")).json()).toMatchObject({ billingMode: "prepaid" });
    const { message } = await expectError(await bank.ask(DIRECT), { status: 402, code: "insufficient_credits" });
    expect(message).toMatch(/^There are no credits left \(.*\)\. Requests work again once credits are added\.$/);
    expect((await mode(null)).status).toBe(200);
    expect((await bank.ask(DIRECT)).status).toBe(200);
    expect((await mode("free")).status).toBe(400);
    const other = await bank.gateway.api("PATCH", "/api/accounts/nobody", { billingMode: null });
    expect(other.status).toBe(404);
  });

  test("a key's own spend limit still binds", async () => {
    const limits = { name: "small", spendLimitUsd: "0.000000001" };
    const { key } = (await (await bank.gateway.api("POST", "/api/keys", limits)).json()) as { key: string };
    const answer = await bank.ask({ ...DIRECT, max_tokens: 50 }, { authorization: `Bearer ${key}` });
    await expectError(answer, { status: 402, code: "spend_limit_reached" });
  });
});

describe("the starter credit", () => {
  async function balanceOf({ api }: TestGateway): Promise<string> {
    return ((await (await api("GET", "/api/credits")).json()) as { postedUsd: string }).postedUsd;
  }

  test("lets the first request to a real provider through", async () => {
    const provider = await startFakeProvider();
    provider.on("*", ANSWER);
    const env = { OPENAI_API_KEY: "sk-test", SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN, SWITCHYARD_STARTER_CREDITS: "5" };
    const yaml = `providers: { openai: { baseUrl: "${provider.url}" } }`;
    const gateway = await startGateway({ yaml, env, creditsUsd: null });
    expect(await balanceOf(gateway)).toBe("5");
    expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
    await gateway.stop();
    await provider.close();
  });

  test.each([
    ["0", "0"],
    ["2.5", "2.5"],
  ])("of %s USD is a balance of %s", async (starter, balance) => {
    const gateway = await startGateway({ env: { SWITCHYARD_STARTER_CREDITS: starter }, creditsUsd: null });
    expect(await balanceOf(gateway)).toBe(balance);
    await gateway.stop();
  });
});
