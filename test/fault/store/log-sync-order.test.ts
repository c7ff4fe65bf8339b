// What is sent or committed while SQLite's log is synced beside its thread, and what is answered before its witness.

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { listOf, messageOf, type ThreadCall } from "../../../src/store/sqlite/thread-messages.ts";

interface Answer {
  readonly id: number;
  readonly rows?: readonly (readonly object[])[];
  readonly error?: { readonly message: string };
}

/** The places of `pace`, as paced-thread.mjs has them. */
const [REACHED, RELEASED, MAY_END] = [0, 1, 2];
const ALL = 1_000;

class PacedThread {
  readonly folder = mkdtempSync(join(tmpdir(), "switchyard-sync-order-"));
  readonly #pace = new Int32Array(new SharedArrayBuffer(12));
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #worker: Worker;
  readonly #opened: Promise<Answer>;
  #lastId = 0;

  constructor({ isFailing = false, pausesAtWitness = false } = {}) {
    const path = join(this.folder, "paced.db");
    const faults = { isFailing, pausesAtWitness };
    const workerData = { path, lockPath: null, busyTimeoutMs: 1_000, pace: this.#pace, ...faults };
    this.#worker = new Worker(new URL("../../support/stores/paced-thread.mjs", import.meta.url), { workerData });
    this.#opened = this.#answerTo(0);
    this.#worker.on("message", (answers: readonly Answer[]) => {
      for (const answer of answers) this.#waiting.get(answer.id)?.(answer);
    });
  }

  call(wanted: ThreadCall): Promise<Answer> {
    this.#lastId += 1;
    const answered = this.#answerTo(this.#lastId);
    this.#worker.postMessage(messageOf(this.#lastId, wanted, listOf(wanted.statements)));
    return answered;
  }

  write(sql: string): Promise<Answer> {
    return this.call({ kind: "batch", isWrite: true, statements: [{ sql }] });
  }

  read(sql: string): Promise<Answer> {
    return this.call({ kind: "batch", isWrite: false, statements: [{ sql }] });
  }

  /** A is committed and its sync under way, and B is committed after it. Then the thread stops before A's sync ends. */
  async commitTwo(): Promise<{ first: Promise<Answer>; second: Promise<Answer> }> {
    await this.#opened;
    const made = this.write("CREATE TABLE names (name TEXT)");
    await this.reached(1);
    const first = this.write("INSERT INTO names VALUES ('a')");
    const begun = this.call({ kind: "begin", transaction: "b" });
    const statements = [{ sql: "INSERT INTO names VALUES ('b')" }];
    const second = this.call({ kind: "commit", transaction: "b", statements });
    const seen = this.read("SELECT name FROM names");
    this.release(1);
    await Promise.all([made, begun]);
    expect((await seen).rows).toEqual([[{ name: "a" }, { name: "b" }]]);
    Atomics.store(this.#pace, MAY_END, 1);
    await this.reached(2);
    return { first, second };
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

test("a call that arrives in the moment a sync ends is answered, though none follows it", async () => {
  thread = new PacedThread();
  const { first, second } = await thread.commitTwo();
  const third = thread.write("INSERT INTO names VALUES ('c')");
  thread.release(2);
  const answers = await Promise.all([first, second, third]);
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
});

test("after a sync that failed nothing behind it in the log counts as durable, until the log is renewed", async () => {
  thread = new PacedThread({ isFailing: true });
  const { first, second } = await thread.commitTwo();
  thread.release(2);
  expect((await first).error?.message).toContain("EIO");
  expect((await second).error?.message).toContain("EIO");
  expect((await thread.write("INSERT INTO names VALUES ('c')")).error).toBeUndefined();
  expect((await thread.read("SELECT name FROM names")).rows).toEqual([[{ name: "a" }, { name: "b" }, { name: "c" }]]);
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
