// Explore on every store: each metric by each dimension agrees with a count of the records themselves.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import { percentileMs } from "../../src/core/requests/buckets.ts";
import { DIMENSIONS, type ExploreQuery, METRICS, type Metric } from "../../src/core/requests/explore.ts";
import { isFailed, type RequestRecord } from "../../src/core/requests/records.ts";
import { openDb } from "../../src/store/db.ts";
import { createExploreLog } from "../../src/store/requests/explore.ts";
import { createRecordStore, makeRecord, NOON, variedRecord } from "../support/stores/records.ts";
import { describeStores } from "../support/stores/stores.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const COUNT = 600;
const STATES = ["started", "stayed", "switched", "escalated"] as const;

/** Over two days, with users, tags and sessions. */
const RECORDS: readonly RequestRecord[] = Array.from({ length: COUNT }, (_, n) => ({
  ...variedRecord(n, NOON + n * 240_000),
  user: n % 4 === 0 ? null : `user-${n % 23}`,
  tags: n % 3 === 0 ? {} : { team: `team-${n % 5}`, ...(n % 2 === 0 ? { app: "web" } : {}) },
  session: n % 5 === 0 ? null : `s${n % 40}`,
  sessionState: n % 5 === 0 ? null : (STATES[n % 4] ?? null),
}));
const OWN = RECORDS.filter(({ accountId }) => accountId === "default");
const RANGE = { fromMs: NOON, toMs: NOON + 3 * DAY_MS };

const valueIn = (record: RequestRecord, name: string): string | number | null => {
  if (name === "hour") return Math.floor(record.atMs / HOUR_MS) * HOUR_MS;
  if (name === "day") return Math.floor(record.atMs / DAY_MS) * DAY_MS;
  if (name.startsWith("tag:")) return record.tags[name.slice(4)] ?? null;
  const values: Readonly<Record<string, string | null | undefined>> = {
    model: record.answeredBy?.model,
    provider: record.answeredBy?.provider,
    tier: record.decision?.tier,
    category: record.decision?.category,
    profile: record.decision?.profile,
    key: record.keyId,
    keyProfile: record.profileId,
    status: String(record.status),
    user: record.user,
    team: record.teamId,
    member: record.memberId,
    session: record.session,
    sessionState: record.sessionState,
  };
  return values[name] ?? null;
};

const numberOf = (record: RequestRecord, metric: Metric): number => {
  const { cost } = record;
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = cost?.buckets ?? {};
  switch (metric) {
    case "errors":
      return isFailed(record) ? 1 : 0;
    case "cost":
      return Number(cost?.charge ?? 0n);
    case "saved":
      return Number((cost?.baseline ?? 0n) - (cost?.charge ?? 0n));
    case "inputTokens":
      return input + cacheRead + cacheWrite;
    case "cachedTokens":
      return cacheRead;
    case "outputTokens":
      return output;
    default:
      return 1;
  }
};

/** The same by hand; `top` is more than there are values. */
function counted(
  records: readonly RequestRecord[],
  metric: Metric,
  by: readonly string[],
): ReadonlyMap<string, number | null> {
  const groups = new Map<string, RequestRecord[]>();
  for (const record of records) {
    const name = JSON.stringify(by.map((each) => valueIn(record, each)));
    groups.set(name, [...(groups.get(name) ?? []), record]);
  }
  const timeOf = (record: RequestRecord) => (metric.startsWith("ttft") ? record.firstContentMs : record.latencyMs);
  const share = metric.endsWith("P50") ? 0.5 : 0.95;
  const values = [...groups].map(([name, each]): [string, number | null] => {
    const times = each.map(timeOf).filter((ms) => ms !== null);
    return METRICS[metric] === "percentile"
      ? [name, percentileMs(times, share)]
      : [name, each.reduce((sum, record) => sum + numberOf(record, metric), 0)];
  });
  return new Map(values.filter(([, value]) => value !== null));
}

await describeStores("explore", ({ url }) => {
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    for (let at = 0; at < COUNT; at += 100) await createRecordStore(db).write(RECORDS.slice(at, at + 100));
  });
  afterAll(() => db.close());

  const read = (change: Partial<ExploreQuery>) =>
    createExploreLog(db).read({
      filter: { accountId: "default" },
      ...RANGE,
      metric: "requests",
      by: ["day"],
      top: 50,
      ...change,
    });
  const found = async (change: Partial<ExploreQuery>): Promise<ReadonlyMap<string, number | null>> => {
    const { rows } = await read(change);
    expect(rows.some(({ by }) => by.some(({ isOther }) => isOther))).toBe(false);
    return new Map(
      rows.map(({ by, value }) => [
        JSON.stringify(by.map((each) => each.value)),
        value === null ? null : Number(value),
      ]),
    );
  };

  describe.each(Object.keys(METRICS) as Metric[])("%s", (metric) => {
    test.each([...DIMENSIONS, "tag:team"])("by %s", async (name) => {
      expect(await found({ metric, by: [name] })).toEqual(counted(OWN, metric, [name]));
    });
  });

  test.each([
    ["cost", ["day", "model"], "totals"],
    ["saved", ["tier", "key"], "totals"],
    ["latencyP95", ["hour", "status"], "totals"],
    ["inputTokens", ["user", "tag:team"], "requests"],
    ["errors", ["category", "day"], "requests"],
    ["ttftP50", ["sessionState", "provider"], "requests"],
  ] as const)("%s by two dimensions %j comes from the %s", async (metric, by, source) => {
    expect(await found({ metric, by })).toEqual(counted(OWN, metric, by));
    expect((await read({ metric, by })).source).toBe(source);
  });

  test("filters narrow, with the totals where they know them", async () => {
    const errors = await read({ by: ["model"], filter: { accountId: "default", status: { kind: "error" } } });
    expect(errors.source).toBe("requests");
    expect(errors.rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(OWN.filter(isFailed).length);
    const one = await read({ by: ["day"], filter: { accountId: "default", keyId: "key_3" } });
    expect(one.source).toBe("totals");
    expect(one.rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(
      OWN.filter(({ keyId }) => keyId === "key_3").length,
    );
  });

  test("values beyond the first are summed up, and nothing is lost", async () => {
    const all = counted(OWN, "cost", ["user"]);
    const { rows, values } = await read({ metric: "cost", by: ["user"], top: 3 });
    const largest = [...all.values()].map(Number).sort((a, b) => b - a);
    expect(values).toEqual([all.size]);
    const kept = rows.filter(({ by }) => by[0]?.isOther === false).map(({ value }) => Number(value));
    expect(kept.sort((a, b) => b - a)).toEqual(largest.slice(0, 3));
    const other = rows.filter(({ by }) => by[0]?.isOther === true);
    expect(other).toHaveLength(1);
    expect(Number(other[0]?.value)).toBe(largest.slice(3).reduce((sum, value) => sum + value, 0));
  });

  test("what was never charged comes last", async () => {
    const accountId = "uncharged";
    const users = ["free", "paid"].map((user, at) =>
      makeRecord({ accountId, user, ...(at === 0 ? { cost: null } : {}) }),
    );
    await createRecordStore(db).write(users);
    const { rows } = await read({ filter: { accountId }, metric: "cost", by: ["user"], top: 1 });
    expect(rows.map(({ by, value }) => [by[0]?.value, Number(value)])).toEqual([
      ["paid", Number(users[1]?.cost?.charge)],
      [null, 0],
    ]);
  });

  test("a tag is read whatever characters it has", async () => {
    const accountId = "odd tags";
    const values = ['a "quoted" word', "back\\slash", "", "线 🚀", "x:1,y", "half \ud83d", "\udc00 other half"];
    const tags = [...values.map((odd) => ({ odd, "very odd": "z" })), { 'o"dd': "q", "not odd": "odd" }, {}];
    await createRecordStore(db).write(tags.map((each) => makeRecord({ accountId, tags: each })));
    const { rows } = await read({ filter: { accountId }, by: ["tag:odd"] });
    const found = Object.fromEntries(rows.map(({ by, requests }) => [by[0]?.value ?? "none", requests]));
    const named = values.filter((value) => value !== "").map((value) => [value.toWellFormed(), 1]);
    expect(found).toEqual({ ...Object.fromEntries(named), none: 3 });
    const quoted = await read({ filter: { accountId }, by: ['tag:o"dd'] });
    expect(quoted.rows.map(({ by, requests }) => [by[0]?.value, requests])).toEqual([
      [null, tags.length - 1],
      ["q", 1],
    ]);
  });

  test("the rest of both dimensions stands beside what is kept", async () => {
    const { rows } = await read({ by: ["key", "user"], top: 2 });
    expect(rows.length).toBeLessThanOrEqual(9);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(OWN.length);
  });

  test("a percentile of the rest is exact while requests are few", async () => {
    const { rows } = await read({ metric: "latencyP95", by: ["category"], top: 1 });
    const [top] = rows.filter(({ by }) => by[0]?.isOther === false);
    const rest = OWN.filter((record) => valueIn(record, "category") !== top?.by[0]?.value);
    const times = rest.map(({ latencyMs }) => latencyMs);
    expect(rows.find(({ by }) => by[0]?.isOther === true)?.value).toBe(percentileMs(times, 0.95));
  });

  test("nothing in the range is no rows", async () => {
    for (const by of [["model"], ["user"]]) {
      const empty = await read({ by, fromMs: NOON - 9 * DAY_MS, toMs: NOON - 8 * DAY_MS });
      expect(empty.rows).toEqual([]);
      expect(empty.values).toEqual([0]);
    }
  });
});
