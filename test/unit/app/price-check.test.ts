// The schedule of the price check.

import { beforeEach, expect, test, vi } from "vitest";
import { startPriceCheck } from "../../../src/app/price-check.ts";
import type { Log } from "../../../src/core/log.ts";

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));

/** Each check fails, since there is no such file, and says so. */
function startChecks(priceCheckHours: number) {
  const warn = vi.fn();
  const settings = { prices: { priceCheckHours, priceListUrl: "no-such-list.json", priceMaxChangePercent: 0 } };
  const context = { settings, log: { warn } as unknown as Log, now: Date.now };
  const started = startPriceCheck(context as unknown as Parameters<typeof startPriceCheck>[0]);
  return { warn, started };
}

test.each([1, 720])("every %i hours, not before and not more often", async (hours) => {
  const { warn, started } = startChecks(hours);
  vi.advanceTimersByTime(hours * HOUR_MS - 1);
  expect(warn).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1), 120_000);
  vi.advanceTimersByTime(hours * HOUR_MS);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(2), 120_000);
  started?.close();
  vi.advanceTimersByTime(hours * HOUR_MS);
  expect(warn).toHaveBeenCalledTimes(2);
});

test("not at all with 0", () => {
  expect(startChecks(0).started).toBeNull();
});
