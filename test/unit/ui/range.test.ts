// Ranges by name: the same address while time goes on, and the gateway's time when they are sent.

import { expect, test, vi } from "vitest";

vi.stubGlobal("location", { pathname: "/", search: "", hash: "", href: "http://gateway/" });
const { now, noteServerTime } = await import("../../../ui/clock.ts");
const { rangeQuery, withTimes } = await import("../../../ui/range.ts");

test("a named range is one address, and is sent with whole hours or days that end now", () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-16T07:50:20Z") });
  const day = { name: "24h", fromMs: 0, toMs: 1 } as const;
  expect(rangeQuery(day)).toBe("from=-24h");
  expect(withTimes("/api/usage?by=hour&from=-24h&key=k")).toBe(
    "/api/usage?by=hour&from=2026-11-15T07:00:00.000Z&to=2026-11-16T07:51:00.000Z&key=k",
  );
  expect(withTimes("/api/usage?from=-7d")).toBe("/api/usage?from=2026-11-09T00:00:00.000Z&to=2026-11-16T07:51:00.000Z");
  expect(withTimes("/api/keys?q=from")).toBe("/api/keys?q=from");
});

test("the gateway's clock counts, small differences do not", () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-19T08:00:00Z") });
  noteServerTime("Mon, 16 Nov 2026 08:00:00 GMT");
  expect(new Date(now()).toISOString()).toBe("2026-11-16T08:00:00.000Z");
  expect(withTimes("/api/usage?from=-1h")).toContain("to=2026-11-16T08:01:00.000Z");
  noteServerTime("Mon, 16 Nov 2026 08:00:02 GMT");
  expect(new Date(now()).toISOString()).toBe("2026-11-16T08:00:00.000Z");
  for (const nothing of [null, "", "not a time"]) noteServerTime(nothing);
  expect(new Date(now()).toISOString()).toBe("2026-11-16T08:00:00.000Z");
});
