// Order and search of the log on every store: each order has every request once, and words are found in any language.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { RequestFilter, RequestLog, RequestSort } from "../../src/core/requests/log.ts";
import type { RequestRecord } from "../../src/core/requests/records.ts";
import { openDb } from "../../src/store/db.ts";
import { createExploreLog } from "../../src/store/requests/explore.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createRecordStore, makeRecord, NOON, variedRecord, type WholeRecordStore } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

/** Several pages of any size that is asked for here; many more are in requests-scale.test.ts. */
const COUNT = 600;
const DAY = 24 * 3_600_000;

await describeStores("order and search of the log", ({ url }) => {
  let db: Db;
  let store: WholeRecordStore;
  let log: RequestLog;
  const varied = Array.from({ length: COUNT }, (_, n) => variedRecord(n));
  const own = varied.filter(({ accountId }) => accountId === "default").toReversed();
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    store = createRecordStore(db);
    log = createRequestLog(db);
    for (let at = 0; at < COUNT; at += 500) await store.write(varied.slice(at, at + 500));
  });
  afterAll(() => db.close());

  const pages = async (
    filter: Omit<RequestFilter, "accountId">,
    limit: number,
    sort: RequestSort = "time",
    isAscending = false,
  ) => {
    const ids: string[] = [];
    for (let after: string | null = null; ; ) {
      const page = await log.list({ accountId: "default", ...filter }, { limit, after, sort, isAscending });
      ids.push(...page.map(({ id }) => id));
      if (page.length < limit) return ids;
      after = page.at(-1)?.id ?? null;
    }
  };
  const idsOf = (records: readonly RequestRecord[]): readonly string[] => records.map(({ id }) => id);

  const values: readonly [RequestSort, (record: RequestRecord) => number][] = [
    ["cost", ({ cost }) => (cost === null ? -1 : Number(cost.charge))],
    ["latency", ({ latencyMs }) => latencyMs],
    ["tokens", ({ cost }) => (cost === null ? 0 : 35)],
  ];
  test.each(values)("by %s, the largest first and of equals the newest", async (sort, numberOf) => {
    const sorted = (records: readonly RequestRecord[]) =>
      idsOf([...records].sort((a, b) => numberOf(b) - numberOf(a) || (a.id < b.id ? 1 : -1)));
    expect(await pages({}, 99, sort)).toEqual(sorted(own));
    expect(await pages({ tier: "NANO", tag: { name: "team", value: "team 3" } }, 7, sort)).toEqual(
      sorted(own.filter(({ decision, tags }) => decision?.tier === "NANO" && tags.team === "team 3")),
    );
    expect(await log.list({ accountId: "default" }, { limit: 5, after: "r0gone", sort })).toEqual([]);
  });
  test.each(values)("by %s, the smallest first, and what was not charged last", async (sort, numberOf) => {
    const place = (record: RequestRecord): number =>
      sort === "cost" && record.cost === null ? Number.POSITIVE_INFINITY : numberOf(record);
    const sorted = [...own].sort((a, b) => {
      const [first, second] = [place(a), place(b)];
      return first === second ? (a.id < b.id ? -1 : 1) : first - second;
    });
    expect(await pages({}, 99, sort, true)).toEqual(idsOf(sorted));
  });
  test("oldest first", async () => {
    expect(await pages({}, 99, "time", true)).toEqual(idsOf(own.toReversed()));
    const nano = own.filter(({ decision }) => decision?.tier === "NANO").toReversed();
    expect(await pages({ tier: "NANO" }, 7, "time", true)).toEqual(idsOf(nano));
  });

  const asked = (test: (prompt: string, answer: string) => boolean) => (record: RequestRecord) =>
    record.content !== null && test(record.content.prompt, record.content.answer);
  const searches: readonly [string, string, (record: RequestRecord) => boolean][] = [
    ["a word of the prompt", "weather", asked(() => true)],
    ["a word of the answer, in any case", "thunderSTORMS", asked((_, answer) => answer.includes("Thunder"))],
    ["the beginning of a word", "thund", asked((_, answer) => answer.includes("Thunder"))],
    ["two words, wherever they are", "storms mild", () => false],
    ["two words that are far apart", "mild weather", asked((_, answer) => answer.includes("mild"))],
    ["a phrase", '"day 7"', asked((prompt) => prompt.includes("day 7?"))],
    ["what punctuation joins", "user@example.com", asked((_, answer) => answer.includes("@"))],
    ["letters without their marks", "koln", asked((prompt) => prompt.includes("Köln"))],
    ["letters with their marks", "KÖLN", asked((prompt) => prompt.includes("Köln"))],
    ["a Japanese word", "天気", asked(() => true)],
    ["a Japanese phrase over several scripts", "明日の天気", asked(() => true)],
    ["a single character", "東", asked((prompt) => prompt.includes("東京"))],
    ["the last character of a word", "京", asked((prompt) => prompt.includes("東京"))],
    ["a Chinese pair that is not there", "天明", () => false],
    ["a Korean word", "서울", asked((prompt) => prompt.includes("서울"))],
    [
      "a word with another after it",
      "東京 mild",
      asked((prompt, answer) => prompt.includes("東京") && answer.includes("mild")),
    ],
    ["signs alone", "?! --", () => false],
    ["what a query language would read", 'NEAR("a" OR) AND *', () => false],
  ];
  test.each(searches)("finds %s", async (_what, words, matches) => {
    const expected = idsOf(own.filter(matches));
    expect(await pages({ words }, 200)).toEqual(expected);
    expect((await log.sums({ accountId: "default", words })).requests).toBe(expected.length);
  });

  test("within other filters, and page by page when many do not pass them", async () => {
    const filter = {
      words: "weather",
      tier: "LIGHT",
      tag: { name: "team", value: null },
      fromMs: NOON + 60_000,
    } as const;
    const matches = ({ content, decision, atMs, tags }: RequestRecord): boolean =>
      content !== null && decision?.tier === "LIGHT" && atMs >= NOON + 60_000 && tags.team !== undefined;
    expect(await pages(filter, 3)).toEqual(idsOf(own.filter(matches)));
    expect(await pages({ ...filter, tag: { name: "n", value: "4" } }, 3)).toEqual([]);
  });

  test("requests of one millisecond are all found, whatever the page", async () => {
    const atMs = NOON + 3 * DAY;
    const content = {
      request: "",
      isRequestCut: false,
      answer: "",
      isAnswerCut: false,
      prompt: "crowded",
      preview: "",
    };
    const crowd = Array.from({ length: 40 }, () => makeRecord({ atMs, content }));
    // Not in the order of their ids.
    await store.write(crowd.toReversed());
    const ids = idsOf(crowd).toSorted().toReversed();
    for (const limit of [1, 7, 40]) expect(await pages({ words: "crowded" }, limit)).toEqual(ids);
  });

  test("of an account with few requests among many, and in no other range", async () => {
    const content = { request: "", isRequestCut: false, answer: "", isAnswerCut: false, preview: "" };
    const few = [1, 2, 3].map((n) =>
      makeRecord({
        accountId: "few",
        atMs: NOON + n * 60_000,
        content: { ...content, prompt: n === 2 ? "silence" : "the weather" },
      }),
    );
    await store.write(few);
    const found = async (filter: Partial<RequestFilter>) => {
      const whole = { accountId: "few", words: "weather", ...filter };
      const listed = idsOf((await log.list(whole, { limit: 9, after: null })) as unknown as RequestRecord[]);
      expect((await log.sums(whole)).requests).toBe(listed.length);
      return listed;
    };
    expect(await found({})).toEqual([few[2]?.id, few[0]?.id]);
    expect(await found({ fromMs: NOON + 120_000 })).toEqual([few[2]?.id]);
    expect(await found({ toMs: NOON + 120_000 })).toEqual([few[0]?.id]);
    expect(await found({ words: "?!" })).toEqual([]);
  });

  test("a tag that most requests have is found like a tag of few", async () => {
    const accountId = "tagged";
    const tagged = Array.from({ length: 30 }, (_, n) =>
      makeRecord({
        accountId,
        atMs: NOON + n * 3_600_000,
        latencyMs: (n * 7) % 30,
        // The last of these looks like the tag, but is the value of another.
        tags: [{ team: `"red" ${n % 4}` }, { team: "blue", app: "web" }, { note: '"team":"blue"' }][n % 3] ?? {},
      }),
    );
    await store.write(tagged);
    const read = async (value: string | null) => {
      const filter = { accountId, tag: { name: "team", value } };
      const span = { fromMs: NOON, toMs: NOON + 2 * DAY, step: "hour" } as const;
      return {
        newest: (await log.list(filter, { limit: 50, after: null })).map(({ id }) => id),
        slowest: (await log.list(filter, { limit: 50, after: null, sort: "latency" })).map(({ id }) => id),
        sums: await log.sums(filter),
        bars: (await log.histogram(filter, span)).bars,
        explored: (await createExploreLog(db).read({ filter, ...span, metric: "requests", by: ["hour"], top: 9 })).rows,
      };
    };
    const values = [null, "blue", '"red" 0'];
    const before = await Promise.all(values.map(read));
    expect(before.map(({ sums }) => sums.requests)).toEqual([20, 10, 3]);
    // Rows of the index alone, so that it is not worth asking any more.
    for (const value of values.slice(1)) {
      const numbers = `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)`;
      const rows = `SELECT '${value === "blue" ? "a" : "b"}' || n, 'team', CAST($1 AS TEXT), '${accountId}' FROM n`;
      await db.batch([
        { sql: `INSERT INTO request_tags (id, name, value, account_id) ${numbers} ${rows}`, params: [value] },
      ]);
    }
    expect(await Promise.all(values.map(read))).toEqual(before);
  });

  test("the words of deleted requests are deleted with them", async () => {
    const content = {
      request: "",
      isRequestCut: false,
      answer: "",
      isAnswerCut: false,
      prompt: "forgettable",
      preview: "",
    };
    const [first, second] = [1, 2].map(() => makeRecord({ accountId: "old", atMs: 5_000, content }));
    await store.write([first, second] as RequestRecord[]);
    expect(await store.deleteBefore(6_000, 1)).toBe(1);
    expect(await log.list({ accountId: "old", words: "forgettable" }, { limit: 9, after: null })).toHaveLength(1);
    expect(await store.deleteBefore(6_000, 9)).toBe(1);
    const table = db.kind === "sqlite" ? "request_word_rows" : "request_words";
    expect(await db.query(`SELECT id FROM ${table} WHERE id <= $1`, [second?.id ?? ""])).toEqual([]);
  });

  test("the beginning of a request id is known by its account only", async () => {
    const record = makeRecord({ requestId: "mine-1" });
    await store.write([record]);
    expect(await log.hasRequestId("default", "mine-")).toBe(true);
    expect(await log.hasRequestId("other", "mine-")).toBe(false);
    expect(await log.hasRequestId("default", "mine-2")).toBe(false);
  });
});
