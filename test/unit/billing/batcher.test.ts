// Group commit: what waits goes together, one bad operation is alone with its error, a store that is away fails all.

import { describe, expect, test, vi } from "vitest";
import { createBatcher } from "../../../src/billing/batcher.ts";
import type { LedgerOp, LedgerOutcome } from "../../../src/core/ledger.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { release } from "../../support/stores/ledger.ts";

const voided: LedgerOutcome = { state: "voided" };

function recording(isBad: (op: LedgerOp) => boolean = () => false, error: Error = new Error("bad")) {
  const sizes: number[] = [];
  const commit = async (ops: readonly LedgerOp[]): Promise<readonly LedgerOutcome[]> => {
    sizes.push(ops.length);
    await Promise.resolve();
    if (ops.some(isBad)) throw error;
    return ops.map(() => voided);
  };
  const batcher = createBatcher({ commit, atOnceMax: 1 });
  return { batcher, sizes };
}

const ops = (count: number) => Array.from({ length: count }, (_, index) => release(`hold-${index}`));

test("what arrives in one turn, and what arrives during a commit, goes together", async () => {
  const { batcher, sizes } = recording();
  const first = ops(5).map(batcher.submit);
  await first[0];
  await Promise.all([...first, ...ops(7).map(batcher.submit)]);
  expect(sizes).toEqual([5, 7]);
});

test("what arrives in the next turn still joins, and is waited for no longer", async () => {
  const { batcher, sizes } = recording();
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const answers = [batcher.submit(release("first"))];
  await nextTurn();
  answers.push(batcher.submit(release("second")));
  await nextTurn();
  answers.push(batcher.submit(release("third")));
  await Promise.all(answers);
  expect(sizes).toEqual([2, 1]);
});

test("a batch has an upper size", async () => {
  const { batcher, sizes } = recording();
  await Promise.all(ops(600).map(batcher.submit));
  expect(sizes).toEqual([384, 216]);
});

describe("several commits at once", () => {
  /** Commits that end when they are told to. */
  function held() {
    const commits: { readonly size: number; readonly end: () => void }[] = [];
    const commit = (batch: readonly LedgerOp[]): Promise<readonly LedgerOutcome[]> =>
      new Promise((resolve) => {
        commits.push({ size: batch.length, end: () => resolve(batch.map(() => voided)) });
      });
    return { commits, batcher: createBatcher({ commit, atOnceMax: 2 }) };
  }
  const nextTurn = () => new Promise((resolve) => setImmediate(setImmediate, resolve));

  test("many that wait are sent while the first is under way, few wait for it", async () => {
    const { commits, batcher } = held();
    const answered = [...ops(1).map(batcher.submit)];
    await nextTurn();
    answered.push(...ops(15).map(batcher.submit));
    await nextTurn();
    expect(commits.map(({ size }) => size)).toEqual([1]);
    answered.push(...ops(1).map(batcher.submit));
    await nextTurn();
    expect(commits.map(({ size }) => size)).toEqual([1, 16]);
    answered.push(...ops(40).map(batcher.submit));
    await nextTurn();
    expect(commits).toHaveLength(2);
    commits[0]?.end();
    await answered[0];
    await vi.waitFor(() => expect(commits).toHaveLength(3), 120_000);
    expect(commits.map(({ size }) => size)).toEqual([1, 16, 40]);
    for (const { end } of commits) end();
    await Promise.all(answered);
    await batcher.idle();
  });

  test("outcomes are told in the order in which they were sent", async () => {
    const { commits, batcher } = held();
    const told: string[] = [];
    const first = batcher.submit(release("first")).then(() => told.push("first"));
    await nextTurn();
    const later = ops(16).map((op) => batcher.submit(op).then(() => told.push("later")));
    await nextTurn();
    commits[1]?.end();
    await nextTurn();
    expect(told).toEqual([]);
    commits[0]?.end();
    await Promise.all([first, ...later]);
    expect(told.slice(0, 2)).toEqual(["first", "later"]);
  });
});

test("a bad operation is found in few commits, and only it is refused", async () => {
  const { batcher, sizes } = recording((op) => op.kind === "void" && op.holdId === "hold-37");
  const results = await Promise.allSettled(ops(64).map(batcher.submit));
  expect(results.map(({ status }, index) => [status, index]).filter(([status]) => status === "rejected")).toEqual([
    ["rejected", 37],
  ]);
  expect(sizes.length).toBeLessThanOrEqual(1 + 2 * Math.log2(64));
});

test("a store that is away is not asked again for each of them", async () => {
  const { batcher, sizes } = recording(() => true, new StoreUnavailable(new Error("away")));
  const results = await Promise.allSettled(ops(10).map(batcher.submit));
  expect(results.every(({ status }) => status === "rejected")).toBe(true);
  expect(sizes).toEqual([10]);
});

test("it is idle when everything was answered, also after failures", async () => {
  const { batcher } = recording(() => true);
  const answers = Promise.allSettled(ops(3).map(batcher.submit));
  await batcher.idle();
  await answers;
  await batcher.idle();
});

test("a store that hangs is waited for for ten seconds, refuses at once until it answers, and then works again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const sizes: number[] = [];
  let answer = (): void => undefined;
  const commit = (batch: readonly LedgerOp[]): Promise<readonly LedgerOutcome[]> => {
    sizes.push(batch.length);
    const outcomes = batch.map(() => voided);
    return sizes.length > 1
      ? Promise.resolve(outcomes)
      : new Promise((resolve) => {
          answer = () => resolve(outcomes);
        });
  };
  const batcher = createBatcher({ commit, atOnceMax: 1 });
  const sent = Promise.allSettled(ops(3).map(batcher.submit));
  await vi.waitFor(() => expect(sizes).toEqual([3]), 60_000);
  const behind = Promise.allSettled(ops(300).map(batcher.submit));
  await vi.advanceTimersByTimeAsync(10_000);
  for (const results of [await sent, await behind, await Promise.allSettled(ops(2).map(batcher.submit))]) {
    for (const result of results) {
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    }
  }
  answer();
  await batcher.idle();
  expect(await Promise.all(ops(2).map(batcher.submit))).toEqual([voided, voided]);
  expect(sizes).toEqual([3, 2]);
  // No limit of what was answered is left, to refuse what comes later.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await batcher.submit(release("last"))).toEqual(voided);
});
