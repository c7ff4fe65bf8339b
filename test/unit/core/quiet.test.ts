// Quiet times, over midnight and in other time zones.

import { expect, it } from "vitest";
import { isTimeZone, quietMs } from "../../../src/core/alerts/quiet.ts";

const MINUTE_MS = 60_000;
const at = (time: string): number => Date.parse(`2026-11-19T${time}Z`);

it.each([
  // 22:30 in Berlin, which is one hour ahead.
  ["22:00", "07:00", "Europe/Berlin", "21:30:00", 510],
  ["22:00", "07:00", "Europe/Berlin", "05:59:00", 1],
  ["22:00", "07:00", "Europe/Berlin", "06:00:00", 0],
  ["22:00", "07:00", "Europe/Berlin", "20:59:59", 0],
  ["12:00", "13:00", "UTC", "12:00:00", 60],
  ["12:00", "13:00", "Asia/Kolkata", "06:45:00", 45],
  ["12:00", "12:00", "UTC", "12:00:00", 0],
])("from %s to %s in %s, at %s UTC, %i minutes are left", (from, to, timeZone, time, minutes) => {
  expect(quietMs({ from, to, timeZone }, at(time))).toBe(minutes * MINUTE_MS);
});

it("ends on the minute", () => {
  expect(quietMs({ from: "22:00", to: "07:00", timeZone: "UTC" }, at("06:59:30.250"))).toBe(29_750);
});

it("knows the names of time zones", () => {
  expect(isTimeZone("Europe/Berlin")).toBe(true);
  expect(isTimeZone("Mars/Olympus")).toBe(false);
});
