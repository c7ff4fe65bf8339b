// What is sent or committed while SQLite's log is synced beside its thread.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";

interface Answer {
  readonly id: number;
  readonly rows?: readonly (readonly object[])[];
  readonly error?: { readonly message: string };
}

/** The places of `pace`, as paced-thread.mjs has them. */
const [REACHED, RELEASED, MAY_END] = [0, 1, 2];

class PacedThread {
  readonly folder = mkdtempSync(join(tmpdir(), "switchyard-sync-order-"));
  readonly #pace = new Int32Array(new SharedArrayBuffer(12));
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #worker: Worker;
  readonly #opened: Promise<Answer>;
  #lastId = 0;

  constructor(isFailing: boolean) {
    const path = join(this.folder, "paced.db");
    const workerData = { path, lockPath: null, busyTimeoutMs: 1_000, pace: this.#pace, isFailing };
    this.#worker = new Worker(new URL("../../support/stores/paced-thread.mjs", import.meta.url), { workerData });
    this.#opened = this.#answerTo(0);
    this.#worker.on("message", (answers: readonly Answer[]) => {
      for (const answer of answers) this.#waiting.get(answer.id)?.(answer);
    });
  }

  call(message: object): Promise<Answer> {
    this.#lastId += 1;
    const answered = this.#answerTo(this.#lastId);
    this.#worker.postMessage({ ...message, id: this.#lastId });
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
    await this.#reached(1);
    const first = this.write("INSERT INTO names VALUES ('a')");
    const begun = this.call({ kind: "begin", transaction: "b" });
    const statements = [{ sql: "INSERT INTO names VALUES ('b')" }];
    const second = this.call({ kind: "commit", transaction: "b", statements });
    const seen = this.read("SELECT name FROM names");
    this.release(1);
    await Promise.all([made, begun]);
    expect((await seen).rows).toEqual([[{ name: "a" }, { name: "b" }]]);
    Atomics.store(this.#pace, MAY_END, 1);
    await this.#reached(2);
    return { first, second };
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

  async #reached(number: number): Promise<void> {
    while (Atomics.load(this.#pace, REACHED) < number) await delay(1);
  }
}

let thread: PacedThread;
afterEach(() => thread.close());

test("a call that arrives in the moment a sync ends is answered, though none follows it", async () => {
  thread = new PacedThread(false);
  const { first, second } = await thread.commitTwo();
  const third = thread.write("INSERT INTO names VALUES ('c')");
  thread.release(2);
  const answers = await Promise.all([first, second, third]);
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
});

test("after a sync that failed nothing behind it in the log counts as durable, until the log is renewed", async () => {
  thread = new PacedThread(true);
  const { first, second } = await thread.commitTwo();
  thread.release(2);
  expect((await first).error?.message).toContain("EIO");
  expect((await second).error?.message).toContain("EIO");
  expect((await thread.write("INSERT INTO names VALUES ('c')")).error).toBeUndefined();
  expect((await thread.read("SELECT name FROM names")).rows).toEqual([[{ name: "a" }, { name: "b" }, { name: "c" }]]);
});
