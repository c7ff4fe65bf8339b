// The queue of spans: batches one after the other, a bound, and an end that does not wait for ever.

import { describe, expect, it, vi } from "vitest";
import { SILENT_LOG } from "../../../../src/telemetry/log.ts";
import { createExportQueue, type ExportQueueOptions } from "../../../../src/telemetry/otlp/queue.ts";

function setUp(send: (spans: readonly number[]) => Promise<void>, options: Partial<ExportQueueOptions<number>> = {}) {
  vi.useFakeTimers();
  const dropped: [string, number][] = [];
  let sent = 0;
  const queue = createExportQueue<number>({
    signal: "traces",
    send,
    queueMax: 1_000,
    delayMs: 5_000,
    onDrop: (reason, count) => void dropped.push([reason, count]),
    onSent: (count) => {
      sent += count;
    },
    log: SILENT_LOG,
    ...options,
  });
  return { queue, dropped, sent: () => sent };
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe("spans", () => {
  it("are sent together after the delay", async () => {
    const send = vi.fn(() => Promise.resolve());
    const { queue, sent } = setUp(send);
    queue.add([1]);
    queue.add([2, 3]);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(send).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(send.mock.calls).toEqual([[[1, 2, 3]]]);
    expect(sent()).toBe(3);
  });

  it("are sent sooner when a batch is full, never more than that at once, one batch at a time", async () => {
    let isBusy = false;
    const sizes: number[] = [];
    const { queue } = setUp(async (spans) => {
      expect(isBusy).toBe(false);
      isBusy = true;
      sizes.push(spans.length);
      await Promise.resolve();
      isBusy = false;
    });
    for (const each of numbers(300)) queue.add([each]);
    await vi.advanceTimersByTimeAsync(10);
    expect(sizes).toEqual([128, 128, 44]);
  });

  it("are not sent by adding: the caller is not made to wait", () => {
    const send = vi.fn(() => Promise.resolve());
    const { queue } = setUp(send);
    for (const each of numbers(300)) queue.add([each]);
    expect(send).not.toHaveBeenCalled();
  });
});

describe("a collector that is away", () => {
  it("loses the batch; the next is tried after the delay", async () => {
    const send = vi.fn(() => Promise.reject(new Error("away")));
    const { queue, dropped } = setUp(send);
    queue.add(numbers(200));
    await vi.advanceTimersByTimeAsync(10);
    expect(dropped).toEqual([["export-failed", 128]]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(dropped).toEqual([
      ["export-failed", 128],
      ["export-failed", 72],
    ]);
    expect(send).toHaveBeenCalledTimes(2);
  });

  it("does not fill the memory: what is beyond the bound is dropped, all of a request or nothing", async () => {
    const { queue, dropped } = setUp(() => new Promise(() => undefined), { queueMax: 10 });
    queue.add(numbers(6));
    await vi.advanceTimersByTimeAsync(5_000);
    queue.add(numbers(6));
    queue.add(numbers(6));
    expect(dropped).toEqual([["queue-full", 6]]);
  });
});

describe("at the end", () => {
  it("everything is sent", async () => {
    const send = vi.fn(() => Promise.resolve());
    const { queue, dropped, sent } = setUp(send);
    queue.add(numbers(200));
    const stopped = queue.stop(1_000);
    await vi.advanceTimersByTimeAsync(10);
    await stopped;
    expect([sent(), dropped]).toEqual([200, []]);
  });

  it("a batch under way is waited for", async () => {
    let take = (): void => undefined;
    const { queue, sent } = setUp(() => new Promise((resolve) => (take = resolve)));
    queue.add([1]);
    await vi.advanceTimersByTimeAsync(5_000);
    const stopped = queue.stop(1_000);
    await vi.advanceTimersByTimeAsync(500);
    take();
    await vi.advanceTimersByTimeAsync(10);
    await stopped;
    expect(sent()).toBe(1);
  });

  it("a collector that never answers is not waited for longer than that; the rest is counted", async () => {
    const { queue, dropped } = setUp(() => new Promise(() => undefined));
    queue.add(numbers(200));
    const stopped = queue.stop(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;
    expect(dropped).toEqual([["stopped", 72]]);
  });
});
