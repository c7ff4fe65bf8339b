// The database goes away and comes back: new requests are refused as soon as it is noticed, what runs is finished and
// booked exactly once afterwards, and nobody has to restart anything.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startTcpProxy } from "../../support/network/tcp-proxy.ts";
import { answers, chunk, fails, streams, USAGE } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank, owed, PRICES } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

// A lock of another process is waited for; five seconds, as it is in earnest, would be long here.
vi.mock("../../../src/store/db.ts", async (original) => {
  const { openDb: open, ...rest } = await original<typeof import("../../../src/store/db.ts")>();
  return { ...rest, openDb: ((url, options) => open(url, { busyTimeoutMs: 30, ...options })) satisfies typeof open };
});

const COST = owed({ input: 12, output: 5 }, PRICES.alpha);

/** A database that a test can take away. */
interface Fragile {
  readonly url: string;
  takeAway(): Promise<void>;
  bringBack(): Promise<void>;
  close(): Promise<void>;
}

function behaves(makeFragile: () => Promise<Fragile>): void {
  let fragile: Fragile;
  let bank: Bank;

  beforeAll(async () => {
    fragile = await makeFragile();
    bank = await openBank({ database: fragile.url });
  });
  beforeEach(() => bank.provider.reset());
  afterAll(async () => {
    await bank.close();
    await fragile.close();
  });

  /** A stream under way; it ends when `finish` is called. */
  async function beginStream(headers: Record<string, string> = {}) {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const chunks = [chunk("alpha", { content: "Hello" }), chunk("alpha", {}, "stop")];
    const before = (index: number): Promise<void> | void => (index === 1 ? finished : undefined);
    bank.provider.once("alpha", streams(chunks, { usage: USAGE, before }));
    const response = await bank.open({ stream: true }, headers).response;
    const [first] = await once(response, "data");
    let text = String(first);
    response.on("data", (piece) => {
      text += String(piece);
    });
    const ended = once(response, "end").then(() => text);
    return { finish, ended };
  }

  test("new requests get 503, running streams finish, and each is charged once", async () => {
    await bank.atRest();
    const before = await bank.balance();
    const running = await Promise.all([beginStream(), beginStream(), beginStream()]);
    await fragile.takeAway();
    // Credit that was set aside before may let one more start. Its charge fails, so that it is the last.
    bank.provider.once("alpha", answers("Paris.", { usage: USAGE }));
    const last = await bank.ask();
    const paid = last.status === 200 ? 4 : 3;
    for (const stream of [false, true]) {
      const refused = await bank.ask({ stream });
      expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      await expectError(refused, { status: 503, code: "database_unavailable" });
    }
    // A SQLite file that is locked can still be read; where nothing can, a key that is not known here may be a good one.
    const stranger = await bank.ask({}, { authorization: `Bearer sk-service-${"x".repeat(43)}` });
    expect(stranger.status).toBe(fragile.url.startsWith("postgres") ? 503 : 401);
    expect(bank.provider.requests).toHaveLength(paid);
    expect((await bank.gateway.get("/readyz")).status).toBe(503);
    for (const { finish } of running) finish();
    for (const { ended } of running) expect(await ended).toContain("[DONE]");
    await fragile.bringBack();
    await expect.poll(async () => (await bank.balance()).held).toBe(0n);
    await bank.atRest();
    await expect.poll(async () => (await bank.gateway.get("/readyz")).status, { timeout: 300_000 }).toBe(200);
    expect(before.posted - (await bank.balance()).posted).toBe(BigInt(paid) * COST);
    expect((await bank.entries(10)).filter(({ kind }) => kind === "charge")).toHaveLength(paid);
    expect((await bank.ask()).status).toBe(200);
  });

  test("an answer kept for repeats outlives it", async () => {
    const { finish, ended } = await beginStream({ "idempotency-key": "through" });
    await fragile.takeAway();
    finish();
    const text = await ended;
    expect(text).toContain("[DONE]");
    await fragile.bringBack();
    await expect.poll(async () => (await bank.balance()).held).toBe(0n);
    const again = await bank.ask({ stream: true }, { "idempotency-key": "through" });
    expect(await again.text()).toBe(text);
    expect(bank.provider.requests).toHaveLength(1);
  });

  test("the key of a request that failed meanwhile is free again", async () => {
    let fail = (): void => undefined;
    bank.provider.on("*", (exchange) => {
      fail = () => void fails(400)(exchange);
    });
    const received = bank.provider.nextRequest();
    const asked = bank.ask({}, { "idempotency-key": "failing" });
    await received;
    await fragile.takeAway();
    fail();
    expect((await asked).status).toBe(400);
    await fragile.bringBack();
    bank.provider.on("*", answers("ok"));
    const again = async (): Promise<number> => (await bank.ask({}, { "idempotency-key": "failing" })).status;
    await expect.poll(again, { interval: 100 }).toBe(200);
    await bank.atRest();
  });
}

describe("SQLite locked by somebody else", () => {
  behaves(async () => {
    const folder = mkdtempSync(join(tmpdir(), "switchyard-outage-"));
    const url = `sqlite:${join(folder, "test.db")}`;
    let release = (): void => undefined;
    let other: Awaited<ReturnType<typeof openDb>> | null = null;
    let locked: Promise<void> = Promise.resolve();
    return {
      url,
      async takeAway() {
        other ??= await openDb(url, { busyTimeoutMs: 5000 });
        const mine = other;
        await new Promise<void>((resolve) => {
          locked = mine.transaction(async (tx) => {
            await tx.query("SELECT 1 AS one");
            resolve();
            await new Promise<void>((end) => {
              release = end;
            });
          });
        });
      },
      async bringBack() {
        release();
        await locked;
      },
      async close() {
        await other?.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  });
});

const database = await createTestDatabase();

describe.skipIf(database === null)("PostgreSQL gone", () => {
  behaves(async () => {
    const proxy = await startTcpProxy(database!.url);
    return {
      url: proxy.url,
      takeAway: () => proxy.goAway("close"),
      bringBack: () => proxy.comeBack(),
      async close() {
        await proxy.close();
        await database!.drop();
      },
    };
  });
});
