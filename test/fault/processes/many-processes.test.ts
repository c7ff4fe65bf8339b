// Two gateways on one PostgreSQL are one gateway to their users: what is done at one holds at the other.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BATCH_OWNER } from "../../../src/core/batches/holds.ts";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { whileShared } from "../../support/gateway/shared-limits.ts";
import { PASSWORD, setupTokenOf, visit } from "../../support/gateway/signed-in.ts";
import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { bankYaml, decimal, owed, PRICES, postedOf } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const database = await createTestDatabase();

describe.skipIf(database === null)("two gateways on one PostgreSQL", () => {
  let provider: FakeProvider;
  let here: TestGateway;
  let there: TestGateway;
  let key: string;
  const env = { SWITCHYARD_SECRET: "a-secret-for-both-gateways" };
  const options = () => ({ database: database!.url, yaml: bankYaml(provider.url), creditsUsd: null, env });

  beforeAll(async () => {
    provider = await startFakeProvider();
    // At once, on an empty database: neither trips over what the other makes.
    [here, there] = await Promise.all([startGateway(options()), startGateway(options())]);
    key = here.key + there.key;
    await here.api("POST", "/api/credits/topups", { amountUsd: "100" });
  });
  afterAll(async () => {
    await Promise.all([here.stop(), there.stop()]);
    await provider.close();
    await database!.drop();
  });

  const ask = (gateway: TestGateway, body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.post("/v1/chat/completions", { ...HELLO, ...body }, { authorization: `Bearer ${key}`, ...headers });

  test("started at once on an empty database, they have one first key between them, good at both", async () => {
    expect([here.key, there.key].filter((text) => text !== "")).toHaveLength(1);
    expect((await ask(here)).status).toBe(200);
    expect((await ask(there)).status).toBe(200);
  });

  test("a key made here is good there at once, and no longer when it is revoked", async () => {
    const made = (await (await here.api("POST", "/api/keys", { name: "short-lived" })).json()) as Record<
      string,
      string
    >;
    const status = async (): Promise<number> =>
      (await there.get("/v1/models", { authorization: `Bearer ${made.key}` })).status;
    expect(await status()).toBe(200);
    await here.api("DELETE", `/api/keys/${made.id}`);
    await expect.poll(status, { interval: 20, timeout: promisedMs(5_000) }).toBe(401);
  });

  test("money added here is spent there", async () => {
    const before = await postedOf(there);
    await here.api("POST", "/api/credits/topups", { amountUsd: "7" });
    expect((await postedOf(there)) - before).toBe(7_000_000_000n);
  });

  test("one Idempotency-Key at both: one answer, one charge", async () => {
    let answer = (): void => undefined;
    const held: Behaviour = (exchange) =>
      new Promise((resolve) => {
        answer = () => resolve(sends(200, { ...COMPLETION, model: exchange.request.body.model })(exchange));
      });
    provider.once("alpha", held);
    const received = provider.nextRequest();
    const before = await postedOf(here);
    const headers = { "idempotency-key": "over-both" };
    const first = ask(here, {}, headers);
    await received;
    expect((await ask(there, {}, headers)).status).toBe(409);
    answer();
    const text = await (await first).text();
    const charged = before - (await postedOf(here));
    expect(charged).toBeGreaterThan(0n);
    const again = await ask(there, {}, headers);
    expect([again.status, await again.text()]).toEqual([200, text]);
    expect((await ask(there, { messages: [{ role: "user", content: "other" }] }, headers)).status).toBe(422);
    expect(before - (await postedOf(there))).toBe(charged);
  });

  test("a request served here is in the log there", async () => {
    const { headers } = await ask(here);
    const id = headers.get("x-request-id");
    const found = async (): Promise<unknown> => {
      const answer = await there.api("GET", `/api/requests?q=${id}&limit=5`);
      const { data } = (await answer.json()) as { data: readonly { requestId: string }[] };
      return data.some(({ requestId }) => requestId === id);
    };
    await expect.poll(found).toBe(true);
  });

  test("a user who signs in here is signed in there, until they sign out anywhere", async () => {
    const person = visit(here);
    const token = setupTokenOf(there);
    const setUp = await person.call("POST", "/api/setup", { token, email: "ada@example.com", password: PASSWORD });
    expect(setUp.status).toBeLessThan(300);
    const elsewhere = visit(there, person.cookie);
    const userOf = async (who: typeof person): Promise<unknown> =>
      ((await (await who.call("GET", "/api/session")).json()) as { user: unknown }).user;
    expect(await userOf(elsewhere)).toMatchObject({ email: "ada@example.com" });
    await elsewhere.call("DELETE", "/api/session");
    expect(await userOf(person)).toBeNull();
  });

  test("ten wrong passwords are ten, wherever they are tried", async () => {
    let people = 0;
    const statuses = await whileShared([here, there], async () => {
      people += 1;
      const wrong = { email: `eve${people}@example.com`, password: "not the password 1" };
      const all: number[] = [];
      for (let count = 0; count < 13; count += 1) {
        const gateway = count % 2 === 0 ? here : there;
        all.push((await visit(gateway).call("POST", "/api/session", wrong)).status);
      }
      return all;
    });
    expect(statuses).toEqual(statuses.map((_, index) => (index < 10 ? 401 : 429)));
  });

  const NAMED = { service_session: "over both" };
  const DIRECT = { service_profile: "direct", model: "beta" };
  /** What another process knows of the session; asking for a decision leaves nothing behind. */
  async function sessionAt(gateway: TestGateway): Promise<string> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await gateway.post("/v1/routing/debug", { prompt: "Hi", ...DIRECT, ...NAMED }, headers);
    return ((await response.json()) as { decision: { session: string } }).decision.session;
  }

  test("a conversation goes on there at once, and is the same session within five seconds", async () => {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
    const call = { id: "call_over_both", type: "function", function: { name: "look", arguments: "{}" } };
    const calling = { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, message: calling, finish_reason: "tool_calls" };
    provider.once("beta", sends(200, { ...COMPLETION, model: "beta", choices: [choice] }));
    const messages = [{ role: "user", content: "Look around and tell me what you see" }];
    const first = (await (await ask(here, { messages, tools, ...NAMED, ...DIRECT })).json()) as Turn;
    expect([first.model, first.service.session]).toEqual(["beta", "started"]);
    const result = { role: "tool", tool_call_id: call.id, content: "A lighthouse." };
    const next = { messages: [...messages, calling, result], tools, service_session: "another" };
    // Within milliseconds nothing is known there: the answer may come from another model, and it comes.
    expect((await ask(there, next)).status).toBe(200);
    await expect.poll(() => sessionAt(there), { interval: 20, timeout: promisedMs(5_000) }).toBe("stayed");
    // Then the loop goes on with the model that opened it, named by the session or only by its call.
    const goesOn = async (name: object): Promise<string> =>
      ((await (await ask(there, { ...next, ...name })).json()) as Turn).model;
    expect(await goesOn(NAMED)).toBe("beta");
    expect(await goesOn({ service_session: "a third" })).toBe("beta");
  });

  test("the daily budget of shadow samples is one for both", async () => {
    const { id } = (await (await here.api("POST", "/api/profiles", { name: "sampled" })).json()) as { id: string };
    const rule = { model: "beta", share: 1, budgetUsdPerDay: "0.0085" };
    expect((await here.api("PUT", `/api/profiles/${id}/shadow`, rule)).status).toBe(200);
    const made = (await (await here.api("POST", "/api/keys", { name: "k", profile: id })).json()) as { key: string };
    const headers = { authorization: `Bearer ${made.key}` };
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.on("beta", async (exchange) => {
      await held;
      await sends(200, { ...COMPLETION, model: "beta" })(exchange);
    });
    const before = provider.callsTo("beta");
    const sent = Array.from({ length: 16 }, (_, at) => ask(at % 2 === 0 ? here : there, {}, headers));
    for (const response of await Promise.all(sent)) expect(response.status).toBe(200);
    const taken = async (result: string): Promise<number> => {
      const seen = await Promise.all([here, there].map(async ({ url }) => (await scrape(url)).value(samples(result))));
      return seen.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    };
    // Each is counted at its upper bound while it runs, so three run at once: two in one process, where six more wait.
    await expect.poll(() => taken("over_budget"), { timeout: 300_000 }).toBe(7);
    expect(provider.callsTo("beta") - before).toBe(3);
    release();
    await expect.poll(() => taken("compared"), { timeout: 300_000 }).toBe(9);
    expect(provider.callsTo("beta") - before).toBe(9);
    const { sampling } = (await (await there.api("GET", "/api/outcomes")).json()) as {
      sampling: readonly { spentTodayUsd: string }[];
    };
    const spent = decimal(sampling[0]?.spentTodayUsd ?? "", 9);
    expect(spent).toBe(9n * owed({ input: 12, output: 5 }, PRICES.beta, "0"));
  });

  test("when they have stopped, nobody is left over, and one that starts knows the sessions", async () => {
    const extra = await startGateway(options());
    expect(await sessionAt(extra)).toBe("stayed");
    const db = await openDb(database!.url);
    const others = "SELECT COUNT(*) AS n FROM processes WHERE id <> $1";
    const count = async (): Promise<number> => Number((await db.query(others, [BATCH_OWNER]))[0]?.n);
    expect(await count()).toBe(3);
    await extra.stop();
    expect(await count()).toBe(2);
    await db.close();
  });
});

interface Turn {
  readonly model: string;
  readonly service: { readonly session: string };
}

const samples = (result: string): string => `switchyard_shadow_samples_total{result="${result}"}`;

const COMPLETION = {
  id: "x",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
};
