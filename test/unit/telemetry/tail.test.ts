// Who is told of what was written: watchers of the account, of our own at once and of others' when the counters say so.

import { expect, test, vi } from "vitest";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createTail } from "../../../src/telemetry/tail.ts";
import { makeRecord, written } from "../../support/stores/records.ts";

function watchable(counted: () => number, isShared = true) {
  const asked: string[] = [];
  const histogram = async ({ accountId }: { accountId: string }) => {
    asked.push(accountId);
    return { bars: [{ startMs: 0, requests: counted(), errors: 0 }], fromMs: 0, toMs: 0 };
  };
  const tail = createTail({ requests: { histogram }, isShared, now: () => 0, log: SILENT_LOG, everyMs: 10 });
  const heard: string[] = [];
  const watch = (accountId: string) =>
    tail.watch({
      accountId,
      onRequest: ({ id }) => heard.push(id),
      onOthers: () => heard.push("others"),
    });
  return { tail, asked, heard, watch };
}

test("our own requests are told at once, and not as those of others", async () => {
  let counted = 5;
  const { tail, asked, heard, watch } = watchable(() => counted);
  const stop = watch("default");
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(1), 60_000);
  const record = makeRecord();
  tail.tell([record, makeRecord({ accountId: "other" })].map(written));
  counted += 1;
  const before = asked.length;
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before + 1), 60_000);
  expect(heard).toEqual([record.id]);
  counted += 2;
  await vi.waitFor(() => expect(heard).toEqual([record.id, "others"]), 60_000);
  stop();
});

test("nobody asks when nobody watches any more, and of a store of our own nobody ever does", async () => {
  const shared = watchable(() => 1);
  shared.watch("default")();
  const alone = watchable(() => 1, false);
  alone.watch("default");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([shared.asked.length, alone.asked.length]).toEqual([1, 0]);
  expect([shared.tail.count(), alone.tail.count()]).toEqual([0, 1]);
});

test("a store that is away ends nothing", async () => {
  let isAway = true;
  const { heard, watch, asked, tail } = watchable(() => {
    if (isAway) throw new Error("away");
    return asked.length;
  });
  watch("default");
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(2), 60_000);
  isAway = false;
  await vi.waitFor(() => expect(heard).toContain("others"), 60_000);
  tail.close();
});
