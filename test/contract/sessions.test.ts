// Turns of sessions on every store: the newest of each stays, other processes read them, and old ones are deleted.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { Log } from "../../src/core/log.ts";
import type { SessionTurn, TurnStore } from "../../src/core/session.ts";
import { createSessionKeeper } from "../../src/gateway/sessions/keeper.ts";
import { openDb } from "../../src/store/db.ts";
import { createSessionStore } from "../../src/store/session-turns.ts";
import { describeStores } from "../support/stores/stores.ts";

const turn = (session: string, atMs: number, model = "m"): SessionTurn => ({
  session,
  model,
  hostKey: model,
  keyId: "k",
  tier: "LIGHT",
  promptTokens: 10,
  cachedTokens: 5,
  atMs,
  escalation: 1,
  task: 4_000_000_000,
  prefixes: [{ hash: 2 ** 52 - 1, tokens: 7 }],
  trust: 0.75,
  calls: [2 ** 52],
  response: "a\nr",
});

await describeStores("turns of sessions", ({ url }) => {
  let db: Db;
  let store: TurnStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createSessionStore(db);
  });
  afterAll(() => db.close());

  test("come back as they were, the newest first, and an older one never wins", async () => {
    await store.write([turn("a", 100), turn("b", 200)]);
    await store.write([turn("a", 300, "newer"), turn("b", 150, "older")]);
    expect(await store.since(0, 10)).toEqual([turn("a", 300, "newer"), turn("b", 200)]);
    expect(await store.since(250, 10)).toEqual([turn("a", 300, "newer")]);
    expect(await store.since(0, 1)).toHaveLength(1);
    expect(await store.deleteBefore(250, 10)).toBe(1);
    expect(await store.deleteBefore(1_000, 10)).toBe(1);
    expect(await store.since(0, 10)).toEqual([]);
  });

  test("are stored under the field names of earlier versions", async () => {
    await store.write([turn("f", 1)]);
    const [row] = await db.query("SELECT turn_json FROM session_turns WHERE session = $1", ["f"]);
    const { hostKey: route, ...rest } = turn("f", 1);
    expect(JSON.parse(String(row?.turn_json))).toEqual({ ...rest, route });
    expect(await store.deleteBefore(2, 1)).toBe(1);
  });

  test("are written in batches and read at the next start", async () => {
    const log = { debug: vi.fn(), warn: vi.fn() } as unknown as Log;
    const learned: SessionTurn[] = [];
    const options = { store, idleMs: () => 60_000, isShared: true, hasDuties: true, now: Date.now, log };
    const first = createSessionKeeper({ ...options, learn: () => undefined });
    await first.start();
    const atMs = Date.now();
    first.keep(turn("c", atMs - 1));
    first.keep(turn("c", atMs));
    first.keep(turn("d", atMs - 120_000));
    await first.stop();
    const second = createSessionKeeper({ ...options, learn: (each) => learned.push(each) });
    await second.start();
    // The other one is over.
    expect(learned).toEqual([turn("c", atMs)]);
    // While it runs, it hears of what others write.
    await store.write([turn("e", Date.now())]);
    await vi.waitFor(() => expect(learned.map(({ session }) => session)).toContain("e"), { timeout: 120_000 });
    await second.stop();
  });

  test("wait in memory while the store is away", async () => {
    const log = { debug: vi.fn(), warn: vi.fn() } as unknown as Log;
    const write = vi.fn(store.write).mockRejectedValueOnce(new Error("away"));
    const keeper = createSessionKeeper({
      store: { ...store, write },
      learn: () => undefined,
      ...{ idleMs: () => 60_000, isShared: false, hasDuties: false, now: Date.now, log },
    });
    keeper.keep(turn("f", Date.now()));
    await keeper.flush();
    expect(log.debug).toHaveBeenCalledOnce();
    await keeper.flush();
    expect((await store.since(0, 100)).some(({ session }) => session === "f")).toBe(true);
  });
});
