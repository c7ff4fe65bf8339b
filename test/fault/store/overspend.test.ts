// Credit for exactly ten requests and many times as many at once, a thousand in the long run: ten reach a provider, whichever process they come to and
// whichever clients leave meanwhile.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { openWaitingRoom } from "../../support/gateway/waiting-room.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { createRandom, isLong, seedOf } from "../../support/random.ts";
import { type Bank, bankYaml, chargesOf, decimal, openBank, owed, PRICES, usd } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { startTestRedis } from "../../support/stores/redis.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const REQUESTS = isLong ? 1000 : 200;
const FUNDED = 10;
const BODY = JSON.stringify({ ...HELLO, model: "alpha", service_profile: "direct", max_tokens: 100 });
const HOLD = owed({ input: 0, cacheWrite: Math.ceil(Buffer.byteLength(BODY) / 2) + 32, output: 100 }, PRICES.alpha);
const COST = owed({ input: 12, output: 5 }, PRICES.alpha);
const START = usd(HOLD * BigInt(FUNDED) + HOLD / 2n);

interface Outcome {
  readonly requestId: string;
  /** Null when the client left before it knew. */
  readonly status: number | null;
  readonly code: string | null;
}

interface Asking {
  readonly url: string;
  readonly key: string;
  readonly requestId: string;
  /** Leaves after so long. */
  readonly leaveAfterMs: number | null;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
afterAll(() => agent.destroy());

function ask({ url, key, requestId, leaveAfterMs }: Asking): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: "POST",
      agent,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": requestId },
    });
    const timer = leaveAfterMs === null ? null : setTimeout(() => request.destroy(), leaveAfterMs);
    const finish = (status: number | null, text: string): void => {
      if (timer !== null) clearTimeout(timer);
      const code = status === null || status === 200 ? null : JSON.parse(text).error.code;
      resolve({ requestId, status, code });
    };
    request.once("error", () => finish(null, ""));
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.once("end", () => finish(response.statusCode ?? null, text));
      response.once("error", () => finish(null, ""));
    });
    request.end(BODY);
  });
}

/** Everybody at once; the provider answers when all that can be refused have been. */
async function storm(
  targets: readonly { readonly url: string; readonly key: string }[],
  provider: FakeProvider,
  requests = REQUESTS,
): Promise<readonly Outcome[]> {
  const room = openWaitingRoom(provider, "alpha");
  let refused = 0;
  const outcomes = Array.from({ length: requests }, async (_, index) => {
    const target = targets[index % targets.length] as (typeof targets)[number];
    const outcome = await ask({ ...target, requestId: `storm-${index}`, leaveAfterMs: null });
    if (outcome.status === 402) refused += 1;
    if (refused === requests - FUNDED) room.answerAll();
    return outcome;
  });
  return Promise.all(outcomes);
}

function expectExactlyTen(outcomes: readonly Outcome[], provider: FakeProvider): void {
  const count = (status: number | null): number => outcomes.filter((outcome) => outcome.status === status).length;
  expect({ answered: count(200), refused: count(402), calls: provider.requests.length }).toEqual({
    answered: FUNDED,
    refused: outcomes.length - FUNDED,
    calls: FUNDED,
  });
  const codes = new Set(outcomes.filter(({ status }) => status === 402).map(({ code }) => code));
  expect([...codes]).toEqual(["credits_on_hold"]);
}

describe("on SQLite", () => {
  let bank: Bank;
  beforeAll(async () => {
    bank = await openBank({ creditsUsd: START });
  });
  afterAll(() => bank.close());

  test("ten are answered and all others refused, to the nano", async () => {
    const { url, key } = bank.gateway;
    const spent = await bank.spentBy(async () =>
      expectExactlyTen(await storm([{ url, key }], bank.provider), bank.provider),
    );
    expect(spent).toBe(COST * BigInt(FUNDED));
  });

  test("with half of the clients leaving at random moments", async () => {
    bank.provider.reset();
    await bank.empty();
    await bank.topUp(START);
    const random = createRandom(seedOf(7));
    const room = openWaitingRoom(bank.provider, "alpha");
    const { url, key } = bank.gateway;
    setTimeout(() => room.answerAll(), 250);
    const lows: bigint[] = [];
    const watch = setInterval(async () => lows.push((await bank.balance()).available), 50);
    let outcomes: readonly Outcome[] = [];
    const spent = await bank.spentBy(async () => {
      const all = Array.from({ length: REQUESTS / 2 }, (_, index) => {
        const leaveAfterMs = random.next() < 0.5 ? random.below(500) : null;
        return ask({ url, key, requestId: `leaving-${index}`, leaveAfterMs });
      });
      outcomes = await Promise.all(all);
    });
    clearInterval(watch);
    const charges = (await chargesOf(bank.gateway)).filter(({ requestId }) => requestId?.startsWith("leaving-"));
    expect(spent).toBe(charges.reduce((sum, { amountUsd }) => sum - decimal(amountUsd, 9), 0n));
    const charged = new Set(charges.map(({ requestId }) => requestId));
    expect(charged.size).toBe(charges.length);
    for (const { requestId, status } of outcomes) {
      if (status === 200) expect(charged).toContain(requestId);
      if (status === 402) expect(charged).not.toContain(requestId);
    }
    expect(outcomes.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(lows.every((available) => available >= 0n)).toBe(true);
  });
});

const database = await createTestDatabase();

const redis = await startTestRedis();

describe.skipIf(database === null)("on PostgreSQL with three processes", () => {
  const folders = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), "switchyard-overspend-")));
  let provider: FakeProvider;
  let gateways: readonly GatewayProcess[];
  let key: string;

  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    for (const folder of folders) writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url));
    const env = { DATABASE_URL: database!.url, ...(redis === null ? {} : { REDIS_URL: redis.url }) };
    const [firstFolder, ...otherFolders] = folders as [string, ...string[]];
    const first = await startGatewayProcess({ folder: firstFolder, env });
    key = first.firstKey ?? "";
    gateways = [first, ...(await Promise.all(otherFolders.map((folder) => startGatewayProcess({ folder, env }))))];
  });

  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await provider.close();
    await redis?.stop();
    await database!.drop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** Whatever is there is made the credit for ten. */
  async function fund(first: GatewayProcess): Promise<void> {
    const { postedUsd } = (await (await first.api("GET", "/api/credits")).json()) as Record<string, string>;
    const amountUsd = usd(decimal(START, 9) - decimal(postedUsd as string, 9));
    expect((await first.api("POST", "/api/credits/topups", { amountUsd })).status).toBe(201);
  }

  async function stormFits(stormNumber: number, requests: number): Promise<void> {
    const [first] = gateways as readonly [GatewayProcess];
    await fund(first);
    provider.requests.length = 0;
    const targets = gateways.map(({ url }) => ({ url, key }));
    expectExactlyTen(await storm(targets, provider, requests), provider);
    for (const gateway of gateways) {
      const balance = (await (await gateway.api("GET", "/api/credits")).json()) as Record<string, string>;
      expect(balance.heldUsd).toBe("0");
      expect(decimal(balance.postedUsd as string, 9)).toBe(decimal(START, 9) - COST * BigInt(FUNDED));
    }
    expect(await (await first.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
    expect(await chargesOf(first)).toHaveLength(FUNDED * stormNumber);
  }

  test("ten are answered and all others refused, to the nano", () => stormFits(1, REQUESTS));

  test.skipIf(redis === null)("and so they are while Redis hangs", async () => {
    redis?.pause();
    try {
      await stormFits(2, isLong ? REQUESTS : 100);
    } finally {
      redis?.resume();
    }
  });
});
