// Limits per minute of budgets: requests and tokens of each person, end user or tag, on both stores.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank } from "../../support/stores/money.ts";
import { createTestDatabase, type TestDatabase } from "../../support/stores/postgres.ts";

const BODY = { model: "alpha", service_profile: "direct", max_tokens: 100 };
const DATABASES: Readonly<Record<string, () => Promise<Partial<TestDatabase> | null>>> = {
  SQLite: async () => ({}),
  PostgreSQL: createTestDatabase,
};

describe.each(Object.entries(DATABASES))("on %s a budget", (_, makeDatabase) => {
  let bank: Bank | null = null;
  let made: Partial<TestDatabase> | null = null;
  beforeAll(async () => {
    made = await makeDatabase();
    if (made === null) return console.warn("limits of budgets are not tested on PostgreSQL: there is none here");
    bank = await openBank({ database: made.url ?? "file" });
    const usage = { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 };
    bank.provider.on("alpha", answers("ok", { usage }));
  });
  afterAll(async () => {
    await bank?.close();
    await made?.drop?.();
  });

  /** Sets a budget for the time of `work`. */
  async function during(bank: Bank, body: object, work: () => Promise<void>): Promise<void> {
    const wanted = { name: "Each", scope: "endUser", amountUsd: "1", period: "day", ...body };
    const answer = await bank.gateway.api("POST", "/api/budgets", wanted);
    expect(answer.status, await answer.clone().text()).toBe(201);
    const { id, ...saved } = (await answer.json()) as { id: string };
    expect(saved).toMatchObject(body);
    await work();
    expect((await bank.gateway.api("DELETE", `/api/budgets/${id}`)).status).toBe(204);
  }

  const limited = async (answer: Response, message: RegExp): Promise<void> => {
    const error = await expectError(answer, { status: 429, code: "budget_rate_limited" });
    expect(error.message).toMatch(message);
    const seconds = Number(answer.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(62);
  };

  test("allows so many requests of each end user, races included, and holds no money for refused ones", async () => {
    if (bank === null) return;
    const { ask, atRest, gateway, provider } = bank;
    await during(bank, { requestsPerMinute: 3 }, async () => {
      const before = provider.requests.length;
      const answered = await Promise.all(Array.from({ length: 12 }, () => ask({ ...BODY, user: "ada" })));
      expect(answered.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(provider.requests).toHaveLength(before + 3);
      await limited(
        await ask({ ...BODY, user: "ada" }),
        /^The budget 'Each' of 'ada' allows 3 requests per minute\. Wait \d+ s\.$/,
      );
      expect((await ask({ ...BODY, user: "grace" })).status).toBe(200);
      expect((await ask(BODY)).status).toBe(200);
      const told = (await (await gateway.get("/v1/budgets?user=ada")).json()) as { data: readonly object[] };
      expect(told.data).toMatchObject([{ requests_per_minute: 3, tokens_per_minute: null }]);
      await atRest();
      const credits = (await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string };
      expect(credits.heldUsd).toBe("0");
    });
  });

  test("allows so many tokens of each tag, counted when an answer is complete", async () => {
    if (bank === null) return;
    const { ask, atRest } = bank;
    await during(bank, { scope: "tag", value: "team", tokensPerMinute: 150 }, async () => {
      for (const _round of [1, 2]) {
        expect((await ask(BODY, { "x-tag-team": "search" })).status).toBe(200);
        await atRest();
      }
      await expect
        .poll(async () => (await ask(BODY, { "x-tag-team": "search" })).status, { timeout: 10_000 })
        .toBe(429);
      await limited(
        await ask(BODY, { "x-tag-team": "search" }),
        /^The budget 'Each' of 'team=search' allows 150 tokens per minute\. Wait \d+ s\.$/,
      );
      expect((await ask(BODY, { "x-tag-team": "ads" })).status).toBe(200);
    });
  });
});
