// Limits of the public demo: how often an address may come, and how long a visitor keeps a store.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { createVisitors, type StoreGateway, type VisitorTerms } from "../../../src/demo/site/visitors.ts";
import { createCallWindows } from "../../../src/demo/site/windows.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";

describe("a window", () => {
  test("lets so many calls of an address through, and tells the others when it ends", () => {
    let nowMs = 0;
    const windows = createCallWindows({ max: 2, windowMs: 60_000, now: () => nowMs });
    expect([1, 2, 3].map(() => windows.take("192.0.2.1"))).toEqual([0, 0, 60]);
    nowMs = 45_500;
    expect([windows.take("192.0.2.1"), windows.take("192.0.2.2")]).toEqual([15, 0]);
    nowMs = 60_000;
    expect(windows.take("192.0.2.1")).toBe(0);
  });

  test.each([
    ["one network of IPv6 is one customer", "2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", 10],
    ["another network is another", "2001:db8:1:2::1", "2001:db8:1:3::1", 0],
    ["short forms are read", "2001:db8::1", "2001:db8:0:0:ffff::2", 10],
    ["IPv4 in IPv6 is IPv4", "::ffff:192.0.2.1", "192.0.2.1", 10],
    ["IPv4 in IPv6 is told apart", "::ffff:192.0.2.1", "::ffff:192.0.2.2", 0],
  ])("%s", (_name, first, second, expected) => {
    const windows = createCallWindows({ max: 1, windowMs: 10_000, now: () => 0 });
    expect(windows.take(first)).toBe(0);
    expect(windows.take(second)).toBe(expected);
  });

  test("addresses that are made up cost no memory, and do not push out the ones before", () => {
    const windows = createCallWindows({ max: 3, windowMs: 10_000, now: () => 0 });
    windows.take("192.0.2.1");
    for (let each = 0; each < 20_100; each++) windows.take(`made-up-${each}`);
    expect(windows.take("made-up-30000")).toBe(10);
    expect(windows.take("192.0.2.1")).toBe(0);
  });
});

describe("stores", () => {
  const template = mkdtempSync(join(tmpdir(), "switchyard-template-"));
  writeFileSync(join(template, "switchyard.db"), "demo");
  afterAll(() => rmSync(template, { recursive: true }));
  afterEach(() => vi.useRealTimers());

  const TERMS: VisitorTerms = { storesMax: 2, idleMs: 600_000, lifeMs: 900_000, bytesMax: 100 };

  function setUp(terms: Partial<VisitorTerms> = {}) {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const folders: string[] = [];
    const stopped: string[] = [];
    const start = async (folder: string): Promise<StoreGateway> => {
      folders.push(folder);
      return { answer: () => undefined, stop: async () => void stopped.push(folder), hurry: () => undefined };
    };
    const context = { ...TERMS, ...terms, template: () => template, start, log: SILENT_LOG, now: Date.now };
    return { visitors: createVisitors(context), folders, stopped };
  }

  test("are copies that go away with their visitors", async () => {
    const { visitors, folders, stopped } = setUp();
    expect(visitors.find("ada")).toBeNull();
    const app = visitors.open("ada");
    expect(visitors.open("ada")).toBe(app);
    expect(visitors.find("ada")).toBe(app);
    await app;
    expect(existsSync(join(folders[0] as string, "switchyard.db"))).toBe(true);
    for (let minutes = 0; minutes < 9; minutes += 3) {
      vi.advanceTimersByTime(180_000);
      expect(visitors.find("ada")).toBe(app);
    }
    vi.advanceTimersByTime(600_000 + 5_000);
    expect(visitors.find("ada")).toBeNull();
    await vi.waitFor(() => expect(existsSync(folders[0] as string)).toBe(false));
    expect(stopped).toEqual(folders);
    await visitors.close();
  });

  test("last no longer than their life, however busy their visitor is", async () => {
    const { visitors } = setUp();
    await visitors.open("ada");
    for (let minutes = 0; minutes <= 15; minutes++) {
      visitors.find("ada");
      vi.advanceTimersByTime(60_000);
    }
    expect(visitors.find("ada")).toBeNull();
    await visitors.close();
  });

  test("that grow too large are thrown away", async () => {
    const { visitors, folders } = setUp();
    await visitors.open("ada");
    writeFileSync(join(folders[0] as string, "switchyard.db"), "x".repeat(101));
    vi.advanceTimersByTime(5_000);
    expect(visitors.find("ada")).toBeNull();
    await visitors.close();
  });

  test("are refused where all are taken, until one whose visitor is away gives way", async () => {
    const { visitors, stopped, folders } = setUp();
    await visitors.open("ada");
    vi.advanceTimersByTime(1_000);
    await visitors.open("ben");
    expect(visitors.open("cleo")).toBeNull();
    vi.advanceTimersByTime(120_000);
    visitors.find("ben");
    expect(visitors.open("cleo")).toBeNull();
    await vi.waitFor(() => expect(stopped).toEqual([folders[0]]));
    await vi.waitFor(() => expect(visitors.open("cleo")).not.toBeNull());
    expect(visitors.find("ben")).not.toBeNull();
    await visitors.close();
    expect(stopped).toHaveLength(3);
  });

  test("end at once when their visitor starts over, with what is still being answered", async () => {
    const { visitors } = setUp();
    await visitors.open("ada");
    const destroy = vi.fn();
    visitors.hold("ada", { once: () => undefined, destroy } as never);
    await visitors.restart("ada");
    expect(destroy).toHaveBeenCalledOnce();
    expect(visitors.find("ada")).toBeNull();
    await visitors.close();
  });
});
