// Case 78: the process dies, or its line to the database breaks, exactly between the end of the provider's answer and the
// booking of it, or between the booking and the news of it. Whatever happened, it is booked once or not at all, and never
// not at all when the client has its answer.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { openDb } from "../../../src/store/db.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { startTcpProxy, type TcpProxy } from "../../support/network/tcp-proxy.ts";
import { chunk, type FakeProvider, startFakeProvider, streams, USAGE } from "../../support/providers/fake-provider.ts";
import { isLong } from "../../support/random.ts";
import { bankYaml, decimal, type LedgerLine, owed, PRICES } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const COST = owed({ input: USAGE.prompt_tokens, output: USAGE.completion_tokens }, PRICES.alpha);
const database = await createTestDatabase();

describe.skipIf(database === null)("between the response and the ledger", () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-gap-"));
  let provider: FakeProvider;
  let proxy: TcpProxy;
  let gateway: GatewayProcess;
  let key = "";

  const start = (): Promise<GatewayProcess> => startGatewayProcess({ folder, env: { DATABASE_URL: proxy.url } });

  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    proxy = await startTcpProxy(database!.url);
    writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
    gateway = await start();
    key = gateway.firstKey ?? "";
    await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await gateway.kill();
    await proxy.close();
    await provider.close();
    await database!.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A stream that has begun; its last chunk comes when `finish` is called. */
  async function begin(requestId: string): Promise<{ finish(): void; text: Promise<string> }> {
    let finish = (): void => undefined;
    const mayFinish = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const chunks = [chunk("alpha", { content: "Hello" }), chunk("alpha", {}, "stop")];
    provider.on("alpha", streams(chunks, { usage: USAGE, before: (index) => (index === 1 ? mayFinish : undefined) }));
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": requestId },
      body: JSON.stringify({ ...HELLO, stream: true }),
    });
    const text = readAll(response);
    return { finish, text };
  }

  /** Everything that came before the connection ended, in whichever way. */
  async function readAll(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const bytes of response.body as AsyncIterable<Uint8Array>)
        text += decoder.decode(bytes, { stream: true });
    } catch {
      // The process was killed.
    }
    return text;
  }

  const verdict = async (): Promise<unknown> => (await gateway.api("GET", "/api/ledger/verify")).json();

  /** What is booked for a request. */
  async function booked(requestId: string): Promise<bigint> {
    expect(await verdict()).toMatchObject({ ok: true, problems: [] });
    const answer = await gateway.api("GET", "/api/ledger?limit=50");
    const { data } = (await answer.json()) as { data: readonly LedgerLine[] };
    const charges = data.filter((line) => line.kind === "charge" && line.requestId === requestId);
    expect(charges.length).toBeLessThanOrEqual(1);
    return charges.reduce((sum, { amountUsd }) => sum - decimal(amountUsd, 9), 0n);
  }

  test("killed before the booking could reach the database: not booked, and the client saw no end", async () => {
    const stream = await begin("gap-before");
    proxy.pause();
    const waits = provider.requests[0]!.closed;
    stream.finish();
    await waits;
    await gateway.kill();
    proxy.cut("reset");
    proxy.resume();
    expect(await stream.text).not.toContain("[DONE]");
    gateway = await start();
    expect(await booked("gap-before")).toBe(0n);
  });

  /**
   * From the moment the settlement is on its way to the database, nothing comes back. It is a statement that commits itself
   * or, where the ledger had to read first, one that a COMMIT follows.
   */
  function loseTheReply(): Promise<void> {
    return new Promise((resolve) => {
      let isSettling = false;
      proxy.listen((bytes, direction) => {
        if (direction === "toClient") return;
        const words = bytes.toString("latin1");
        isSettling ||= words.includes("charge:");
        if (!isSettling || !/COMMIT|at_once/.test(words)) return;
        proxy.listen(null);
        proxy.harm({ swallowAfterBytes: 0 });
        resolve();
      });
    });
  }

  /** Asks the database itself, past the broken line. */
  async function untilBooked(requestId: string): Promise<void> {
    const db = await openDb(database!.url);
    const count = async (): Promise<number> =>
      (await db.query("SELECT hold_id FROM charges WHERE request_id = $1", [requestId])).length;
    await expect.poll(count).toBe(1);
    await db.close();
  }

  test("killed after the booking, before the news of it: booked once", async () => {
    const stream = await begin("gap-after");
    const isLost = loseTheReply();
    stream.finish();
    await isLost;
    await untilBooked("gap-after");
    await gateway.kill();
    proxy.cut("reset");
    proxy.harm({});
    expect(await stream.text).not.toContain("[DONE]");
    gateway = await start();
    expect(await booked("gap-after")).toBe(COST);
  });

  test("the news is lost and the process lives on: the client gets its end, and it is booked once", async () => {
    const stream = await begin("gap-lost");
    const isLost = loseTheReply();
    stream.finish();
    await isLost;
    await untilBooked("gap-lost");
    proxy.cut("reset");
    proxy.harm({});
    expect(await stream.text).toContain("[DONE]");
    await expect.poll(() => booked("gap-lost"), { interval: 200 }).toBe(COST);
  });

  // Beside other processes a silent one is taken for dead after a minute.
  test.runIf(isLong)("what the killed process had on hold is given back", async () => {
    await expect.poll(verdict, { timeout: 300_000, interval: 1000 }).toMatchObject({ ok: true, openHolds: 0 });
    expect(await booked("gap-before")).toBe(0n);
    expect(await booked("gap-after")).toBe(COST);
  });
});
