// Prices that change while requests run: published on one of two processes, or by the clock. Each request is charged at
// the price that it began with.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { chargesOf, decimal, owed } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const env = { SWITCHYARD_SECRET: "a-secret-for-several-processes" };
const FOLLOW_MS = promisedMs(5_000);
const LIMITS = "limits: { requestsPerMinute: 100000 }";
const CLIENTS_EACH = 3;
const USED = { input: 12, output: 5 };
const [OLD, NEW] = [
  { input: "2", output: "6" },
  { input: "0.1", output: "0.5" },
];

const database = await createTestDatabase();
let lab: FakeProvider;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
});
afterAll(async () => {
  await lab.close();
  await database?.drop();
});

interface Sent {
  readonly process: number;
  readonly id: string;
  readonly cost: bigint;
  readonly begunMs: number;
  readonly endedMs: number;
}

async function change(gateway: TestGateway, method: string, path: string, body?: object) {
  const response = await gateway.api(method, path, body);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text);
}

function modelAt(price: object): object {
  return { id: "beta", provider: "lab", price };
}

/** Returns what the answer says that it cost. */
async function ask(gateway: TestGateway, id: string, authorization = `Bearer ${gateway.key}`): Promise<bigint> {
  const body = { ...HELLO, model: "beta", service_profile: "direct" };
  const response = await gateway.post("/v1/chat/completions", body, { "x-request-id": id, authorization });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return decimal(JSON.parse(text).service.costUsd, 9);
}

async function chargedIn(gateway: TestGateway): Promise<ReadonlyMap<string | null, bigint>> {
  return new Map((await chargesOf(gateway)).map((line) => [line.requestId, -decimal(line.amountUsd, 9)]));
}

test.skipIf(database === null)(
  "a price that falls under load is charged by both processes within five seconds, and nothing else ever is",
  async () => {
    const start = () => startGateway({ yaml: labYaml(lab.url, ["alpha"], LIMITS), env, database: database?.url ?? "" });
    const one = await start();
    const two = await start();
    try {
      await change(one, "POST", "/api/models", modelAt({ input: 2, output: 6 }));
      const { key } = one.key === "" ? await change(one, "POST", "/api/keys", { name: "k" }) : one;
      const authorization = `Bearer ${key}`;
      await vi.waitFor(async () => {
        const { data } = await change(two, "GET", "/api/models");
        expect(data.map(({ id }: { id: string }) => id)).toContain("beta");
      }, FOLLOW_MS);
      const sent: Sent[] = [];
      let isOver = false;
      const clients = [one, two].flatMap((gateway, process) =>
        Array.from({ length: CLIENTS_EACH }, async (_, client) => {
          for (let count = 0; !isOver; count += 1) {
            const [id, begunMs] = [`p${process}-${client}-${count}`, performance.now()];
            const cost = await ask(gateway, id, authorization);
            sent.push({ process, id, cost, begunMs, endedMs: performance.now() });
          }
        }),
      );
      const [old, fresh] = [owed(USED, OLD), owed(USED, NEW)];
      const countAt = (process: number, cost: bigint, fromMs = 0) =>
        sent.filter((each) => each.process === process && each.cost === cost && each.begunMs >= fromMs).length;
      const both = (check: (process: number) => number) =>
        vi.waitFor(() => expect(Math.min(check(0), check(1))).toBeGreaterThan(CLIENTS_EACH * 4), { timeout: 60_000 });
      await both((process) => countAt(process, old));
      const beforeMs = performance.now();
      await change(two, "PATCH", "/api/models/beta", { price: { input: 0.1, output: 0.5 } });
      const publishedMs = performance.now();
      await both((process) => countAt(process, fresh));
      const followedMs = Math.max(
        ...[0, 1].map((at) => sent.findLast((each) => each.process === at && each.cost === old)?.begunMs ?? 0),
      );
      expect(followedMs - publishedMs).toBeLessThan(FOLLOW_MS);
      isOver = true;
      await Promise.all(clients);
      // Each was charged what its answer said, at one price or the other, and at the old one before the change.
      const charges = await chargedIn(one);
      const isRight = ({ id, cost, endedMs }: Sent): boolean =>
        charges.get(id) === cost && (cost === old || (cost === fresh && endedMs >= beforeMs));
      expect(sent.filter((each) => !isRight(each))).toEqual([]);
      console.info(
        `${sent.length} requests on two processes; the last at the old price began ${Math.round(followedMs - publishedMs)} ms after the change`,
      );
      expect(await change(one, "GET", "/api/ledger/verify")).toMatchObject({ ok: true, openHolds: 0 });
    } finally {
      await one.stop();
      await two.stop();
    }
  },
);

test("a price changes at its hour, and a request that runs then keeps its own", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-19T11:59:00Z") });
  const price = { input: 2, output: 6, hours: [{ from: "12:00", until: "13:00", input: 0.1, output: 0.5 }] };
  const gateway = await startGateway({ yaml: labYaml(lab.url, ["alpha"]), env, database: "file" });
  try {
    await change(gateway, "POST", "/api/models", modelAt(price));
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    lab.once("beta", async (exchange) => {
      await released;
      return answers("late")(exchange);
    });
    const came = lab.nextRequest();
    const running = ask(gateway, "runs");
    await came;
    vi.setSystemTime(Date.parse("2026-11-19T12:00:00Z"));
    await ask(gateway, "begins");
    release();
    await running;
    const charges = await chargedIn(gateway);
    expect([charges.get("runs"), charges.get("begins")]).toEqual([owed(USED, OLD), owed(USED, NEW)]);
    const { data } = await change(gateway, "GET", "/api/models");
    expect(data.find(({ id }: { id: string }) => id === "beta").pricing.prompt).toBe("0.000000105");
  } finally {
    await gateway.stop();
    vi.useRealTimers();
  }
});
