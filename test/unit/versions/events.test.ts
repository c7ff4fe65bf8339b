// Lines about versions are written once, however many processes find the same.

import { expect, test } from "vitest";
import type { Log } from "../../../src/core/log.ts";
import { createVersionLog } from "../../../src/versions/events.ts";

function openLog() {
  const events: string[] = [];
  const write = ({ event }: { readonly event: string }): void => void events.push(event);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  return { events, ...createVersionLog(log) };
}

test.each([
  { name: "config.followed", event: { kind: "followed", delayMs: 5 } },
  { name: "config.version_unusable", event: { kind: "unusable", problems: [] } },
  { name: "config.key_unreadable", event: { kind: "keyUnreadable", provider: "lab" } },
] as const)("$name is written once for a version", ({ name, event }) => {
  const { events, write } = openLog();
  for (const from of ["first", "second"]) write({ ...event, version: 2 }, from);
  expect(events).toEqual([name]);
  for (const from of ["first", "second"]) write({ ...event, version: 3 }, from);
  write({ ...event, version: 2 }, "third");
  expect(events).toEqual([name, name]);
});

test("each provider with an unreadable key has its own line", () => {
  const { events, write } = openLog();
  for (const provider of ["lab", "other"]) write({ kind: "keyUnreadable", version: 1, provider });
  expect(events).toHaveLength(2);
});

test("versions cannot be read from the first process that says so until the last one has recovered or ended", () => {
  const { events, write, forget } = openLog();
  write({ kind: "reloadFailed", error: new Error("no database") }, "first");
  for (const from of ["second", "third"]) write({ kind: "reloadFailed", error: new Error("no database") }, from);
  write({ kind: "reloadRecovered" }, "first");
  forget("second");
  forget("a stranger");
  expect(events).toEqual(["config.reload_failed"]);
  write({ kind: "reloadRecovered" }, "third");
  expect(events).toEqual(["config.reload_failed", "config.reload_recovered"]);
});
