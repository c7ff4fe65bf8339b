// The outbox on both databases: a message for each target, one sender at a time, and none lost when a sender dies.

import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createSender, type SenderOptions } from "../../src/alerting/sender.ts";
import type { Observation } from "../../src/core/alerts/kinds.ts";
import type { AlertTarget, DueMessage } from "../../src/core/alerts/targets.ts";
import type { Db } from "../../src/core/db.ts";
import type { Log } from "../../src/core/log.ts";
import { createAlertEventStore } from "../../src/store/alerts/events.ts";
import { createAlertOutbox } from "../../src/store/alerts/outbox.ts";
import { createAlertTargetStore } from "../../src/store/alerts/targets.ts";
import { openDb } from "../../src/store/db.ts";
import { describeStores } from "../support/stores/stores.ts";

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const TAKEN = { isTaken: true, isFinal: false, status: 204, answer: "" };
const DOWN = { isTaken: false, isFinal: false, status: 503, answer: "busy" };
const LEASE_MS = 60_000;

await describeStores("the outbox of alerts", ({ url, isShared }) => {
  const dbs: Db[] = [];
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    dbs.push(db);
  });
  afterEach(async () => {
    for (const target of await createAlertTargetStore(db).list(null))
      await createAlertTargetStore(db).delete(target.id);
  });
  afterAll(async () => {
    for (const each of dbs) await each.close();
  });

  let count = 0;
  async function makeTarget(given: Partial<AlertTarget> = {}): Promise<AlertTarget> {
    count += 1;
    const target: AlertTarget = {
      ...{ id: `target_${count}`, accountId: null, channel: "webhook", name: "On call", kinds: null, quiet: null },
      ...{ isPaused: false, addressShown: "https://hooks.example", sealed: "s1.x", createdAtMs: 1_000 },
      ...given,
    };
    await createAlertTargetStore(db).insert(target);
    return target;
  }

  async function raise(kind: "provider.down" | "balance.low", accountId: string | null = null): Promise<void> {
    count += 1;
    const observation = {
      ...{ kind, accountId, subject: `subject-${count}` },
      data: { provider: "openai", error: "gone", account: "Acme", balanceUsd: "1", thresholdUsd: "2" },
    };
    await createAlertEventStore(db).raise([observation as Observation], Date.now());
  }

  function sender(send: SenderOptions["send"], more: Partial<SenderOptions> = {}, over = db) {
    const options = { outbox: createAlertOutbox(over), send, log: SILENT, now: Date.now, retryMs: [1, 1], ...more };
    return createSender(options);
  }

  const messages = (target: AlertTarget) => createAlertOutbox(db).list(target.id, 50);

  it("makes a message for each target that wants the event, and only once", async () => {
    const all = await makeTarget();
    const some = await makeTarget({ kinds: ["balance.low", "spend.spike"] });
    const acme = await makeTarget({ accountId: "acme" });
    const paused = await makeTarget({ isPaused: true });
    await raise("provider.down");
    await raise("balance.low", "acme");
    await raise("balance.low", "other");
    const kinds = async (target: AlertTarget) => (await messages(target)).map(({ kind }) => kind).sort();
    expect(await kinds(all)).toEqual(["balance.low", "balance.low", "provider.down"]);
    expect(await kinds(some)).toEqual(["balance.low", "balance.low"]);
    expect(await kinds(acme)).toEqual(["balance.low"]);
    expect(await kinds(paused)).toEqual([]);
    const lasting = { kind: "provider.down", accountId: null, subject: "openai" } as const;
    const observation: Observation = { ...lasting, data: { provider: "openai", error: "gone" } };
    for (let time = 1; time < 4; time += 1) await createAlertEventStore(db).raise([observation], time);
    expect(await kinds(all)).toHaveLength(4);
  });

  it.runIf(isShared)("of several gateways, one sends each message", async () => {
    const target = await makeTarget();
    for (let index = 0; index < 30; index += 1) await raise("provider.down");
    const sent: string[] = [];
    const others = await Promise.all([openDb(url), openDb(url)]);
    dbs.push(...others);
    const send = async (_: AlertTarget, { id }: { id: string }) => {
      sent.push(id);
      return TAKEN;
    };
    await Promise.all([db, ...others].map((over) => sender(send, {}, over).round()));
    expect(sent).toHaveLength(30);
    expect(new Set(sent).size).toBe(30);
    expect((await messages(target)).every(({ state }) => state === "sent")).toBe(true);
  });

  it("a message whose sender died is sent by another one, under the same id", async () => {
    const target = await makeTarget();
    await raise("provider.down");
    const outbox = createAlertOutbox(db);
    const [died] = (await outbox.claim(10, LEASE_MS)) as [DueMessage];
    expect(await outbox.claim(10, LEASE_MS)).toEqual([]);
    // As if the lease were over.
    await db.query("UPDATE alert_messages SET leased_until = leased_until - $1", [LEASE_MS]);
    const [next] = await outbox.claim(10, LEASE_MS);
    expect(next).toMatchObject({
      id: died.id,
      attempts: 2,
      target: { id: target.id },
      event: { kind: "provider.down" },
    });
  });

  it("tries a receiver that fails some more times, then gives up and says why", async () => {
    const target = await makeTarget();
    await raise("provider.down");
    const send = vi.fn(async () => DOWN);
    const trying = sender(send);
    await vi.waitUntil(
      async () => {
        await trying.round();
        return (await messages(target))[0]?.state === "failed";
      },
      { timeout: 5_000, interval: 5 },
    );
    expect(send).toHaveBeenCalledTimes(3);
    expect(await messages(target)).toMatchObject([{ attempts: 3, result: "503 busy" }]);
  });

  it("sends once the receiver is back, and does not try where that cannot help", async () => {
    const target = await makeTarget();
    await raise("provider.down");
    const send = vi.fn<SenderOptions["send"]>(async () => TAKEN).mockResolvedValueOnce(DOWN);
    const trying = sender(send);
    await trying.round();
    expect(await messages(target)).toMatchObject([
      { state: "waiting", attempts: 1, result: "503 busy", doneAtMs: null },
    ]);
    await vi.waitUntil(
      async () => {
        await trying.round();
        return (await messages(target))[0]?.state === "sent";
      },
      { timeout: 5_000, interval: 5 },
    );
    await raise("balance.low", "acme");
    await sender(async () => ({ ...DOWN, status: 410, isFinal: true })).round();
    expect((await messages(target)).map(({ state }) => state).sort()).toEqual(["failed", "sent"]);
  });

  it("holds back in quiet times what is not critical, without counting an attempt", async () => {
    const quiet = { from: "22:00", to: "07:00", timeZone: "UTC" };
    const target = await makeTarget({ quiet });
    await raise("provider.down");
    await raise("balance.low", "acme");
    const send = vi.fn(async () => TAKEN);
    await sender(send, { now: () => Date.UTC(2026, 10, 19, 23) }).round();
    expect(send).toHaveBeenCalledTimes(1);
    const waiting = (await messages(target)).filter(({ state }) => state === "waiting");
    expect(waiting).toMatchObject([{ kind: "balance.low", attempts: 0 }]);
    // It waits until seven o'clock.
    expect(await createAlertOutbox(db).claim(10, LEASE_MS)).toEqual([]);
  });

  it("an answer may hold anything", async () => {
    const target = await makeTarget();
    await raise("provider.down");
    await sender(async () => ({ ...TAKEN, answer: `a\u0000b\ud83d${"x".repeat(1_000)}` })).round();
    const [message] = await messages(target);
    expect(message?.result).toMatch(/^204 a\ufffdb\ufffdx+$/);
    expect(message?.result.length).toBeLessThanOrEqual(500);
  });
});
