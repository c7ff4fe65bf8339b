// The per-minute limit of one key over three gateways on one PostgreSQL: exact over PostgreSQL and over Redis, bounded when
// either fails, and harmless to the ledger.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeKeyText } from "../../../src/accounts/key.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { timesLogged } from "../../support/gateway/shared-limits.ts";
import { startTcpProxy, type TcpProxy } from "../../support/network/tcp-proxy.ts";
import { promisedMs } from "../../support/random.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { startTestRedis } from "../../support/stores/redis.ts";

const LIMIT = 60;
const database = await createTestDatabase();
const redis = database === null ? null : await startTestRedis();
afterAll(async () => {
  redis?.resume();
  await redis?.stop();
  await database?.drop();
});

let gateways: readonly TestGateway[] = [];

async function openThree(database: string, env: Record<string, string>): Promise<void> {
  const first = await startGateway({ database, env });
  const others = await Promise.all([1, 2].map(() => startGateway({ database, env, creditsUsd: null })));
  gateways = [first, ...others];
}

async function newKey(): Promise<string> {
  const answer = await gateways[0]!.api("POST", "/api/keys", { name: "limited", requestsPerMinute: LIMIT });
  return ((await answer.json()) as { key: string }).key;
}

interface Reply {
  readonly status: number;
  readonly tookMs: number;
  readonly headers: Headers;
}

/** Free of charge, but it counts. */
async function look(gateway: TestGateway, key: string): Promise<Reply> {
  const startedAtMs = performance.now();
  const answer = await gateway.get("/v1/models", { authorization: `Bearer ${key}` });
  await answer.arrayBuffer();
  return { status: answer.status, tookMs: performance.now() - startedAtMs, headers: answer.headers };
}

const lookAtAll = (key: string, count: number): Promise<readonly Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => look(gateways[index % gateways.length]!, key)));

const countOf = (replies: readonly Reply[], status: number): number =>
  replies.filter((reply) => reply.status === status).length;

async function expectMoneyFits(): Promise<void> {
  const verdict = await (await gateways[0]!.api("GET", "/api/ledger/verify")).json();
  expect(verdict).toMatchObject({ ok: true, problems: [] });
}

/** How often a gateway found that the store did not answer in time, as it may on a machine that is out of breath. */
const timesAlone = (): number => timesLogged(gateways, "rate_limits.sharing_lost");

/** Exact while the store answers, and within twice the limit when it did not. */
async function expectLimit(work: () => Promise<readonly Reply[]>): Promise<void> {
  const before = timesAlone();
  const isShared = before === timesLogged(gateways, "rate_limits.sharing_recovered");
  const replies = await work();
  const [letIn, refused] = [countOf(replies, 200), countOf(replies, 429)];
  expect(letIn + refused).toBe(replies.length);
  if (isShared && timesAlone() === before) expect(letIn).toBe(Math.min(LIMIT, replies.length));
  else expect(letIn).toBeLessThanOrEqual(2 * LIMIT);
}

function isExact(): void {
  test("a burst: exactly the limit is admitted, and the rest told when to retry", async () => {
    const key = await newKey();
    let replies: readonly Reply[] = [];
    await expectLimit(async () => {
      replies = await lookAtAll(key, 300);
      return replies;
    });
    for (const { status, headers } of replies) {
      expect(headers.get("x-ratelimit-limit-requests")).toBe(String(LIMIT));
      expect(headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
      expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^([1-9]|[1-5]\d|6[0-2])s$/);
      if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
  });

  test("other keys do not notice", async () => {
    const [greedy, modest] = [await newKey(), await newKey()];
    const tooMuch = lookAtAll(greedy, 400);
    await expectLimit(() => lookAtAll(modest, LIMIT));
    expect(countOf(await tooMuch, 429)).toBeGreaterThan(0);
  });

  test("one after the other, here and there", async () => {
    const key = await newKey();
    await expectLimit(async () => {
      const replies: Reply[] = [];
      for (let count = 0; count < LIMIT + 6; count += 1) replies.push(await look(gateways[count % 3]!, key));
      return replies;
    });
  });
}

describe.skipIf(database === null)("over PostgreSQL", () => {
  let proxy: TcpProxy;

  beforeAll(async () => {
    proxy = await startTcpProxy(database!.url);
    await openThree(proxy.url, {});
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await proxy.close();
  });

  isExact();

  test("without the database each process enforces its part, and calls that need no database succeed", async () => {
    const [key, fallbackKey] = [await newKey(), await newKey()];
    await Promise.all([lookAtAll(key, 3), lookAtAll(fallbackKey, 3)]);
    await proxy.goAway();
    const replies = await lookAtAll(key, 300);
    expect(countOf(replies, 200)).toBeGreaterThan(0);
    expect(countOf(replies, 200)).toBeLessThanOrEqual(2 * LIMIT);
    expect(countOf(replies, 200) + countOf(replies, 429)).toBe(300);
    // Nobody is told that a key is wrong when it cannot be looked up, and nothing is given away.
    const asked = (text: string): Promise<Response> =>
      gateways[1]!.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${text}` });
    await expectError(await asked(makeKeyText()), { status: 503, code: "database_unavailable" });
    await expectError(await asked(fallbackKey), { status: 503, code: "database_unavailable" });
    await proxy.comeBack();
    const fresh = await newKeyWhenBack();
    const isSharedAgain = async (): Promise<number> => countOf(await lookAtAll(fresh(), 90), 200);
    await expect.poll(isSharedAgain, { interval: 500 }).toBe(LIMIT);
  });

  /** Keys by the dozen, since each can be used up once only. */
  async function newKeyWhenBack(): Promise<() => string> {
    await expect.poll(async () => (await fetch(`${gateways[0]!.url}/readyz`)).status).toBe(200);
    const keys = await Promise.all(Array.from({ length: 40 }, newKey));
    return () => keys.pop() ?? "";
  }
});

describe.skipIf(redis === null)("over Redis", () => {
  beforeAll(() => openThree(database!.url, { REDIS_URL: redis!.url }));
  afterEach(() => redis!.resume());
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  isExact();

  test("Redis that hangs: no call waits long, the limit holds within twice, the ledger is correct; then it is shared again", async () => {
    const key = await newKey();
    await lookAtAll(key, 3);
    redis!.pause();
    const replies = await lookAtAll(key, 300);
    expect(countOf(replies, 200)).toBeGreaterThan(0);
    expect(countOf(replies, 200)).toBeLessThanOrEqual(2 * LIMIT);
    expect(countOf(replies, 200) + countOf(replies, 429)).toBe(300);
    // Only those who asked before the first one gave up have waited at all; now nobody does.
    const calm = await lookAtAll(await newKey(), 9);
    const paying = await newKey();
    const answers = await Promise.all(gateways.map((gateway) => chat(gateway, paying)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(Math.max(...calm.map(({ tookMs }) => tookMs))).toBeLessThan(promisedMs(5_000));
    expect(timesAlone()).toBeGreaterThanOrEqual(gateways.length);
    expect(await (await fetch(`${gateways[0]!.url}/metrics`)).text()).toMatch(/^switchyard_limits_alone 1$/m);
    redis!.resume();
    const isSharedAgain = async (): Promise<number> => countOf(await lookAtAll(await newKey(), 90), 200);
    await expect.poll(isSharedAgain, { interval: 500 }).toBe(LIMIT);
    await expectMoneyFits();
  });

  const chat = (gateway: TestGateway, key: string): Promise<Response> =>
    gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key}` });
});
