// The queue of batches on every store: who runs a line, and what becomes of it when its process dies.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type {
  BatchQueue,
  BatchStore,
  ClaimedLine,
  EndHolds,
  LineResult,
  NativeBatch,
  NativeQueue,
  NewBatch,
} from "../../src/core/batches/batches.ts";
import type { Db } from "../../src/core/db.ts";
import { createBatchStore } from "../../src/store/batches/batches.ts";
import { createNativeQueue } from "../../src/store/batches/native.ts";
import { OwnLines } from "../../src/store/batches/own-lines.ts";
import { createBatchQueue } from "../../src/store/batches/queue.ts";
import { openDb } from "../../src/store/db.ts";
import { createSealer } from "../../src/store/secret/seal.ts";
import { idempotencyOf } from "../support/stores/idempotency.ts";
import { describeStores } from "../support/stores/stores.ts";

const SEALER = createSealer(Buffer.from("a secret for tests only"), "batches");
const END = 1_000;
const OK: LineResult = { status: 200, requestId: "r", body: { said: "yes" } };
const LATER = { notBeforeMs: 10, isCounted: false, end: "not-begun" } as const;

await describeStores("batches", ({ url }) => {
  let db: Db;
  let store: BatchStore;
  let queue: BatchQueue;
  let name: NewBatch;
  let count = 0;
  const ended: string[] = [];
  const endHolds: EndHolds = async (holds) => void ended.push(...holds.map(({ holdId }) => holdId));
  const queueOf = (owner: string): BatchQueue =>
    createBatchQueue(db, SEALER, { owner, processes: db, endHolds, own: new OwnLines() });
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createBatchStore(db, SEALER);
    await db.query("INSERT INTO processes (id, seen_at) VALUES ('one', 1)");
    await db.query("INSERT INTO processes (id, seen_at) VALUES ('two', 1)");
  });
  beforeEach(async () => {
    await db.query("DELETE FROM batch_lines");
    ended.length = 0;
    queue = queueOf("one");
    name = await begin();
  });
  afterAll(() => db.close());

  async function begin(more: Partial<NewBatch> = {}, isNative = false): Promise<NewBatch> {
    count += 1;
    const content = { endpoint: "/v1/responses", inputFileId: null, metadata: null, errors: [] };
    const times = { createdAtMs: 1, expiresAtMs: END, deletedAtMs: Date.now() + 1e9 };
    const fields = { accountId: "ada", id: `b${count}`, api: "openai", keyId: "k", content, maxCost: null } as const;
    const batch = { ...fields, ...times, ...more };
    await store.begin(batch);
    await store.addLines(batch, 0, [
      { customId: "a", body: "{}" },
      { customId: "b", body: "{}" },
      { customId: "c", body: "{}" },
    ]);
    await store.release(batch, isNative);
    return batch;
  }
  const show = async (batch = name) => {
    const found = await store.find("openai", batch);
    if (found === null) throw new Error("the batch is missing");
    return found;
  };
  const positions = (lines: readonly ClaimedLine[]): readonly number[] =>
    lines.map(({ position }) => position).sort((a, b) => a - b);
  const claimed = async (by: BatchQueue, limit = 9, nowMs = 1) => positions(await by.claim(limit, nowMs, []));
  const first = async (by: BatchQueue): Promise<ClaimedLine> => (await by.claim(1, 1, []))[0] as ClaimedLine;

  describe("lines that are sent to a host", () => {
    const host = { model: "m", host: "alpha", price: { input: 1, output: 2, cacheRead: null, cacheWrite: null } };
    const nativeOf = (owner: string): NativeQueue => createNativeQueue(db, SEALER, { owner, own: new OwnLines() });
    let native: NativeQueue;
    beforeEach(async () => {
      native = nativeOf("one");
      await db.query("DELETE FROM batch_lines");
    });
    const claimable = () => begin({}, true);
    const send = async (batch: NewBatch, lines: readonly ClaimedLine[]) => {
      const sent = { accountId: "ada", id: `n-${batch.id}`, batchId: batch.id, provider: "alpha", remoteId: "r" };
      await native.sent(
        { ...sent, createdAtMs: 1 },
        lines.map((line) => ({ line, host })),
      );
    };
    const dueOf = async (batch: NewBatch, nowMs: number, by = native) =>
      (await by.due(nowMs)).filter(({ batchId }) => batchId === batch.id);

    test("wait for that, and go to the process that sends them", async () => {
      const batch = await claimable();
      expect(await claimed(queue)).toEqual([]);
      expect(positions(await native.claim(2, 1))).toEqual([0, 1]);
      expect(positions(await nativeOf("two").claim(9, 1))).toEqual([2]);
      await native.giveUpBefore(1);
      expect(await show(batch)).toMatchObject({ counts: { running: 3 } });
    });

    test("stay with the process while it still reads them", async () => {
      const batch = await claimable();
      const own = new OwnLines();
      let goOn = (): void => undefined;
      const read = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const slow = {
        ...SEALER,
        open: async (...sealed: Parameters<typeof SEALER.open>) => read.then(() => SEALER.open(...sealed)),
      };
      const claiming = createNativeQueue(db, slow, { owner: "one", own }).claim(9, 1);
      await expect.poll(async () => (await show(batch)).counts.running).toBe(3);
      await createBatchQueue(db, SEALER, { owner: "one", processes: db, endHolds, own }).keepUp(2);
      goOn();
      await send(batch, await claiming);
      expect(await show(batch)).toMatchObject({ counts: { sent: 3, waiting: 0 } });
    });

    test("come back with their answers, or without", async () => {
      const batch = await claimable();
      const lines = await native.claim(9, 1);
      await native.keep(lines.slice(2));
      await send(batch, lines.slice(0, 2));
      expect(await show(batch)).toMatchObject({ counts: { sent: 2, waiting: 1 } });
      expect(await dueOf(batch, 2)).toEqual([]);
      const [due] = await dueOf(batch, 5_000);
      expect(due).toMatchObject({ remoteId: "r", provider: "alpha", expiresAtMs: END, isCancelled: false });
      // No other process gets it at the same time.
      expect(await dueOf(batch, 5_000, nativeOf("two"))).toEqual([]);
      await native.answered(due as NativeBatch, 0, '{"said":"yes"}');
      await native.answered(due as NativeBatch, 2, '{"said":"never sent"}');
      await native.over(due as NativeBatch);
      expect(await dueOf(batch, 900_000)).toEqual([]);
      const back = await queue.claim(9, 1, []);
      const found = new Map(back.map((line) => [line.position, line.native]));
      expect(found.get(0)).toEqual({ ...host, body: '{"said":"yes"}' });
      expect([found.get(1), found.get(2)]).toEqual([null, null]);
      await native.answered(due as NativeBatch, 1, '{"said":"too late"}');
      expect(await show(batch)).toMatchObject({ counts: { running: 3 } });
    });

    test("are left to our own queue where nobody sends them", async () => {
      await claimable();
      await native.giveUpBefore(0);
      expect(await claimed(queue)).toEqual([]);
      await native.giveUpBefore(1);
      expect(await claimed(queue)).toEqual([0, 1, 2]);
    });

    test("keep their batch open, and are cancelled with it unless they have an answer", async () => {
      const batch = await claimable();
      await send(batch, await native.claim(9, 1));
      await store.cancel(batch, 2);
      await queue.keepUp(3);
      expect(await show(batch)).toMatchObject({ status: "cancelling", counts: { sent: 3 } });
      const [due] = await dueOf(batch, 5_000);
      expect(due?.isCancelled).toBe(true);
      await native.answered(due as NativeBatch, 1, "{}");
      await native.over(due as NativeBatch);
      expect(positions(await queue.claim(9, 3, []))).toEqual([1]);
      await queue.keepUp(4);
      expect(await show(batch)).toMatchObject({ counts: { cancelled: 2, running: 1 } });
    });
  });

  test("earlier runs are ended before a line may be charged, and what was on hold is released", async () => {
    const line = await first(queue);
    expect(await queue.holdIds(line)).toHaveLength(3);
    expect(ended).toEqual([]);
    await queue.retry(line, { ...LATER, end: "unknown" });
    const again = (await queue.claim(1, 11, []))[0] as ClaimedLine;
    const ids = await queue.holdIds(again);
    expect(ended).toHaveLength(3);
    expect(ids.some((id) => ended.includes(id))).toBe(false);
    await db.query(
      `INSERT INTO charges (hold_id, request_id, account_id, key_id, model, provider, input_tokens, cache_read_tokens,
         cache_write_tokens, output_tokens, is_estimated, price_json, markup_ppm, outcome, charge, paid, absorbed, created_at)
       VALUES ($1, 'r', 'ada', 'k', 'm', 'p', 1, 0, 0, 0, 0, '{}', 0, 'complete', 7, 7, 0, 1)`,
      [ended[0] as string],
    );
    expect(await queue.holdIds(again)).toEqual([]);
    await queue.finish(again, { ...OK, status: 422 }, 0n);
    expect((await show()).cost).toBe(7n);
    await store.cancel(name, 12);
    await queue.keepUp(13);
    expect(ended).toContain(`batch:${name.id}`);
  });

  test("each line goes to one process", async () => {
    expect(await claimed(queue, 2)).toEqual([0, 1]);
    expect(await claimed(queueOf("two"))).toEqual([2]);
    expect(await claimed(queueOf("two"))).toEqual([]);
  });

  test("a batch that rests has no turn", async () => {
    const other = await begin();
    const lines = await queue.claim(9, 1, [name.id]);
    expect(new Set(lines.map(({ batch }) => batch.id))).toEqual(new Set([other.id]));
  });

  test("a result counts once, and only from the process that runs the line", async () => {
    const line = await first(queue);
    await queueOf("two").finish(line, OK, 5n);
    expect(await show()).toMatchObject({ cost: 0n, counts: { running: 1, succeeded: 0 } });
    await queue.finish(line, OK, 5n);
    await queue.finish(line, OK, 5n);
    expect(await show()).toMatchObject({ cost: 5n, counts: { succeeded: 1, waiting: 2 } });
  });

  test("requests take up room until they have run, and only their names are left then", async () => {
    const batch = { ...name, accountId: "grace" };
    await store.begin(batch);
    const before = await store.addLines(batch, 0, []);
    const body = JSON.stringify({ prompt: randomBytes(3_000).toString("hex") });
    expect(await store.addLines(batch, 0, [{ customId: "long", body, metadata: { night: 1 } }])).toBeGreaterThan(
      before + 3_000,
    );
    await store.release(batch, false);
    const long = (await queue.claim(9, 1, [])).find(({ request }) => request?.customId === "long");
    await queue.finish(long as ClaimedLine, OK, 5n);
    expect(await store.addLines(batch, 1, [])).toBeLessThan(before + 300);
    const shown = [];
    for await (const line of store.ended(batch)) shown.push(line);
    expect(shown.at(-1)).toMatchObject({ customId: "long", metadata: { night: 1 }, result: OK, state: "succeeded" });
    const [row] = await db.query("SELECT request FROM batch_lines WHERE account_id = 'grace'");
    expect(String(row?.request).length).toBeLessThan(300);
  });

  test("lines of a dead process go on, and those of a living one stay", async () => {
    const [dead, living] = [queueOf("dead"), queueOf("two")];
    await dead.claim(1, 1, []);
    await living.claim(1, 1, []);
    const requests = idempotencyOf(db, "dead");
    expect(await requests.begin(`line of ${name.id}`, "body")).toEqual({ state: "new" });
    await queue.keepUp(2);
    expect(await idempotencyOf(db, "one").begin(`line of ${name.id}`, "body")).toEqual({ state: "new" });
    expect(await claimed(queue)).toEqual([0, 2]);
  });

  test("a line whose result could not be written is run again by the same process", async () => {
    const line = await first(queue);
    await queue.keepUp(2);
    expect(await show()).toMatchObject({ counts: { running: 1 } });
    // A process that begins again with the name knows no line.
    await queueOf("one").keepUp(2);
    expect(await claimed(queue)).toContain(line.position);
  });

  test.each<[string, (own: BatchQueue, line: ClaimedLine) => Promise<void>]>([
    ["was stopped", (own, line) => own.stop(line)],
    ["was answered", (own, line) => own.finish(line, OK, 1n)],
    ["was refused", (own, line) => own.retry(line, { ...LATER, notBeforeMs: 0 })],
  ])("a line goes on where it could not be written that it %s", async (_name, end) => {
    let isAway = false;
    const away: Db = Object.assign(Object.create(db) as Db, {
      query: async (...asked: Parameters<Db["query"]>) => {
        if (isAway) throw new Error("away");
        return db.query(...asked);
      },
    });
    const own = createBatchQueue(away, SEALER, { owner: "one", processes: away, endHolds, own: new OwnLines() });
    const line = await first(own);
    isAway = true;
    await expect(end(own, line)).rejects.toThrow("away");
    isAway = false;
    await own.keepUp(2);
    expect(await show()).toMatchObject({ counts: { running: 0, waiting: 3 } });
  });

  test("a line that is put back after a cancellation never begins", async () => {
    const line = await first(queue);
    await store.cancel(name, 2);
    await queue.retry(line, LATER);
    await queue.keepUp(20);
    expect(await show()).toMatchObject({ status: "cancelled", counts: { cancelled: 3 } });
  });

  test("a batch that is cancelled before all its lines are here runs none of them", async () => {
    const batch = { ...name, id: `${name.id}-cancelled` };
    await store.begin(batch);
    await store.addLines(batch, 0, [{ customId: "a", body: "{}" }]);
    await store.cancel(batch, 2);
    await store.addLines(batch, 1, [{ customId: "b", body: "{}" }]);
    await store.release(batch, false);
    expect(await show(batch)).toMatchObject({ status: "cancelling", cancelledAtMs: 2, counts: { cancelled: 2 } });
    await queue.keepUp(3);
    expect(await show(batch)).toMatchObject({ status: "cancelled", endedAtMs: 3 });
  });

  test("no line begins once the cost is reached", async () => {
    const capped = await begin({ maxCost: 5n });
    const lines = await queue.claim(1, 1, [name.id]);
    await queue.finish(lines[0] as ClaimedLine, OK, 5n);
    expect(await show(capped)).toMatchObject({ counts: { succeeded: 1, stopped: 2 } });
    expect(await show(await begin({ maxCost: 0n }))).toMatchObject({ counts: { stopped: 3 } });
  });

  test("after the end no line begins, and one that was begun is not tried again", async () => {
    await queueOf("dead").claim(1, 1, []);
    expect(await claimed(queue, 9, END)).toEqual([]);
    await queue.keepUp(END);
    expect(await show()).toMatchObject({ status: "expired", counts: { expired: 2, errored: 1 } });
    const lines = [];
    for await (const { state, result } of store.ended(name)) lines.push([state, result]);
    expect(lines).toContainEqual(["errored", null]);
  });
});
