// The audit log on both databases: whatever somebody changes behind its back is found, and nothing that was changed goes
// without an entry, whenever a process dies.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { AuditEntry } from "../../src/store/audit/entry.ts";
import { type AuditLog, createAuditLog, verifyAuditLog } from "../../src/store/audit/log.ts";
import { auditedDb, inScope } from "../../src/store/audit/scope.ts";
import { openDb } from "../../src/store/db.ts";
import { fc } from "../support/property.ts";
import { describeStores } from "../support/stores/stores.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 19);

function entry(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    ...{ atMs: NOW, actor: { kind: "user", name: "ada@example.com", accountId: null }, action: "changeKey" },
    ...{ object: "keys/key_1", accountId: "default", outcome: "done", address: "192.0.2.1", requestId: "req_1" },
    ...{ before: { name: "old" }, after: { name: "new" } },
    ...more,
  };
}

const EVERYTHING = {
  ...{ accountId: null, actor: null, action: null, object: null },
  ...{ fromMs: null, toMs: null, before: null, limit: 100 },
};
const TEXTS = ["actor", "actor_kind", "action", "object", "outcome", "hash"] as const;
const NULLABLE = ["actor_account", "account_id", "address", "request_id", "before_json", "after_json"] as const;

await describeStores("audit log", ({ url }) => {
  let db: Db;
  let log: AuditLog;
  let nowMs = NOW;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
  });
  afterAll(() => db.close());

  const setTriggers = async (isOn: boolean) => {
    if (db.kind === "postgres") {
      await db.query(`ALTER TABLE audit_log ${isOn ? "ENABLE" : "DISABLE"} TRIGGER USER`);
      return;
    }
    const found = await db.query("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_log'");
    if (!isOn) for (const { name } of found) await db.query(`DROP TRIGGER ${name}`);
    else {
      await db.query(
        "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'append-only'); END",
      );
    }
  };
  const empty = async () => {
    await setTriggers(false);
    await db.query("DELETE FROM audit_log");
    await db.query("DELETE FROM audit_pending");
    await db.query("DELETE FROM accounts");
    await db.query("UPDATE audit_head SET sequence = 0, hash = '', cut_sequence = 0, cut_hash = ''");
  };
  beforeEach(() => {
    nowMs = NOW;
    log = createAuditLog(db, { now: () => nowMs });
  });

  test("the database refuses changes and deletions", async () => {
    await log.append(entry());
    await expect(db.query("UPDATE audit_log SET actor = 'nobody'")).rejects.toThrow("append-only");
    await expect(db.query("DELETE FROM audit_log")).rejects.toThrow("append-only");
    expect(await verifyAuditLog(db)).toEqual({ entries: 1, problems: [] });
  });

  test("entries that are appended at once are one chain", async () => {
    await empty();
    await Promise.all(Array.from({ length: 40 }, (_, index) => log.append(entry({ object: `keys/${index}` }))));
    expect(await verifyAuditLog(db)).toEqual({ entries: 40, problems: [] });
    const found = await log.list(EVERYTHING);
    expect(found.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index));
  });

  test("texts that a database cannot store are kept so that the chain holds", async () => {
    await empty();
    await log.append(entry({ object: "a\u0000b\ud800", after: { text: "\u0000\ud800", many: "x".repeat(100_000) } }));
    expect((await verifyAuditLog(db)).problems).toEqual([]);
    expect((await log.list(EVERYTHING))[0]?.after).toEqual({ omittedBytes: expect.any(Number) });
  });

  test("a search finds parts of texts in any case, and one account", async () => {
    await empty();
    await log.append(entry({ object: "keys/100%_x" }));
    await log.append(entry({ action: "signIn", object: "session", accountId: null, atMs: NOW + 1 }));
    const find = async (more: object) => (await log.list({ ...EVERYTHING, ...more })).map(({ action }) => action);
    expect(await find({ actor: "ADA@" })).toEqual(["signIn", "changeKey"]);
    expect(await find({ action: "signin" })).toEqual(["signIn"]);
    expect(await find({ object: "100%_" })).toEqual(["changeKey"]);
    expect(await find({ object: "1%0" })).toEqual([]);
    expect(await find({ accountId: "default" })).toEqual(["changeKey"]);
    expect(await find({ fromMs: NOW + 1 })).toEqual(["signIn"]);
    expect(await find({ toMs: NOW + 1 })).toEqual(["changeKey"]);
    expect(await find({ before: 2 })).toEqual(["changeKey"]);
  });

  test("any edit, deletion and swap is found, and the first wrong entry is named", async () => {
    const length = 8;
    const change = fc.oneof(
      fc.record({
        kind: fc.constant("edit"),
        column: fc.constantFrom(...TEXTS),
        at: fc.integer({ min: 1, max: length }),
      }),
      fc.record({
        kind: fc.constant("empty"),
        column: fc.constantFrom(...NULLABLE),
        at: fc.integer({ min: 1, max: length }),
      }),
      fc.record({ kind: fc.constant("later"), at: fc.integer({ min: 1, max: length }) }),
      fc.record({ kind: fc.constant("delete"), at: fc.integer({ min: 1, max: length }) }),
      fc.record({ kind: fc.constant("swap"), at: fc.integer({ min: 1, max: length - 1 }) }),
      fc.record({ kind: fc.constant("add"), at: fc.constant(length + 1) }),
    );
    await empty();
    for (let index = 0; index < length; index += 1) {
      await log.append(entry({ atMs: NOW + index, actor: { kind: "user", name: `${index}`, accountId: "default" } }));
    }
    await db.query("DROP TABLE IF EXISTS kept_audit");
    await db.query("CREATE TABLE kept_audit AS SELECT * FROM audit_log");
    const swap = async (one: number, other: number) => {
      await db.query("UPDATE audit_log SET sequence = -1 WHERE sequence = $1", [one]);
      await db.query("UPDATE audit_log SET sequence = $1 WHERE sequence = $2", [one, other]);
      await db.query("UPDATE audit_log SET sequence = $1 WHERE sequence = -1", [other]);
    };
    await fc.assert(
      fc.asyncProperty(change, async (made) => {
        const { kind, at } = made;
        const column = "column" in made ? made.column : "";
        if (kind === "edit")
          await db.query(`UPDATE audit_log SET ${column} = ${column} || 'x' WHERE sequence = $1`, [at]);
        else if (kind === "empty") await db.query(`UPDATE audit_log SET ${column} = NULL WHERE sequence = $1`, [at]);
        else if (kind === "later")
          await db.query("UPDATE audit_log SET created_at = created_at + 1 WHERE sequence = $1", [at]);
        else if (kind === "delete") await db.query("DELETE FROM audit_log WHERE sequence = $1", [at]);
        else if (kind === "swap") await swap(at, at + 1);
        else {
          await db.query("UPDATE kept_audit SET sequence = sequence");
          await db.query(
            `INSERT INTO audit_log SELECT ${length + 1}, created_at, actor_kind, actor, actor_account, action, object, account_id, outcome, address, request_id, before_json, after_json, hash FROM kept_audit WHERE sequence = 1`,
          );
        }
        const { problems } = await verifyAuditLog(db);
        await db.query("DELETE FROM audit_log");
        await db.query("INSERT INTO audit_log SELECT * FROM kept_audit");
        expect(problems.join()).toMatch(new RegExp(`audit entry ${at}\\b`));
        expect((await verifyAuditLog(db)).problems).toEqual([]);
      }),
      { numRuns: 60 },
    );
    // The end of the log, and the anchor at its beginning.
    await db.query(
      "UPDATE audit_head SET cut_sequence = 3, cut_hash = (SELECT hash FROM audit_log WHERE sequence = 3)",
    );
    await db.query("DELETE FROM audit_log WHERE sequence <= 3");
    expect((await verifyAuditLog(db)).problems).toEqual([
      "audit entries up to 3 were taken away, not by the retention",
    ]);
  });

  test("the retention cuts whole days, and what stays can be verified", async () => {
    await empty();
    for (let day = 0; day < 5; day += 1) {
      for (let index = 0; index < 3; index += 1) await log.append(entry({ atMs: NOW + day * DAY_MS + index }));
    }
    nowMs = NOW + 5 * DAY_MS;
    // Less than a day is not worth an entry.
    expect(await log.deleteBefore(NOW + DAY_MS)).toBe(0);
    expect(await log.deleteBefore(NOW + 2 * DAY_MS)).toBe(6);
    expect(await verifyAuditLog(db)).toEqual({ entries: 10, problems: [] });
    expect((await log.list(EVERYTHING))[0]).toMatchObject({ action: "audit.cut", after: { sequence: 6 } });
    await log.append(entry());
    expect(await verifyAuditLog(db)).toEqual({ entries: 11, problems: [] });
    await db.query("UPDATE audit_head SET cut_hash = 'x'");
    expect((await verifyAuditLog(db)).problems[0]).toMatch(/audit entry 7 was changed/);
  });

  const account = "INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)";
  const waysToWrite: readonly (readonly [string, (audited: Db) => Promise<unknown>])[] = [
    ["a query", (audited) => audited.query(account, ["a"])],
    ["a batch", (audited) => audited.batch([{ sql: account, params: ["a"] }])],
    ["a batch at once", (audited) => audited.batchAtOnce([{ sql: account, params: ["a"] }])],
    ["a transaction", (audited) => audited.transaction((tx) => tx.query(account, ["a"]))],
    [
      "a reading before writing",
      (audited) =>
        audited.readThenWrite([{ sql: "SELECT 1" }], () => ({
          writes: [{ sql: account, params: ["a"] }],
          result: null,
        })),
    ],
  ];

  test.each(waysToWrite)("%s carries the note in its transaction, which a restart completes", async (_, write) => {
    await empty();
    const audited = auditedDb(db);
    // The process dies after the change, before its entry.
    await inScope(entry({ action: "createAccount" }), async () => {
      await audited.query("SELECT 1");
      await write(audited);
      await audited.query("UPDATE accounts SET name = 'b'");
    });
    expect(await db.query("SELECT id FROM audit_pending")).toHaveLength(1);
    expect(await log.recover()).toBe(0);
    nowMs += 61_000;
    const others = createAuditLog(db, { now: () => nowMs });
    await Promise.all([log.recover(), others.recover()]);
    expect((await log.list(EVERYTHING)).map(({ action }) => action)).toEqual(["createAccount"]);
    expect(await db.query("SELECT id FROM audit_pending")).toEqual([]);
  });

  test.each(waysToWrite)("%s that fails leaves no note", async (_, write) => {
    await empty();
    await db.query(account, ["a"]);
    await expect(inScope(entry(), () => write(auditedDb(db)))).rejects.toThrow();
    expect(await db.query("SELECT id FROM audit_pending")).toEqual([]);
  });

  test("a change is one entry, and a refusal is none", async () => {
    await empty();
    const audited = auditedDb(db);
    const lost: unknown[] = [];
    const change = (error: Error | null) => ({
      async make() {
        await audited.query("UPDATE accounts SET name = 'c'");
        if (error !== null) throw error;
        return 7;
      },
      describe: (result: number) => entry({ after: { result } }),
      isRefusal: (thrown: unknown) => thrown instanceof RangeError,
      onLost: (thrown: unknown) => lost.push(thrown),
    });
    expect(await log.during(entry(), change(null))).toBe(7);
    await expect(log.during(entry(), change(new RangeError("refused")))).rejects.toThrow("refused");
    expect(await db.query("SELECT id FROM audit_pending")).toEqual([]);
    // A fault after the change: the note stays, and the entry comes later.
    await expect(log.during(entry(), change(new Error("fault")))).rejects.toThrow("fault");
    expect(await db.query("SELECT id FROM audit_pending")).toHaveLength(1);
    expect((await log.list(EVERYTHING)).map(({ after }) => after)).toEqual([{ result: 7 }]);
    expect(lost).toEqual([]);
  });
});
