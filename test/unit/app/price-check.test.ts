// The schedule of price checks: when they are due, and that one of several processes makes each.

import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startPriceCheck } from "../../../src/app/price-check.ts";
import { NO_CHECK, type PriceCheckStore } from "../../../src/catalog/prices/check.ts";
// Loaded before the tests, so that no process waits for it.
import "../../../src/catalog/prices/review.ts";
import { checkAndAdopt } from "../../../src/gateway/operate/adopt-prices.ts";
import { makeCatalog, makeModel, makeProvider } from "../../support/catalog.ts";

vi.mock("../../../src/gateway/operate/adopt-prices.ts", () => ({ checkAndAdopt: vi.fn() }));

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse("2026-11-19T12:00:00Z");
const checked = vi.mocked(checkAndAdopt);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"], now: NOW_MS });
  checked.mockReset().mockResolvedValue(NO_CHECK);
  onTestFinished(() => void vi.useRealTimers());
});

const EMPTY = { vendors: [], rows: [], refused: [], lost: [] };

type Terms = Partial<Record<"priceCheck" | "priceCheckHours" | "transport", unknown>>;

/** As the database does it. */
function memoryStore(last: { atMs: number }): PriceCheckStore {
  let nextMs = 0;
  return {
    read: async () => ({ ...NO_CHECK, ...last }),
    write: async () => undefined,
    async claim(nowMs, untilMs) {
      if (nextMs > nowMs) return false;
      nextMs = untilMs;
      return true;
    },
  };
}

/** Processes that share a database. */
function startProcesses(count: number, terms: Terms = {}) {
  const { transport = "network" } = terms;
  const model = makeModel({ priceSource: "LiteLLM", priceAsOf: "2026-11-17" });
  const provider = makeProvider(transport === "network" ? {} : { transport: "sandbox" });
  const catalog = makeCatalog({ chains: { LIGHT: [model] }, providers: [provider] });
  const last = { atMs: 0 };
  const checks = memoryStore(last);
  const claim = vi.spyOn(checks, "claim");
  const warn = vi.fn();
  const urls = { priceListUrl: "off", genaiPricesUrl: "off", openrouterPricesUrl: "off" };
  const prices = () => ({ priceCheck: "daily", priceCheckHours: 24, ...urls, ...terms });
  const context = { prices, checks, current: () => ({ catalog }), log: { warn }, now: Date.now };
  const processes = Array.from({ length: count }, () =>
    startPriceCheck(context as unknown as Parameters<typeof startPriceCheck>[0]),
  );
  onTestFinished(() => {
    for (const each of processes) each.close();
  });
  return { processes, claim, warn, last };
}

/** Lets a minute pass, and what the processes do then. */
async function minute(): Promise<void> {
  vi.advanceTimersByTime(60_000);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("one of two processes checks within a minute of its start, and again after a day", async () => {
  startProcesses(2);
  expect(checked).not.toHaveBeenCalled();
  await minute();
  expect(checked).toHaveBeenCalledTimes(1);
  await minute();
  expect(checked).toHaveBeenCalledTimes(1);
  vi.setSystemTime(NOW_MS + 25 * HOUR_MS);
  await minute();
  expect(checked).toHaveBeenCalledTimes(2);
});

test("checks that are switched on while the process runs begin, and a shorter interval counts", async () => {
  const terms: Terms = { priceCheck: "off" };
  const { last } = startProcesses(1, terms);
  await minute();
  expect(checked).not.toHaveBeenCalled();
  terms.priceCheck = "daily";
  await minute();
  expect(checked).toHaveBeenCalledTimes(1);
  last.atMs = NOW_MS;
  vi.setSystemTime(NOW_MS + 2 * HOUR_MS);
  await minute();
  expect(checked).toHaveBeenCalledTimes(1);
  terms.priceCheckHours = 1;
  vi.setSystemTime(NOW_MS + 3 * HOUR_MS);
  await minute();
  expect(checked).toHaveBeenCalledTimes(2);
});

test("a process that dies during a check keeps the others from it for a quarter of an hour", async () => {
  startProcesses(2);
  checked.mockReturnValueOnce(new Promise(() => undefined));
  await minute();
  await minute();
  expect(checked).toHaveBeenCalledTimes(1);
  vi.setSystemTime(NOW_MS + HOUR_MS);
  await minute();
  expect(checked).toHaveBeenCalledTimes(2);
});

test("a check that fails is logged, and the schedule goes on", async () => {
  const { warn } = startProcesses(1);
  checked.mockRejectedValueOnce(new Error("broken"));
  await minute();
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1));
  expect(warn.mock.calls[0]?.[0]).toMatchObject({ event: "prices.unavailable" });
  vi.setSystemTime(NOW_MS + HOUR_MS);
  await minute();
  expect(checked).toHaveBeenCalledTimes(2);
});

test("the time since a feed changed is known after a check, for those whose last change is", async () => {
  const { processes } = startProcesses(1);
  expect(processes[0]?.feedAges()).toEqual({});
  const state = { source: "", readAtMs: NOW_MS, digest: "x", problem: null, etag: null, modified: null };
  const feeds = [
    { ...state, feed: "litellm" as const, changedAtMs: NOW_MS - HOUR_MS, ...EMPTY },
    { ...state, feed: "genai" as const, changedAtMs: 0, ...EMPTY },
  ];
  checked.mockResolvedValueOnce({ ...NO_CHECK, atMs: NOW_MS, feeds });
  await minute();
  expect(processes[0]?.feedAges()).toEqual({ litellm: 3_660 });
});

test.each<readonly [string, Terms]>([
  ["prices.check: off", { priceCheck: "off" }],
  ["prices.checkHours: 0", { priceCheckHours: 0 }],
  ["simulated answers alone", { transport: "sandbox" }],
])("no check with %s", async (_, terms) => {
  const { claim, processes } = startProcesses(1, terms);
  vi.advanceTimersByTime(48 * HOUR_MS);
  expect(claim).not.toHaveBeenCalled();
  expect(processes[0]?.ageSeconds()).toBe((2.5 + 2) * 24 * 3_600);
});
