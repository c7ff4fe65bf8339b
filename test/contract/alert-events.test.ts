// Events and the turn of the watch, on both databases.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { AlertEventStore } from "../../src/core/alerts/events.ts";
import type { Observation } from "../../src/core/alerts/kinds.ts";
import type { Db } from "../../src/core/db.ts";
import { createAlertEventStore } from "../../src/store/alerts/events.ts";
import { openDb } from "../../src/store/db.ts";
import { describeStores } from "../support/stores/stores.ts";

const ALL = { accountId: null, kind: null };

await describeStores("alert events", ({ url }) => {
  let db: Db;
  let events: AlertEventStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    events = createAlertEventStore(db);
  });
  afterAll(() => db.close());

  const down = (provider: string): Observation => ({
    kind: "provider.down",
    accountId: null,
    subject: provider,
    data: { provider, error: "no answer" },
  });
  const low = (accountId: string): Observation => ({
    kind: "balance.low",
    accountId,
    subject: accountId,
    data: { account: "Acme", balanceUsd: "0.42", thresholdUsd: "1.00" },
  });

  it("keeps one event while it lasts, though many processes see it", async () => {
    const raised = await Promise.all(Array.from({ length: 8 }, () => events.raise([down("openai")], 1_000)));
    expect(raised.flat()).toHaveLength(1);
    expect(await events.raise([down("openai"), down("anthropic")], 2_000)).toMatchObject([
      { subject: "anthropic", accountId: null, text: "Provider anthropic is down: no answer", severity: "critical" },
    ]);
    const listed = await events.list({ ...ALL, kind: "provider.down" }, { limit: 10, after: null });
    expect(listed.map(({ subject, endedAtMs }) => [subject, endedAtMs])).toEqual([
      ["anthropic", null],
      ["openai", null],
    ]);
  });

  it("ends what was not seen again, and then raises it once more", async () => {
    await events.raise([down("gone"), down("here")], 10_000);
    await events.raise([down("here"), down("openai"), down("anthropic")], 20_000);
    expect(await events.end("provider.down", 20_000, 21_000)).toBe(1);
    expect(await events.end("balance.low", 20_000, 21_000)).toBe(0);
    expect(await events.raise([down("gone"), down("here")], 22_000)).toMatchObject([{ subject: "gone" }]);
    const ended = (await events.list(ALL, { limit: 50, after: null })).filter(({ endedAtMs }) => endedAtMs !== null);
    expect(ended).toMatchObject([{ subject: "gone", endedAtMs: 21_000 }]);
  });

  it("lists newest first, in pages, for one account or all", async () => {
    for (let ms = 30_000; ms < 30_005; ms += 1) await events.raise([low(`acc-${ms}`)], ms);
    const first = await events.list({ ...ALL, kind: "balance.low" }, { limit: 3, after: null });
    const rest = await events.list({ ...ALL, kind: "balance.low" }, { limit: 3, after: first[2]?.id ?? "" });
    expect([...first, ...rest].map(({ atMs }) => atMs)).toEqual([30_004, 30_003, 30_002, 30_001, 30_000]);
    const own = await events.list({ accountId: "acc-30001", kind: null }, { limit: 10, after: null });
    expect(own).toMatchObject([{ accountId: "acc-30001", data: { account: "Acme", balanceUsd: "0.42" } }]);
  });

  it("keeps text that a database could not store", async () => {
    const odd = { ...down("a\u0000b"), data: { provider: "a\u0000b", error: "half \ud83d" } };
    const [raised] = await events.raise([odd as Observation], 40_000);
    expect(raised?.text).toBe("Provider a\ufffdb is down: half \ufffd");
    expect(await events.raise([odd as Observation], 40_001)).toEqual([]);
  });

  it("deletes old events that have ended, and no other", async () => {
    await events.deleteBefore(25_000);
    const kept = (await events.list(ALL, { limit: 50, after: null })).map(({ subject, atMs }) => [subject, atMs]);
    expect(kept).not.toContainEqual(["gone", 10_000]);
    expect(kept).toContainEqual(["gone", 22_000]);
    expect(kept).toContainEqual(["openai", 1_000]);
  });

  it("gives the turn to one process, which keeps it", async () => {
    const claims = await Promise.all(Array.from({ length: 5 }, () => events.claimTurn("watch", 1_000, 2_000)));
    expect(claims.filter(Boolean)).toEqual([true]);
    expect(await events.claimTurn("watch", 1_999, 3_000)).toBe(false);
    expect(await events.claimTurn("watch", Number.MAX_SAFE_INTEGER, 3_000)).toBe(true);
    expect(await events.claimTurn("watch", 3_000, 4_000)).toBe(true);
  });
});
