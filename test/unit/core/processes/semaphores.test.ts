import { expect, test, vi } from "vitest";
import type { WorkerLink } from "../../../../src/core/processes/link.ts";
import { createSlotCounter, type Release, semaphoreOver } from "../../../../src/core/processes/semaphores.ts";

/** The primary and one worker, without a process between them. */
function openLink(): Pick<WorkerLink, "call" | "serve"> {
  const services = new Map<string, (payload: unknown) => unknown>();
  return {
    serve: (service, answer) => void services.set(service, answer),
    call: async (service, payload) => services.get(service)?.(payload),
  };
}

test("a slot that was released before it was granted stays free", async () => {
  vi.useFakeTimers();
  const link = openLink();
  createSlotCounter()(link, new Promise(() => undefined));
  const semaphore = semaphoreOver(link, "key", () => 1);
  const first = (await semaphore.acquire("a")) as Release;
  const late = link.call("acquire-slot", { id: "key:99", name: "key:a", limit: 1 });
  await link.call("release-slot", "key:99");
  first();
  await vi.runAllTimersAsync();
  expect(await late).toBe(false);
  expect(await semaphore.acquire("a")).not.toBeNull();
});
