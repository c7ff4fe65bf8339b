// Stored responses and conversations on every store: what is kept, for whom, for how long, and that it is sealed.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type {
  ChainLink,
  ConversationStore,
  JsonItem,
  OwnedId,
  ResponseStore,
  ResponseUpkeepStore,
  StoredResponse,
} from "../../src/core/responses/stored.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { createSealedContent, type UnreadableRow } from "../../src/store/responses/content.ts";
import { createConversationStore } from "../../src/store/responses/conversations.ts";
import { createResponseStore } from "../../src/store/responses/responses.ts";
import { createResponseUpkeepStore } from "../../src/store/responses/upkeep.ts";
import { createSealer } from "../../src/store/secret/seal.ts";
import { describeStores } from "../support/stores/stores.ts";

const CANARY = "the canary sings in the mine";
/** More than any test here stores. */
const MUCH = 1024 * 1024;
const SECRET = Buffer.from("a secret for tests only");

interface Process {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly upkeep: ResponseUpkeepStore;
  readonly unreadable: UnreadableRow[];
}

function createProcess(db: Db, owner: string, secret = SECRET): Process {
  const unreadable: UnreadableRow[] = [];
  const sealed = createSealedContent(createSealer(secret, "responses"), {
    onUnreadable: (row) => unreadable.push(row),
  });
  return {
    responses: createResponseStore(db, sealed, owner),
    conversations: createConversationStore(db, sealed),
    upkeep: createResponseUpkeepStore(db, owner),
    unreadable,
  };
}

function message(id: string, words = CANARY): JsonItem {
  return { type: "message", id, role: "user", content: [{ type: "input_text", text: words }] };
}

function response(id: string, more: Partial<StoredResponse> = {}): StoredResponse {
  return {
    accountId: "ada",
    id,
    parentId: null,
    status: "completed",
    isBackground: false,
    createdAtMs: 1_000,
    content: {
      input: [message(`msg_${id}_in`)],
      response: { id, object: "response", output: [message(`msg_${id}_out`, `answer of ${id}`)] },
      events: null,
    },
    ...more,
  };
}

await describeStores("responses", ({ url }) => {
  let db: Db;
  let here: Process;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    here = createProcess(db, "process_here");
  });
  afterAll(() => db.close());

  const ada = (id: string) => ({ accountId: "ada", id });
  const eve = (id: string) => ({ accountId: "eve", id });

  /** The links as they are checked, and the ids of the items. */
  async function chainOf(
    name: OwnedId,
    max = 10,
  ): Promise<{ readonly links: readonly ChainLink[]; readonly texts: readonly (string | null)[] }> {
    let links: readonly ChainLink[] = [];
    const texts: (string | null)[] = [];
    const check = (found: readonly ChainLink[]): void => {
      links = found;
    };
    for await (const items of here.responses.chain(name, { max, check })) {
      texts.push(...(items === null ? [null] : items.map(({ id }) => String(id))));
    }
    return { links, texts };
  }

  test("a response comes back as it was stored, for its account only", async () => {
    await here.responses.insert(response("resp_1"), null);
    expect(await here.responses.find(ada("resp_1"))).toEqual(response("resp_1"));
    expect(await here.responses.find(eve("resp_1"))).toBeNull();
    expect(await chainOf(eve("resp_1"))).toEqual({ links: [], texts: [] });
    expect(await here.responses.items("eve", ["msg_resp_1_in"], MUCH)).toEqual(new Map());
    expect(await here.responses.remove(eve("resp_1"))).toBe(false);
    expect(await here.responses.find(ada("resp_1"))).not.toBeNull();
  });

  test("a chain is read through its parents, bounded, and opened only after its links were checked", async () => {
    await here.responses.insert(response("resp_a"), null);
    await here.responses.insert(response("resp_b", { parentId: "resp_a" }), null);
    await here.responses.insert(response("resp_c", { parentId: "resp_b" }), null);
    const { links, texts } = await chainOf(ada("resp_c"));
    expect(links.map(({ id }) => id)).toEqual(["resp_c", "resp_b", "resp_a"]);
    expect(links[0]).toEqual({ id: "resp_c", parentId: "resp_b", status: "completed", bytes: expect.any(Number) });
    expect(texts).toEqual(["resp_a", "resp_b", "resp_c"].flatMap((id) => [`msg_${id}_in`, `msg_${id}_out`]));
    expect((await chainOf(ada("resp_c"), 2)).links.map(({ id }) => id)).toEqual(["resp_c", "resp_b"]);
    // What cannot be opened is found only when it is opened.
    await db.query("UPDATE responses SET content = 'nonsense' WHERE id = 'resp_a'");
    const refuse = (): never => {
      throw new Error("too large");
    };
    const refused = here.responses.chain(ada("resp_c"), { max: 10, check: refuse });
    await expect(refused.next()).rejects.toThrow("too large");
    expect(here.unreadable).toEqual([]);
    expect((await chainOf(ada("resp_c"))).texts[0]).toBeNull();
    expect(here.unreadable.splice(0)).toEqual([{ table: "responses", ...ada("resp_a") }]);
  });

  test("a long chain is read piece by piece, in its order", async () => {
    const long = "x".repeat(1_500_000);
    for (let turn = 0; turn < 6; turn += 1) {
      const parentId = turn === 0 ? null : `resp_long${turn - 1}`;
      const made = response(`resp_long${turn}`, { parentId });
      const input = [message(`msg_long${turn}`, long)];
      await here.responses.insert({ ...made, content: { ...made.content, input } }, null);
    }
    const { texts } = await chainOf(ada("resp_long5"));
    expect(texts.filter((id) => id?.startsWith("msg_long"))).toEqual([0, 1, 2, 3, 4, 5].map((n) => `msg_long${n}`));
  });

  test("a chain with a deleted link ends there", async () => {
    await here.responses.insert(response("resp_d"), null);
    await here.responses.insert(response("resp_e", { parentId: "resp_d" }), null);
    await here.responses.insert(response("resp_f", { parentId: "resp_e" }), null);
    // A deleted link leaves a chain that ends with a parent that is not there.
    expect(await here.responses.remove(ada("resp_e"))).toBe(true);
    expect((await chainOf(ada("resp_f"))).links).toMatchObject([{ id: "resp_f", parentId: "resp_e" }]);
    expect(await here.responses.remove(ada("resp_e"))).toBe(false);
  });

  test("items are found by id, in responses and in conversations", async () => {
    await here.responses.insert(response("resp_items"), null);
    await here.conversations.create({ ...ada("conv_items"), createdAtMs: 1, metadata: {} }, [message("msg_conv")]);
    const found = await here.responses.items("ada", ["msg_resp_items_out", "msg_conv", "msg_nowhere"], MUCH);
    expect([...(found?.keys() ?? [])].sort()).toEqual(["msg_conv", "msg_resp_items_out"]);
    expect(found?.get("msg_resp_items_out")).toEqual(message("msg_resp_items_out", "answer of resp_items"));
    await here.responses.remove(ada("resp_items"));
    expect([...((await here.responses.items("ada", ["msg_resp_items_out"], MUCH))?.keys() ?? ["none"])]).toEqual([]);
  });

  test("an item belongs to the response that had it first, and is found as long as that is there", async () => {
    const item = message("msg_resp_first_out", "answer of resp_first");
    const keys = async (...ids: string[]) => [...((await here.responses.items("ada", ids, MUCH))?.keys() ?? ["none"])];
    const refer = (id: string) => {
      const referring = response(id);
      const input = [...referring.content.input, item];
      return here.responses.insert({ ...referring, content: { ...referring.content, input } }, null);
    };
    await here.responses.insert(response("resp_first"), null);
    await refer("resp_second");
    await refer("resp_third");
    await here.responses.remove(ada("resp_third"));
    expect(await keys("msg_resp_first_out")).toEqual(["msg_resp_first_out"]);
    await here.responses.remove(ada("resp_first"));
    expect(await keys("msg_resp_first_out")).toEqual([]);
    // Another item of the response that holds a copy does not bring it back.
    expect(await keys("msg_resp_first_out", "msg_resp_second_out")).toEqual(["msg_resp_second_out"]);
  });

  test("a background response ends once: finished, cancelled or given up", async () => {
    const running = response("resp_run", { status: "in_progress", isBackground: true });
    await here.responses.insert(running, null);
    expect(await here.upkeep.stopped([ada("resp_run")])).toEqual([]);
    expect(await here.responses.finish({ ...running, status: "completed" }, null)).toBe(true);
    expect(await here.responses.find(ada("resp_run"))).toMatchObject({ status: "completed" });
    expect(await here.responses.finish({ ...running, status: "failed" }, null)).toBe(false);

    await here.responses.insert({ ...running, id: "resp_stop" }, null);
    await here.responses.cancel(ada("resp_stop"));
    expect(await here.upkeep.stopped([ada("resp_stop")])).toEqual([ada("resp_stop")]);
    expect(await here.responses.finish({ ...running, id: "resp_stop", status: "completed" }, null)).toBe(false);
    expect(await here.responses.find(ada("resp_stop"))).toMatchObject({ status: "cancelled" });
    await here.responses.cancel(ada("resp_run"));
    expect(await here.responses.find(ada("resp_run"))).toMatchObject({ status: "completed" });
  });

  test("what a dead process left in progress has failed; a living one keeps its own", async () => {
    const running = response("resp_left", { status: "in_progress", isBackground: true });
    await createProcess(db, "process_dead").responses.insert(running, null);
    await createProcess(db, "process_alive").responses.insert({ ...running, id: "resp_alive" }, null);
    await here.responses.insert({ ...running, id: "resp_own" }, null);
    await createLedgerStore(db, "process_alive").beat();
    expect(await here.upkeep.failAbandoned()).toBe(1);
    expect(await here.responses.find(ada("resp_left"))).toMatchObject({ status: "failed" });
    expect(await here.responses.find(ada("resp_alive"))).toMatchObject({ status: "in_progress" });
    await db.query("DELETE FROM processes WHERE id = 'process_alive'");
    expect(await here.upkeep.failAbandoned()).toBe(1);
    expect(await here.responses.find(ada("resp_own"))).toMatchObject({ status: "in_progress" });
  });

  test("of appends at once, only one passes the limit of a conversation", async () => {
    const conv = ada("conv_crowded");
    await here.conversations.create({ ...conv, createdAtMs: 5, metadata: {} }, []);
    const large = (n: number): JsonItem => message(`msg_large_${n}`, "z".repeat(MUCH / 4));
    const appends = Array.from({ length: 12 }, (_, n) => here.conversations.append(conv, [large(n)], MUCH));
    expect((await Promise.all(appends)).sort()).toEqual([...Array(4).fill("added"), ...Array(8).fill("full")]);
    expect(await here.conversations.append(conv, [message("msg_small")], MUCH)).toBe("full");
    expect(await here.conversations.remove(conv)).toBe(true);
  });

  test("what is small when sealed counts as large as it is when opened", async () => {
    const conv = ada("conv_repeating");
    const item = message("msg_repeating", "z".repeat(MUCH));
    await here.conversations.create({ ...conv, createdAtMs: 5, metadata: {} }, [item]);
    expect(await here.conversations.append(conv, [message("msg_more")], MUCH)).toBe("full");
    expect(await here.conversations.append(conv, [message("msg_more")], 2 * MUCH)).toBe("added");
    expect(await here.responses.items("ada", ["msg_repeating"], MUCH)).toBeNull();
    expect((await here.responses.items("ada", ["msg_repeating"], 2 * MUCH))?.get("msg_repeating")).toEqual(item);
    expect(await here.conversations.remove(conv)).toBe(true);
  });

  test("a conversation: create, update, append, list, remove", async () => {
    const conv = ada("conv_1");
    await here.conversations.create({ ...conv, createdAtMs: 5, metadata: { topic: "birds" } }, [message("msg_1")]);
    expect(await here.conversations.find(conv)).toEqual({ ...conv, createdAtMs: 5, metadata: { topic: "birds" } });
    expect(await here.conversations.find(eve("conv_1"))).toBeNull();
    expect(await here.conversations.update(conv, { topic: "mines" })).toBe(true);
    expect(await here.conversations.update(eve("conv_1"), {})).toBe(false);
    expect(await here.conversations.append(conv, [message("msg_2"), message("msg_3")], MUCH)).toBe("added");
    expect(await here.conversations.append(eve("conv_1"), [message("msg_9")], MUCH)).toBe("missing");
    const ids = async (page: object) =>
      (await here.conversations.list(conv, { after: null, isNewestFirst: false, limit: 10, ...page }))?.map(
        ({ id }) => id,
      );
    expect(await ids({})).toEqual(["msg_1", "msg_2", "msg_3"]);
    expect(await ids({ isNewestFirst: true, limit: 2 })).toEqual(["msg_3", "msg_2"]);
    expect(await ids({ isNewestFirst: true, after: "msg_2" })).toEqual(["msg_1"]);
    expect(await ids({ after: "msg_1" })).toEqual(["msg_2", "msg_3"]);
    expect(await ids({ after: "msg_none" })).toBeUndefined();
    expect(await ids({ only: "msg_2" })).toEqual(["msg_2"]);
    expect(await ids({ only: "msg_none" })).toEqual([]);
    expect(await here.conversations.removeItem(conv, "msg_2")).toBe(true);
    expect(await here.conversations.removeItem(conv, "msg_2")).toBe(false);
    expect(await ids({})).toEqual(["msg_1", "msg_3"]);
    expect(await here.conversations.remove(eve("conv_1"))).toBe(false);
    expect(await here.conversations.remove(conv)).toBe(true);
    expect(await here.conversations.list(conv, { after: null, isNewestFirst: false, limit: 1 })).toBeNull();
  });

  test("responses that end at once lose no items, and each one's items stay together", async () => {
    await here.conversations.create({ ...ada("conv_many"), createdAtMs: 1, metadata: {} }, []);
    const turns = Array.from({ length: 8 }, (_, turn) => turn);
    await Promise.all(
      turns.map((turn) =>
        here.responses.insert(response(`resp_turn${turn}`), {
          conversationId: "conv_many",
          items: ["in", "out"].map((part) => message(`msg_${turn}_${part}`)),
        }),
      ),
    );
    const page = { after: null, isNewestFirst: false, limit: 100 };
    const ids = (await here.conversations.list(ada("conv_many"), page))?.map(({ id }) => String(id)) ?? [];
    expect(ids).toHaveLength(16);
    for (let at = 0; at < 16; at += 2) expect(ids[at + 1]).toBe(ids[at]?.replace("_in", "_out"));
  });

  test("a response is stored although its conversation was deleted meanwhile", async () => {
    const addition = { conversationId: "conv_gone", items: [message("msg_x")] };
    await here.responses.insert(response("resp_gone"), addition);
    expect(await here.responses.find(ada("resp_gone"))).not.toBeNull();
    await here.responses.insert(response("resp_gone2", { status: "in_progress" }), null);
    expect(await here.responses.finish(response("resp_gone2"), addition)).toBe(true);
  });

  test("old and oversized: the oldest go first, and what is in progress stays", async () => {
    const of = (id: string, createdAtMs: number) => response(id, { accountId: "old", createdAtMs });
    for (const [index, id] of ["resp_o1", "resp_o2", "resp_o3"].entries()) {
      await here.responses.insert(of(id, 10_000 + index), null);
    }
    await here.responses.insert({ ...of("resp_o0", 1), status: "in_progress", isBackground: true }, null);
    await here.conversations.create({ accountId: "old", id: "conv_o", createdAtMs: 10_001, metadata: {} }, []);
    const left = async () => {
      const names = ["resp_o0", "resp_o1", "resp_o2", "resp_o3"].map((id) => ({ accountId: "old", id }));
      const found = await Promise.all(names.map((name) => here.responses.find(name)));
      return found.flatMap((each) => (each === null ? [] : [each.id]));
    };
    const [row] = await db.query("SELECT SUM(bytes) AS bytes FROM responses WHERE account_id = 'old'");
    expect(await here.upkeep.oversized(Number(row?.bytes) - 1)).toContain("old");
    expect(await here.upkeep.oversized(1_000_000_000)).toEqual([]);
    const [conversation] = await db.query("SELECT bytes FROM conversations WHERE account_id = 'old'");
    expect(await here.upkeep.trim("old", Number(row?.bytes) + Number(conversation?.bytes) - 1)).toBe(1);
    expect(await left()).toEqual(["resp_o0", "resp_o2", "resp_o3"]);
    expect(await here.upkeep.deleteBefore(10_002, 1_000)).toBeGreaterThanOrEqual(1);
    expect(await left()).toEqual(["resp_o0", "resp_o3"]);
    // Created long ago and used just now: an append keeps a conversation.
    expect(await here.conversations.find({ accountId: "old", id: "conv_o" })).not.toBeNull();
    expect(await here.upkeep.trim("old", 0)).toBe(2);
    expect(await left()).toEqual(["resp_o0"]);
    const [orphans] = await db.query("SELECT COUNT(*) AS count FROM response_items WHERE response_id = 'resp_o1'");
    expect(Number(orphans?.count)).toBe(0);
  });

  test("no clear text is in the tables", async () => {
    await here.responses.insert(response("resp_canary"), null);
    await here.conversations.create({ ...ada("conv_canary"), createdAtMs: 1, metadata: { note: CANARY } }, [
      message("msg_canary"),
    ]);
    for (const table of ["responses", "response_items", "conversations", "conversation_items"]) {
      const rows = await db.query(`SELECT * FROM ${table}`);
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain("canary sings");
    }
  });

  test("a row that was changed, moved or sealed with another secret counts as missing, and is reported", async () => {
    await here.responses.insert(response("resp_moved"), null);
    await here.responses.insert(response("resp_tampered", { parentId: "resp_moved" }), null);
    const stranger = createProcess(db, "process_stranger", Buffer.from("another secret"));
    expect(await stranger.responses.find(ada("resp_moved"))).toBeNull();
    expect(stranger.unreadable).toEqual([{ table: "responses", ...ada("resp_moved") }]);
    await db.query("UPDATE responses SET account_id = 'eve' WHERE id = 'resp_moved'");
    expect(await here.responses.find(eve("resp_moved"))).toBeNull();
    const [row] = await db.query("SELECT content FROM responses WHERE id = 'resp_tampered'");
    const content = String(row?.content);
    const changed = content.slice(0, -1) + (content.endsWith("A") ? "B" : "A");
    await db.query("UPDATE responses SET content = $1 WHERE id = 'resp_tampered'", [
      `${content.slice(0, 20)}${content[20] === "A" ? "B" : "A"}${changed.slice(21)}`,
    ]);
    expect(await here.responses.find(ada("resp_tampered"))).toBeNull();
    expect((await chainOf(ada("resp_tampered"))).texts).toEqual([null]);
    expect(here.unreadable.map(({ id }) => id)).toEqual(["resp_moved", "resp_tampered", "resp_tampered"]);
  });
});
