import { expect, test, vi } from "vitest";
import type { WorkerLink } from "../../../../src/core/processes/link.ts";
import { createPlaceKeeper, type Leave, placesOver } from "../../../../src/core/processes/places.ts";

/** The primary and one worker, without a process between them. */
function openLink(): Pick<WorkerLink, "call" | "serve"> {
  const services = new Map<string, (payload: unknown) => unknown>();
  return {
    serve: (service, answer) => void services.set(service, answer),
    call: async (service, payload) => services.get(service)?.(payload),
  };
}

test("a place that was left before it was granted stays free", async () => {
  vi.useFakeTimers();
  const link = openLink();
  createPlaceKeeper()(link, new Promise(() => undefined));
  const places = placesOver(link, "key", 1);
  const first = (await places.enter("a")) as Leave;
  const late = link.call("enter-place", { id: "key:99", name: "key:a", limit: 1 });
  await link.call("leave-place", "key:99");
  first();
  await vi.runAllTimersAsync();
  expect(await late).toBe(false);
  expect(await places.enter("a")).not.toBeNull();
});
