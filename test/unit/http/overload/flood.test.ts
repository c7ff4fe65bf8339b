// Flood detection: a long queue is a flood when it does not drain and more arrive than a burst has.

import { beforeEach, describe, expect, it } from "vitest";
import { OVERLOAD_POLICY } from "../../../../src/http/overload/policy.ts";
import { createFloodDetector, type FloodDetector } from "../../../../src/http/overload/queue.ts";

const QUEUE_MS = 500;
const SAMPLE_MS = 50;
const { burstRequests: BURST, longQueueRequests: LONG } = OVERLOAD_POLICY.flood;

let atMs: number;
let detector: FloodDetector;
beforeEach(() => {
  atMs = 1_000;
  detector = createFloodDetector(QUEUE_MS);
});

function arrive(count: number): void {
  for (let arrived = 0; arrived < count; arrived += 1) detector.arrived();
}

/** Samples queues of these lengths, one after the other; whether there is a flood after the last. */
function sample(lengths: readonly number[], everyMs = SAMPLE_MS): boolean {
  for (const length of lengths) {
    atMs += everyMs;
    detector.sample(length, atMs);
  }
  return detector.state(atMs) === "overloaded";
}

const steady = (length: number, count: number): number[] => Array.from({ length: count }, () => length);

describe("a flood", () => {
  it("is not a short queue, however many arrive", () => {
    arrive(100_000);
    expect(sample(steady(LONG, 10_000))).toBe(false);
  });

  it("is not a burst, however slowly it drains", () => {
    arrive(BURST);
    expect(sample(steady(BURST, 10_000))).toBe(false);
  });

  it("is more arrivals than a burst and a queue that does not shrink", () => {
    arrive(BURST + 1);
    expect(sample(steady(2_000, 10))).toBe(false);
    expect(sample(steady(2_000, 1))).toBe(true);
  });

  it("is a queue that grows and grows", () => {
    arrive(2 * BURST);
    expect(sample(Array.from({ length: 12 }, (_, index) => 1_100 + index * 100))).toBe(true);
  });

  it("is not a queue that drains, even one that took some time to arrive", () => {
    arrive(3_000);
    const arriving = [500, 1_200, 2_000];
    const leaving = Array.from({ length: 20 }, (_, index) => 2_000 - 50 * index);
    expect(sample([...arriving, ...leaving])).toBe(false);
  });

  it("is a queue that as many requests join as leave", () => {
    arrive(2 * BURST);
    const waves = Array.from({ length: 25 }, (_, index) => (index % 4 < 2 ? 2_000 : 1_500));
    expect(sample(waves)).toBe(true);
  });

  it("is counted from the moment the queue was last empty", () => {
    arrive(BURST);
    sample([2_000, 0]);
    arrive(BURST);
    expect(sample(steady(2_000, 50))).toBe(false);
  });

  it("is not a queue that stood still because the process did", () => {
    arrive(2 * BURST);
    sample(steady(2_000, 2));
    expect(sample([2_000], 5_000)).toBe(false);
    expect(sample([100])).toBe(false);
  });

  it("ends some seconds after the last rejection", () => {
    arrive(2 * BURST);
    sample(steady(2_000, 12));
    atMs += 2_000;
    detector.rejected(atMs);
    expect(detector.state(atMs + 3_900)).toBe("overloaded");
    expect(detector.state(atMs + 4_100)).toBe("normal");
  });
});
