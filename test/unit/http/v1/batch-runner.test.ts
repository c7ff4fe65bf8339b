// Runs lines of batches against a queue and keys that the test gives.

import type { FastifyInstance } from "fastify";
import { expect, test, vi } from "vitest";
import type { BatchQueue, ClaimedLine } from "../../../../src/core/batches/batches.ts";
import { runBatches } from "../../../../src/http/v1/batches/runner.ts";

type Edge = Parameters<typeof runBatches>[1];

test("a line whose key cannot be read waits for another run", async () => {
  const line = { batch: { id: "b", accountId: "ada", keyId: "k" }, position: 0, request: { body: "{}" } };
  const lines = [line as unknown as ClaimedLine];
  const retry = vi.fn<BatchQueue["retry"]>(async () => undefined);
  const queue = { keepUp: async () => undefined, claim: async () => lines.splice(0), retry };
  const native = { giveUpBefore: async () => undefined, due: async () => [] };
  const edge = {
    batches: { concurrency: 1, nativeFrom: 0, queue, native },
    keys: { get: () => Promise.reject(new Error("the database is away")) },
    openCalls: { count: () => 0 },
    live: () => ({ limits: { inFlight: 10 } }),
    log: { warn: () => undefined },
    now: () => 1_000_000,
  } as unknown as Edge;
  const hooks = new Map<string, () => Promise<void>>();
  const server = { server: {}, addHook: (name: string, hook: () => Promise<void>) => hooks.set(name, hook) };
  vi.useFakeTimers();
  try {
    runBatches(server as unknown as FastifyInstance, edge, { length: () => 0 });
    await hooks.get("onListen")?.();
    await vi.advanceTimersByTimeAsync(1_000);
    await hooks.get("preClose")?.();
  } finally {
    vi.useRealTimers();
  }
  expect(retry).toHaveBeenCalledWith(
    expect.objectContaining({ position: 0 }),
    expect.objectContaining({ end: "unknown" }),
  );
});
