// Records of requests on every store: what goes in comes out, filters and totals agree with plain counting, and a batch is
// written once.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { Decision } from "../../src/core/decision.ts";
import type { RequestFilter, RequestLog, UsageLog, UsageTotals } from "../../src/core/requests/log.ts";
import {
  answeredAtOf,
  failedProvidersOf,
  isFailed,
  type RequestRecord,
  triedOf,
} from "../../src/core/requests/records.ts";
import { UniqueViolation } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { createToolCallLog } from "../../src/store/requests/tool-call-tallies.ts";
import { fc } from "../support/property.ts";
import { createRecordStore, makeRecord, NOON, variedRecord, type WholeRecordStore } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const COUNT = 400;
const HOUR = 3_600_000;
const PAGE = { limit: 50, after: null };

await describeStores("request records", ({ url }) => {
  let db: Db;
  let store: WholeRecordStore;
  let log: RequestLog;
  let usage: UsageLog;
  const varied = Array.from({ length: COUNT }, (_, n) => variedRecord(n));
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createRecordStore(db);
    log = createRequestLog(db);
    usage = createUsageLog(db);
    await store.write(varied.slice(0, 150));
    await store.write(varied.slice(150));
  });
  afterAll(() => db.close());

  describe("one request", () => {
    test("comes out as it went in, found by either id", async () => {
      const record = varied[40] as RequestRecord;
      const stored = await log.find("default", record.id);
      expect(stored?.summary).toMatchObject({
        id: record.id,
        requestId: record.requestId,
        keyId: "key_0",
        atMs: record.atMs,
        tier: "NANO",
        classifiedTier: "SIMPLE",
        model: "model-5",
        provider: "mill",
        buckets: { input: 10, cacheRead: 3, cacheWrite: 2, output: 20 },
        charge: 7n ** 4n,
        baseline: 9_000n,
      });
      const { measures: _measures, adjustments: _adjustments, ...decision } = record.decision as Decision;
      expect(stored?.detail).toEqual({
        decision,
        cascade: null,
        attempts: record.attempts,
        hold: 5_000n,
        cost: { price: record.cost?.price, baselineModel: "beta", markupPpm: 50_000, holdId: "hold" },
        features: { messages: 1, score: 0.42, "measures.words": 7 },
        toolCalls: null,
        errorMessage: null,
        operatorMessage: null,
      });
      expect(stored).toMatchObject({ content: { answer: record.content?.answer }, feedback: null });
      expect((await log.find("default", varied[41]?.id ?? ""))?.content).toBeNull();
      expect(await log.find("default", record.requestId)).toEqual(stored);
    });

    test("keeps its labels, and those without have none", async () => {
      const labels = { user: "ada 🚀", tags: { team: "search", "': --": "检索 🚀" }, session: "s_1" };
      const record = makeRecord({ accountId: "labelled", ...labels, sessionState: "stayed" });
      await store.write([record]);
      const { summary } = (await log.find("labelled", record.id)) ?? {};
      expect(summary).toMatchObject({ ...labels, sessionState: "stayed" });
      const rows = await db.query("SELECT name, value FROM request_tags WHERE id = $1 ORDER BY name", [record.id]);
      expect(rows.map(({ name, value }) => [name, value])).toEqual([
        ["': --", "检索 🚀"],
        ["team", "search"],
      ]);
      const { summary: plain } = (await log.find("default", varied[41]?.id ?? "")) ?? {};
      expect(plain).toMatchObject({ user: null, tags: {}, session: null, sessionState: null });
    });

    test("of another account is not there", async () => {
      const other = varied[49] as RequestRecord;
      expect(other.accountId).toBe("other");
      expect(await log.find("default", other.id)).toBeNull();
      expect(await log.find("default", other.requestId)).toBeNull();
      expect((await log.find("other", other.id))?.summary.id).toBe(other.id);
    });

    test("whose request id was used twice is the newest by that id, and both by their own", async () => {
      const [first, second] = [1, 2].map((n) => makeRecord({ requestId: "twice", accountId: "twins", atMs: NOON + n }));
      await store.write([first, second] as RequestRecord[]);
      expect((await log.find("twins", "twice"))?.summary.id).toBe(second?.id);
      expect((await log.find("twins", first?.id as string))?.summary.id).toBe(first?.id);
    });

    test("keeps awkward content and amounts whole", async () => {
      const content = {
        request: 'a "quoted" \\ line\nand \u{1f600} and NUL \u0000 and half \ud83d',
        isRequestCut: true,
        answer: "Ünï 漢字",
        isAnswerCut: false,
      };
      const written = { ...content, prompt: content.request, preview: "half \ud83d" };
      const cost = { ...(makeRecord().cost as NonNullable<RequestRecord["cost"]>), charge: 9_007_199_254_740_993n };
      const record = makeRecord({ content: written, cost, accountId: "awkward" });
      await store.write([record]);
      const stored = await log.find("awkward", record.id);
      expect(stored?.summary.charge).toBe(9_007_199_254_740_993n);
      expect(stored?.content).toEqual({
        ...content,
        request: 'a "quoted" \\ line\nand \u{1f600} and NUL \ufffd and half \ufffd',
      });
    });
  });

  describe("the log", () => {
    const filters: readonly [string, Partial<RequestFilter>, (record: RequestRecord) => boolean][] = [
      ["nothing", {}, () => true],
      ["a tier", { tier: "COMPLEX" }, ({ decision }) => decision?.tier === "COMPLEX"],
      ["no tier", { tier: null }, ({ decision }) => decision === null],
      ["a model", { model: "model-3" }, ({ answeredBy }) => answeredBy?.model === "model-3"],
      ["no model", { model: null }, ({ answeredBy }) => answeredBy === null],
      ["a key", { keyId: "key_4" }, ({ keyId }) => keyId === "key_4"],
      ["a category", { category: "math" }, ({ decision }) => decision?.category === "math"],
      ["a status", { status: { kind: "exact", statuses: [402] } }, ({ status }) => status === 402],
      ["a good status", { status: { kind: "exact", statuses: [200] } }, ({ status }) => status === 200],
      ["a class", { status: { kind: "class", hundreds: 5 } }, ({ status }) => status >= 500],
      ["a good class", { status: { kind: "class", hundreds: 2 } }, ({ status }) => status === 200],
      ["errors", { status: { kind: "error" } }, isFailed],
      ["fallbacks", { isFallback: true }, ({ isFallback }) => isFallback],
      ["no fallbacks", { isFallback: false }, ({ isFallback }) => !isFallback],
      ["from a time", { fromMs: NOON + 300_000 }, ({ atMs }) => atMs >= NOON + 300_000],
      ["up to a time", { toMs: NOON + 20_000 }, ({ atMs }) => atMs < NOON + 20_000],
      ["a request id", { requestIdStart: (varied[7] as RequestRecord).requestId }, ({ id }) => id === varied[7]?.id],
      ["the beginning of every id", { requestIdStart: "req_" }, () => true],
      [
        "several",
        { tier: "LIGHT", keyId: "key_2", status: { kind: "error" } },
        (record) => record.decision?.tier === "LIGHT" && record.keyId === "key_2" && isFailed(record),
      ],
    ];

    test.each(filters)("filtered by %s is what plain filtering gives, newest first", async (_what, filter, matches) => {
      const expected = varied.filter((record) => record.accountId === "default" && matches(record)).map(({ id }) => id);
      const found = await log.list({ accountId: "default", ...filter }, { limit: 500, after: null });
      expect(found.map(({ id }) => id)).toEqual(expected.reverse());
    });

    test("comes in pages that neither repeat nor leave out", async () => {
      const ids: string[] = [];
      let after: string | null = null;
      do {
        const page = await log.list({ accountId: "default" }, { limit: 37, after });
        ids.push(...page.map(({ id }) => id));
        after = page.length < 37 ? null : (page.at(-1)?.id ?? null);
      } while (after !== null);
      expect(ids).toEqual([...new Set(ids)].sort().reverse());
      expect(ids).toHaveLength(varied.filter(({ accountId }) => accountId === "default").length);
    });
  });

  describe("totals", () => {
    const sum = (records: readonly RequestRecord[]): Partial<UsageTotals> => ({
      requests: records.length,
      errors: records.filter(isFailed).length,
      fallbacks: records.filter(({ isFallback }) => isFallback).length,
      answered: { ...answeredOf(records), unknown: 0 },
      charge: records.reduce((total, { cost }) => total + (cost?.charge ?? 0n), 0n),
      baseline: records.reduce((total, { cost }) => total + (cost?.baseline ?? 0n), 0n),
      latencyMsSum: records.reduce((total, { latencyMs }) => total + latencyMs, 0),
    });
    const answeredOf = (records: readonly RequestRecord[]) => {
      const places = records.map((record) => answeredAtOf(triedOf(record)));
      const countOf = (wanted: string): number => places.filter((at) => at === wanted).length;
      return { first: countOf("first"), second: countOf("second"), later: countOf("later"), none: countOf("none") };
    };
    const own = varied.filter(({ accountId }) => accountId === "default");
    const range = { accountId: "default", fromMs: NOON, toMs: NOON + COUNT * 1_000 };

    test("over the range are what plain adding gives", async () => {
      const { rows } = await usage.read({ ...range, step: "total", group: null });
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ ...sum(own), startMs: NOON, group: null });
      expect(rows[0]?.latencies.reduce((a, b) => a + b)).toBe(own.length);
      expect(rows[0]?.firstContents.reduce((a, b) => a + b)).toBe(
        own.filter(({ firstContentMs }) => firstContentMs !== null).length,
      );
    });

    test.each([
      ["model", (record: RequestRecord) => record.answeredBy?.model ?? null],
      ["tier", (record: RequestRecord) => record.decision?.tier ?? null],
      ["key", (record: RequestRecord) => record.keyId],
      ["status", (record: RequestRecord) => String(record.status)],
    ] as const)("by %s are, too", async (group, groupOf) => {
      for (const step of ["hour", "day"] as const) {
        const { rows } = await usage.read({ ...range, step, group });
        const names = new Set(own.map(groupOf));
        expect(new Set(rows.map((row) => row.group))).toEqual(names);
        for (const row of rows) {
          const counted = own.filter((record) => groupOf(record) === row.group);
          expect(row).toMatchObject(sum(counted));
          const sorted = (times: readonly number[] | undefined) => [...(times ?? [])].sort((a, b) => a - b);
          expect(sorted(row.times?.latenciesMs)).toEqual(sorted(counted.map(({ latencyMs }) => latencyMs)));
          expect(sorted(row.times?.firstContentsMs)).toEqual(
            sorted(counted.flatMap(({ firstContentMs }) => firstContentMs ?? [])),
          );
        }
      }
    });

    test("say which whole hours or days they cover, and nothing of other times", async () => {
      const fromMs = NOON + 90_000;
      const hourly = await usage.read({ ...range, fromMs, toMs: fromMs + 1, step: "hour", group: null });
      expect([hourly.fromMs, hourly.toMs]).toEqual([NOON, NOON + HOUR]);
      const later = await usage.read({
        ...range,
        fromMs: NOON + HOUR,
        toMs: NOON + 9 * HOUR,
        step: "hour",
        group: null,
      });
      expect(later.rows).toEqual([]);
      const none = await usage.read({ ...range, accountId: "nobody", step: "total", group: null });
      expect(none.rows).toEqual([]);
    });

    test("come without the spread of latencies when that is not asked for, and with how long the gateway took", async () => {
      const [whole] = (await usage.read({ ...range, step: "total", group: null })).rows;
      const [plain] = (await usage.read({ ...range, step: "total", group: null, hasSpread: false })).rows;
      expect(plain).toEqual({ ...whole, latencies: [], firstContents: [], overheads: [], times: null });
      const known = own.flatMap(({ overheadMs }) => overheadMs ?? []);
      expect(whole?.overheads.reduce((a, b) => a + b)).toBe(known.length);
      expect(whole?.overheadMsSum).toBe(known.reduce((a, b) => a + b));
    });

    test("say how many requests each provider failed, by step and of a key", async () => {
      const countOf = (records: readonly RequestRecord[], provider: string): number =>
        records.filter((record) => failedProvidersOf(record).includes(provider)).length;
      const providers = ["Lab", "lab", "mill"];
      for (const step of ["hour", "day", "total"] as const) {
        const { rows } = await usage.failures({ ...range, step });
        const expected = providers.map((provider) => [provider, countOf(own, provider)]);
        expect(rows.map(({ provider, requests }) => [provider, requests]).sort()).toEqual(expected.sort());
      }
      const keyId = own.find((record) => failedProvidersOf(record).length > 1)?.keyId as string;
      const { rows } = await usage.failures({ ...range, step: "total", keyId });
      const ofKey = own.filter((record) => record.keyId === keyId);
      expect(rows.find(({ provider }) => provider === "lab")?.requests).toBe(countOf(ofKey, "lab"));
      expect((await usage.failures({ ...range, step: "hour", accountId: "nobody" })).rows).toEqual([]);
    });

    test("claim nothing of requests from before tries were counted", async () => {
      const write = () => store.write([makeRecord({ accountId: "before" })]);
      await write();
      const columns = ["first", "second", "later", "none", "known"].map((name) => `answered_${name} = 0`);
      await db.query(`UPDATE request_rollups SET ${columns.join(", ")} WHERE account_id = 'before'`);
      await write();
      const [row] = (await usage.read({ ...range, accountId: "before", step: "hour", group: null })).rows;
      expect(row).toMatchObject({ requests: 2, answered: { first: 1, second: 0, later: 0, none: 0, unknown: 1 } });
    });

    test("narrow to a key, a model or a tier", async () => {
      const { rows } = await usage.read({ ...range, step: "total", group: null, keyId: "key_3", tier: "STANDARD" });
      const expected = own.filter(({ keyId, decision }) => keyId === "key_3" && decision?.tier === "STANDARD");
      expect(rows[0]).toMatchObject(sum(expected));
    });
  });

  test("a batch is written whole or not at all, and not twice", async () => {
    const batch = [1, 2].map(() => makeRecord({ accountId: "once" }));
    await store.write(batch);
    await expect(store.write([makeRecord({ accountId: "once" }), ...batch])).rejects.toBeInstanceOf(UniqueViolation);
    expect(await log.list({ accountId: "once" }, PAGE)).toHaveLength(2);
    const query = { accountId: "once", fromMs: NOON, toMs: NOON + HOUR, step: "total", group: null } as const;
    expect((await usage.read(query)).rows[0]?.requests).toBe(2);
  });

  test("two writers at once lose nothing", async () => {
    const batches = Array.from({ length: 6 }, () =>
      Array.from({ length: 20 }, () => makeRecord({ accountId: "race" })),
    );
    await Promise.all(batches.map((batch) => store.write(batch)));
    const query = { accountId: "race", fromMs: NOON, toMs: NOON + HOUR, step: "total", group: null } as const;
    expect((await usage.read(query)).rows[0]?.requests).toBe(120);
  });

  test("a mark is kept, replaced, and outlives the request with its features; totals do as well", async () => {
    const record = makeRecord({ accountId: "old", atMs: NOON - 90 * 24 * HOUR, features: { messages: 3 } });
    await store.write([record]);
    await log.mark("old", record.id, { tier: "NANO", note: "too dear", atMs: 5 });
    await log.mark("old", record.id, { tier: "COMPLEX", note: null, atMs: 6 });
    expect((await log.find("old", record.id))?.feedback).toEqual({ tier: "COMPLEX", note: null, atMs: 6 });
    await log.mark("stranger", record.id, { tier: "NANO", note: null, atMs: 7 });
    const said = { score: 0.25, tier: null, comment: "wrong", keyId: "key_1", atMs: 8 };
    await log.rate("old", record.id, said);
    await log.rate("stranger", record.id, { ...said, score: 1 });
    expect(await log.find("old", record.id)).toMatchObject({ feedback: { tier: "COMPLEX" }, appFeedback: said });
    expect(await store.deleteBefore(NOON - 24 * HOUR, 500)).toBe(1);
    expect(await log.find("old", record.id)).toBeNull();
    const [mark] = await db.query("SELECT * FROM request_feedback WHERE id = $1", [record.id]);
    expect(mark).toMatchObject({ tier: "COMPLEX", decided_tier: "LIGHT", features_json: '{"messages":3}' });
    const query = { accountId: "old", fromMs: record.atMs, toMs: record.atMs + 1, step: "hour", group: null } as const;
    expect((await usage.read(query)).rows[0]?.requests).toBe(1);
  });

  test("marks of all accounts are read newest first, page by page, without those that teach nothing", async () => {
    const records = ["one", "two", "one"].map((accountId) => makeRecord({ accountId, features: { score: 0.4 } }));
    const unread = makeRecord({ accountId: "two", decision: null, features: null });
    await store.write([...records, unread]);
    for (const { id, accountId } of [...records, unread]) {
      await log.mark(accountId, id, { tier: "COMPLEX", note: "secret", atMs: 9 });
    }
    const ids = [...records].reverse().map(({ id }) => id);
    const first = await log.marks({ limit: 2, after: null });
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await log.marks({ limit: 1, after: ids[1] ?? null });
    expect(rest).toMatchObject([
      { id: ids[2], tier: "COMPLEX", decidedTier: "LIGHT", features: { score: 0.4 }, atMs: 9 },
    ]);
    expect(JSON.stringify(first)).not.toContain("secret");
  });

  test("old records go in small steps, with everything of theirs, and nothing else goes", async () => {
    const content = { request: "q", isRequestCut: false, answer: "a", isAnswerCut: false, prompt: "", preview: "" };
    const old = Array.from({ length: 5 }, (_, n) => makeRecord({ accountId: "steps", atMs: 1_000 + n, content }));
    const young = makeRecord({ accountId: "steps" });
    await store.write([...old, young]);
    expect([await store.deleteBefore(NOON - HOUR, 2), await store.deleteBefore(NOON - HOUR, 2)]).toEqual([2, 2]);
    expect([await store.deleteBefore(NOON - HOUR, 2), await store.deleteBefore(NOON - HOUR, 2)]).toEqual([1, 0]);
    expect((await log.list({ accountId: "steps" }, PAGE)).map(({ id }) => id)).toEqual([young.id]);
    for (const table of ["request_details", "request_contents", "request_tags"]) {
      const rows = await db.query(`SELECT id FROM ${table} WHERE id < $1`, ["r0000001"]);
      expect(rows).toEqual([]);
    }
  });

  const toolDecision = (): NonNullable<RequestRecord["decision"]> => ({
    ...(makeRecord().decision as NonNullable<RequestRecord["decision"]>),
    toolScenario: "single",
  });
  const madeCalls = (accountId: string, calls: number, valid: number) =>
    makeRecord({ decision: toolDecision(), accountId, toolCalls: { calls, parsed: calls, known: calls, valid } });

  test("usable tool calls add up per account, model and scenario", async () => {
    const checks = fc.sample(
      fc.record({ calls: fc.integer({ min: 1, max: 5 }), parsed: fc.nat(5), known: fc.nat(5), valid: fc.nat(5) }),
      20,
    );
    const decision = toolDecision();
    const records = checks.map((toolCalls) => makeRecord({ decision, toolCalls, accountId: "tools" }));
    await store.write(records.slice(0, 10));
    await store.write([...records.slice(10), madeCalls("others", 3, 2)]);
    const total = (name: "calls" | "valid") => checks.reduce((sum, check) => sum + check[name], 0);
    const tallies = createToolCallLog(db);
    expect(await tallies.ofAccount("tools")).toEqual([
      expect.objectContaining({ model: "alpha", scenario: "single", calls: total("calls"), valid: total("valid") }),
    ]);
    expect(await tallies.ofAccount("others")).toEqual([expect.objectContaining({ calls: 3, valid: 2 })]);
    expect(await tallies.ofAccount("nobody")).toEqual([]);
    expect((await tallies.withAtLeast(4)).map(({ accountId }) => accountId)).toEqual(["tools"]);
  });

  test("of old tool calls ever less is left", async () => {
    await store.write([madeCalls("fading", 400, 0)]);
    const tallies = createToolCallLog(db);
    expect(await tallies.ofAccount("fading")).toEqual([expect.objectContaining({ calls: 400, valid: 0 })]);
    for (let batch = 0; batch < 8; batch++) await store.write([madeCalls("fading", 200, 200)]);
    const [left] = await tallies.ofAccount("fading");
    expect(left?.calls).toBeLessThanOrEqual(400);
    expect((left?.calls ?? 0) - (left?.valid ?? 0)).toBeLessThan(20);
  });

  test("among all accounts one counts for few calls, and none is enough to blame a model", async () => {
    const tallies = createToolCallLog(db);
    const sharedOf = async () => (await tallies.shared(10)).find(({ model }) => model === "shared");
    const answeredBy = { model: "shared", provider: "lab" };
    const write = (...records: RequestRecord[]) => store.write(records.map((record) => ({ ...record, answeredBy })));
    await write(madeCalls("loud", 300, 0), madeCalls("small", 4, 4), madeCalls("nearly-perfect", 300, 299));
    expect(await sharedOf()).toMatchObject({ scenario: "single", calls: 24, valid: 24 });
    await write(madeCalls("second", 20, 10));
    expect(await sharedOf()).toMatchObject({ calls: 34, valid: 29 });
  });
});
