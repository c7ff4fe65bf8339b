// Calls that are sent while SQLite's log is synced, a sync that fails, and commits that are answered before their witness.

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import type { ThreadCall } from "../../../src/store/sqlite/thread.ts";

interface Answer {
  readonly id: number;
  readonly rows?: readonly (readonly object[])[];
  readonly error?: { readonly message: string };
}

/** The positions in `pace`, as paced-thread.mjs has them. */
const [REACHED, RELEASED] = [0, 1];
const ALL = 1_000;

class PacedThread {
  readonly folder = mkdtempSync(join(tmpdir(), "switchyard-sync-order-"));
  readonly #pace = new Int32Array(new SharedArrayBuffer(8));
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #worker: Worker;
  readonly #opened: Promise<Answer>;
  #lastId = 0;

  constructor({ isFailing = false, pausesAtWitness = false, holds = "ledger" } = {}) {
    const path = join(this.folder, "paced.db");
    const faults = { isFailing, pausesAtWitness };
    const workerData = { path, lockPath: null, busyTimeoutMs: 1_000, pace: this.#pace, holds, ...faults };
    this.#worker = new Worker(new URL("../../support/stores/paced-thread.mjs", import.meta.url), { workerData });
    this.#opened = this.#answerTo(0);
    this.#worker.on("message", (answers: readonly Answer[]) => {
      for (const answer of answers) this.#waiting.get(answer.id)?.(answer);
    });
  }

  call(wanted: ThreadCall): Promise<Answer> {
    this.#lastId += 1;
    const answered = this.#answerTo(this.#lastId);
    this.#worker.postMessage({ id: this.#lastId, ...wanted });
    return answered;
  }

  write(sql: string): Promise<Answer> {
    return this.call({ kind: "batch", isWrite: true, statements: [{ sql }] });
  }

  read(sql: string): Promise<Answer> {
    return this.call({ kind: "batch", isWrite: false, statements: [{ sql }] });
  }

  /** The first write, whose sync is the first pause. */
  async start(): Promise<Answer> {
    await this.#opened;
    return this.write("CREATE TABLE names (name TEXT)");
  }

  /** As the file beside the database says it. */
  witnessed(): string {
    return readFileSync(join(this.folder, "paced.db.witness"), "latin1");
  }

  async reached(number: number): Promise<void> {
    while (Atomics.load(this.#pace, REACHED) < number) await delay(1);
  }

  release(number: number): void {
    Atomics.store(this.#pace, RELEASED, number);
    Atomics.notify(this.#pace, RELEASED);
  }

  async close(): Promise<void> {
    const ended = once(this.#worker, "exit");
    void this.call({ kind: "close" });
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  #answerTo(id: number): Promise<Answer> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}

let thread: PacedThread;
afterEach(() => {
  thread.release(ALL);
  return thread.close();
});

test("writes that are sent during a sync are committed together after it, and answered", async () => {
  thread = new PacedThread();
  let isAnswered = false;
  const made = thread.start().finally(() => (isAnswered = true));
  await thread.reached(1);
  const first = thread.write("INSERT INTO names VALUES ('a')");
  const begun = thread.call({ kind: "begin", transaction: "b" });
  const statements = [{ sql: "INSERT INTO names VALUES ('b')" }];
  const second = thread.call({ kind: "commit", transaction: "b", statements });
  const seen = thread.read("SELECT name FROM names");
  expect(isAnswered).toBe(false);
  thread.release(1);
  const answers = await Promise.all([made, first, begun, second]);
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  expect((await seen).rows).toEqual([[{ name: "a" }, { name: "b" }]]);
});

test.each([
  ["the ledger", "ledger"],
  ["stored contents", "contents"],
])("a commit of %s whose sync failed is rejected, and later ones count after the log was renewed", async (_, holds) => {
  thread = new PacedThread({ isFailing: true, holds });
  thread.release(1);
  await thread.start();
  const first = thread.write("INSERT INTO names VALUES ('a')");
  await thread.reached(2);
  const second = thread.write("INSERT INTO names VALUES ('b')");
  thread.release(2);
  expect((await first).error?.message).toContain("EIO");
  expect((await second).error).toBeUndefined();
  expect((await thread.read("SELECT name FROM names")).rows).toEqual([[{ name: "a" }, { name: "b" }]]);
});

test("a commit is answered before its witness is written, and a witness is written of each", async () => {
  thread = new PacedThread({ pausesAtWitness: true });
  // The first pause is that of a sync.
  thread.release(1);
  const columns = "commits INTEGER, transactions INTEGER, account_id TEXT, sequence INTEGER, hash TEXT";
  await thread.write(`CREATE TABLE store_head (${columns})`);
  expect((await thread.write("INSERT INTO store_head VALUES (6, 0, '', 0, '')")).error).toBeUndefined();
  await thread.reached(2);
  expect(thread.witnessed()).toBe("");
  const last = thread.write("UPDATE store_head SET transactions = 1");
  thread.release(2);
  expect((await last).error).toBeUndefined();
  expect(thread.witnessed()).toContain('"commits":7,"transactions":0');
  expect(thread.witnessed()).not.toContain('"commits":8');
  thread.release(ALL);
  await vi.waitFor(() => expect(thread.witnessed()).toContain('"commits":8,"transactions":1'), 120_000);
});
