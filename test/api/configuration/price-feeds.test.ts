// Price feeds on a whole gateway: what two of them agree on is taken over as a version, and what one of them gets wrong
// changes nothing.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { doctor } from "../../../src/cli/doctor/doctor.ts";
import { type GatewayOptions, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import {
  answers,
  type Behaviour,
  type FakeProvider,
  sends,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { genai, litellm, type Prices } from "../../support/providers/price-feeds.ts";
import { promisedMs } from "../../support/random.ts";
import { chargesOf, decimal } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const TIERS = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"];
const TODAY = new Date().toISOString().slice(0, 10);
const BOTH = "LiteLLM and genai-prices";

/** What a request costs before and after. */
const [OLD, NEW] = ["0.000044", "0.000022"];

/** What both lists say as long as nothing is wrong: the price of alpha has fallen. */
const NOW: Prices = { alpha: [1, 2], beta: [1, 3], "in-file": [1, 3] };

let groq: FakeProvider;
let first: FakeProvider;
let second: FakeProvider;
let offered: readonly object[];

beforeAll(async () => {
  groq = await startFakeProvider((exchange) => {
    const isList = exchange.request.raw === "";
    return (isList ? sends(200, { object: "list", data: offered }) : answers("ok"))(exchange);
  });
  [first, second] = [await startFakeProvider(), await startFakeProvider()];
});
afterAll(() => Promise.all([groq.close(), first.close(), second.close()]));

beforeEach(() => {
  offered = ["alpha", "beta", "in-file"].map((id) => ({ id }));
  first.reset();
  first.on("*", sends(200, litellm(NOW)));
  second.reset();
  second.on("*", sends(200, genai(NOW)));
});

function yaml(): string {
  return [
    "catalog: none",
    "routing: { markup: 0 }",
    "limits: { requestsPerMinute: 100000 }",
    `providers: { groq: { kind: openai, baseUrl: "${groq.url}", apiKey: groq-secret } }`,
    "models: [{ id: in-file, provider: groq, price: { input: 2, output: 3 } }]",
    `tiers: { ${TIERS.map((tier) => `${tier}: [in-file]`).join(", ")} }`,
  ].join("\n");
}

/** Checks are made by hand, and take over what they find. */
const FEEDS = (): Record<string, string> => ({
  SWITCHYARD_PRICES_CHECK: "daily",
  SWITCHYARD_PRICES_CHECK_HOURS: "0",
  SWITCHYARD_PRICES_URL: first.url,
  SWITCHYARD_PRICES_GENAI_URL: second.url,
});

/** With a model from a list at 2 / 4, and one at a price of the operator's own. */
async function started(
  more: Record<string, string> = {},
  options: Pick<GatewayOptions, "database" | "feedMsMax"> = {},
): Promise<TestGateway> {
  const gateway = await startGateway({ yaml: yaml(), env: { ...FEEDS(), ...more }, ...options });
  onTestFinished(() => gateway.stop());
  const listed = { id: "alpha", provider: "groq", price: { input: 2, output: 4 }, priceSource: "LiteLLM" };
  await call(gateway, "POST", "/api/models", listed);
  await call(gateway, "POST", "/api/models", { id: "beta", provider: "groq", price: { input: 2, output: 4 } });
  return gateway;
}

async function call(gateway: TestGateway, method: string, path: string, body?: unknown) {
  const response = await gateway.api(method, path, body);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text);
}

const check = (gateway: TestGateway) => call(gateway, "POST", "/api/prices/check");
const versionOf = async (gateway: TestGateway): Promise<number> =>
  (await call(gateway, "GET", "/api/configuration")).version;
const logsOf = (gateway: TestGateway, event: string) =>
  gateway.logged.filter(({ fields }) => fields.event === event).map(({ fields }) => fields);

async function modelNamed(gateway: TestGateway, id: string) {
  const { data } = await call(gateway, "GET", "/api/models");
  return data.find((model: { id: string }) => model.id === id);
}

async function ask(gateway: TestGateway, model: string, key = gateway.key) {
  const body = { ...HELLO, model, service_profile: "direct" };
  const response = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${key}` });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function doctorSays(gateway: TestGateway): Promise<string> {
  const env = { DATABASE_URL: gateway.database, ...FEEDS(), PORT: "0", SWITCHYARD_DISCOVER_LOCAL: "false" };
  const terminal = recordTerminal({ env });
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml());
  await doctor({ command: "doctor", words: [], flags: {} }, terminal);
  return terminal.takeOut();
}

const costOf = async (gateway: TestGateway): Promise<string> => (await ask(gateway, "alpha")).body.service.costUsd;

describe("a price that two feeds agree on", () => {
  test("is a version with the feeds as its author, is charged at once, and is undone for good", async () => {
    const gateway = await started();
    expect(await costOf(gateway)).toBe(OLD);
    const found = await check(gateway);
    expect(await costOf(gateway)).toBe(NEW);
    const { data: versions } = await call(gateway, "GET", "/api/versions");
    expect(versions[0]).toMatchObject({ number: 3, author: BOTH, note: "Prices: alpha" });
    expect(await modelNamed(gateway, "alpha")).toMatchObject({
      ...{ priceSource: BOTH, pricing: { prompt: "0.000001" } },
      service: { priceAsOf: TODAY },
    });
    expect(found.feeds).toMatchObject([
      { feed: "litellm", problem: null, models: 3, lost: [] },
      { feed: "genai", problem: null, models: 3, lost: [] },
    ]);
    await call(gateway, "POST", "/api/versions/2/rollback");
    const again = await check(gateway);
    expect(await costOf(gateway)).toBe(OLD);
    expect(again.changes.find(({ model }: { model: string }) => model === "alpha")).toMatchObject({
      standing: "undone",
    });
  });

  test("leaves an operator's own price and the file's, and shows them as such", async () => {
    const gateway = await started();
    const { changes } = await check(gateway);
    const shown = Object.fromEntries(changes.map(({ model, ...more }: { model: string }) => [model, more]));
    expect(shown.beta).toMatchObject({ isOwn: true, locked: null, price: { input: 2 }, listed: { input: 1 } });
    expect(shown["in-file"]).toMatchObject({ locked: { path: "models.in-file" }, price: { input: 2 } });
    expect(await modelNamed(gateway, "beta")).toMatchObject({ pricing: { prompt: "0.000002" } });
    // With a source of their own it is theirs as well.
    await call(gateway, "PATCH", "/api/models/alpha", { price: { input: 3, output: 4 }, priceSource: "our contract" });
    await check(gateway);
    expect(await modelNamed(gateway, "alpha")).toMatchObject({ pricing: { prompt: "0.000003" } });
  });

  test("waits where checks are off, which an operator's check does not change", async () => {
    const gateway = await started({ SWITCHYARD_PRICES_CHECK: "off" });
    expect(await check(gateway)).toMatchObject({ everyHours: 0, changes: [{ standing: "agreed" }, {}, {}] });
    expect(await versionOf(gateway)).toBe(2);
  });

  test("that waits is adopted from the feed that the operator names", async () => {
    second.on("*", sends(200, genai({ ...NOW, alpha: [1.5, 2] })));
    const gateway = await started();
    const { changes } = await check(gateway);
    expect(changes.find(({ model }: { model: string }) => model === "alpha")).toMatchObject({
      standing: "disputed",
      feeds: [
        { feed: "litellm", price: { input: 1 }, isSame: false },
        { feed: "genai", price: { input: 1.5 }, isSame: false },
      ],
    });
    await call(gateway, "POST", "/api/prices/adopt", {
      hosts: [{ provider: "groq", upstream: "alpha", feed: "genai" }],
    });
    expect(await modelNamed(gateway, "alpha")).toMatchObject({
      ...{ priceSource: "genai-prices", pricing: { prompt: "0.0000015" } },
    });
  });
});

describe("a price that is announced for a later day", () => {
  const day = "2026-12-01";
  const said = { ...NOW, alpha: [2, 4] } as const;
  const announcing = (): object => {
    const [provider] = genai(said) as [{ models: { id: string; prices: object }[] }];
    const models = provider.models.map((model) => {
      const later = { constraint: { start_date: day }, prices: { input_mtok: 1, output_mtok: 2 } };
      return model.id === "alpha" ? { ...model, prices: [{ prices: model.prices }, later] } : model;
    });
    return [{ ...provider, models }];
  };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-30T23:59:00Z") });
    second.on("*", sends(200, announcing()));
    return () => void vi.useRealTimers();
  });
  const announced = ({ changes }: { changes: readonly { model: string; startsOn: string | null }[] }) =>
    changes.filter(({ startsOn }) => startsOn !== null);

  test("is scheduled where two feeds agree, and changes by itself under requests that run", async () => {
    first.on("*", sends(200, announcing()));
    const gateway = await started({}, { database: "file" });
    expect(announced(await check(gateway))).toEqual([]);
    const { data: versions } = await call(gateway, "GET", "/api/versions");
    expect(versions[0]).toMatchObject({ author: BOTH, note: "Prices: alpha" });
    expect(await costOf(gateway)).toBe(OLD);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    groq.once("alpha", async (exchange) => {
      await released;
      return answers("late")(exchange);
    });
    const came = groq.nextRequest();
    const running = costOf(gateway);
    await came;
    vi.setSystemTime(Date.parse(`${day}T00:00:00Z`));
    expect(await costOf(gateway)).toBe(NEW);
    release();
    expect(await running).toBe(OLD);
    expect((await chargesOf(gateway)).map(({ amountUsd }) => -decimal(amountUsd, 9))).toEqual(
      expect.arrayContaining([decimal(OLD, 9), decimal(NEW, 9)]),
    );
    expect(await versionOf(gateway)).toBe(3);
  });

  test("by one feed alone waits with its diff, and is scheduled by an operator", async () => {
    first.on("*", sends(200, litellm(said)));
    const gateway = await started({}, { database: "file" });
    expect(announced(await check(gateway))).toMatchObject([
      { model: "alpha", standing: "single", startsOn: day, price: { input: 2 }, listed: { input: 1 }, percent: 50 },
    ]);
    const host = { provider: "groq", upstream: "alpha", startsOn: day };
    const both = await gateway.api("POST", "/api/prices/adopt", {
      hosts: [{ ...host, price: { input: 1, output: 2 } }],
    });
    expect(both.status).toBe(400);
    await call(gateway, "POST", "/api/prices/adopt", { hosts: [host] });
    expect(announced(await call(gateway, "GET", "/api/prices"))).toEqual([]);
    expect(await costOf(gateway)).toBe(OLD);
    vi.setSystemTime(Date.parse(`${day}T00:00:00Z`));
    expect(await costOf(gateway)).toBe(NEW);
  });
});

const FIFTY_MB = 50 * 1024 * 1024;

/** Sends as much as is taken. */
const endless: Behaviour = ({ response }) => {
  const part = `"${"x".repeat(65_536)}": 1,`;
  let sent = 0;
  const send = (): void => {
    while (sent < FIFTY_MB && !response.destroyed && response.write(part)) sent += part.length;
  };
  response.on("error", () => undefined).on("drain", send);
  response.writeHead(200).write("{");
  send();
};

describe("a feed", () => {
  const tenfold: Prices = { alpha: [10, 20], beta: [10, 30], "in-file": [10, 30] };
  const renamed = { "alpha-new": [1, 2], beta: [1, 3], "in-file": [1, 3] } as const;
  test.each<readonly [string, Behaviour, object]>([
    ["is down", sends(500, "down"), { problem: expect.stringContaining("answered 500.") }],
    ["breaks off", ({ socket }) => void socket.destroy(), { problem: expect.stringContaining("cannot be read") }],
    ["sends 50 MB", endless, { problem: expect.stringContaining("is larger than 16 MB") }],
    ["sends no JSON", sends(200, "<html>"), { problem: expect.stringContaining("is not valid JSON.") }],
    [
      "redirects to a private address",
      sends(302, {}, { location: "http://10.0.0.1/" }),
      { problem: expect.stringContaining("redirects to another address") },
    ],
    ["lies by a factor of ten", sends(200, litellm(tenfold)), { problem: null, lost: [] }],
    ["renames models", sends(200, litellm(renamed)), { problem: null, lost: ["groq/alpha"] }],
    ["drops a vendor", sends(200, litellm({ grok: [1, 2] }, "xai")), { problem: null, lost: ["groq"] }],
  ])("that %s changes nothing, the operator is told, and requests go on", async (_, behaviour, told) => {
    const isOld = { ...NOW, alpha: [2, 4] } as const;
    first.on("*", sends(200, litellm(isOld)));
    second.on("*", sends(200, genai(isOld)));
    const gateway = await started();
    await check(gateway);
    const before = await versionOf(gateway);
    // Both feeds have something new, and one of them breaks.
    first.on("*", behaviour);
    second.on("*", sends(200, genai(NOW)));
    const { feeds, changes } = await check(gateway);
    expect(feeds[0]).toMatchObject(told);
    expect(await versionOf(gateway)).toBe(before);
    expect(changes.find(({ model }: { model: string }) => model === "alpha").standing).not.toBe("agreed");
    expect(await costOf(gateway)).toBe(OLD);
    const { problem, lost } = feeds[0];
    const event = problem !== null ? "prices.unavailable" : lost.length > 0 ? "prices.lost" : "prices.differ";
    expect(logsOf(gateway, event)).not.toEqual([]);
    expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  });

  test("that hangs keeps nothing waiting but the check", async () => {
    const gateway = await started();
    let release: () => void = () => undefined;
    first.on("*", ({ socket }) => {
      release = () => socket.destroy();
    });
    const asked = first.nextRequest();
    const checking = check(gateway);
    await asked;
    expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
    expect(await costOf(gateway)).toBe(OLD);
    release();
    expect((await checking).feeds[0].problem).toContain("cannot be read");
  });

  test.each<readonly [string, Behaviour]>([
    ["before its headers", () => undefined],
    ["in the middle of its list", ({ response }) => void response.writeHead(200).write('{"groq/alpha": ')],
  ])("that hangs %s is left by its time limit, and the other feed is read", async (_, behaviour) => {
    const gateway = await started({}, { feedMsMax: 100 });
    first.on("*", behaviour);
    const { feeds, changes } = await check(gateway);
    expect(feeds).toMatchObject([
      { problem: expect.stringContaining("no complete answer within 0.1 s"), readAt: null },
      { problem: null, models: 3 },
    ]);
    expect(changes.find(({ model }: { model: string }) => model === "alpha").standing).toBe("single");
    expect(await costOf(gateway)).toBe(OLD);
  });

  test("that has not changed for 14 days has no vote until it changes, and the operator is told", async () => {
    const modified = new Date(Date.now() - 15 * 86_400_000).toUTCString();
    first.on("*", sends(200, litellm(NOW), { "last-modified": modified }));
    const gateway = await started({}, { database: "file" });
    const stale = await check(gateway);
    expect(stale.feeds).toMatchObject([
      { isStale: true, changedAt: new Date(modified).toISOString(), problem: null, models: 3 },
      { isStale: false },
    ]);
    expect(stale.changes.find(({ model }: { model: string }) => model === "alpha").standing).toBe("single");
    expect(await costOf(gateway)).toBe(OLD);
    expect(logsOf(gateway, "prices.stale")).toMatchObject([{ feed: "litellm" }]);
    expect(await doctorSays(gateway)).toContain(
      `LiteLLM has not changed since ${stale.feeds[0].changedAt.slice(0, 10)}`,
    );
    // The same text with a newer date is no change, and another text is one.
    first.on("*", sends(200, litellm(NOW), { "last-modified": new Date().toUTCString() }));
    expect((await check(gateway)).feeds[0]).toMatchObject({ isStale: true });
    first.on("*", sends(200, litellm({ ...NOW, other: [1, 2] }), { "last-modified": modified }));
    expect((await check(gateway)).feeds[0]).toMatchObject({ isStale: false });
    expect(await costOf(gateway)).toBe(NEW);
  });

  test("cannot move a price with another one further than the bound, in any number of steps", async () => {
    const gateway = await started();
    const bothSay = async (alpha: readonly [number, number]) => {
      first.on("*", sends(200, litellm({ ...NOW, alpha })));
      second.on("*", sends(200, genai({ ...NOW, alpha })));
      const { changes } = await check(gateway);
      return changes.find(({ model }: { model: string }) => model === "alpha");
    };
    expect(await bothSay([1, 2])).toBeUndefined();
    expect(await bothSay([0.7, 1.4])).toBeUndefined();
    const waiting = { standing: "drifted", confirmed: { price: { input: 2, output: 4 } }, price: { input: 0.7 } };
    expect(await bothSay([0.5, 1])).toMatchObject({ ...waiting, listed: { input: 0.5, output: 1 } });
    expect(logsOf(gateway, "prices.differ").at(-1)?.changes).toContainEqual({
      ...{ model: "alpha", provider: "groq", from: "0.7 / 1.4", to: "0.5 / 1", standing: "drifted" },
      confirmed: "2 / 4",
    });
    expect(await costOf(gateway)).toBe("0.0000154");
    // A person confirms it, and feeds go on from there.
    await call(gateway, "POST", "/api/prices/adopt", { hosts: [{ provider: "groq", upstream: "alpha" }] });
    expect(await bothSay([0.25, 0.5])).toBeUndefined();
    expect((await modelNamed(gateway, "alpha")).priceSource).toBe(BOTH);
  });

  test("that did not change is not read twice, and dated prices of it count from their day", async () => {
    first.on("*", sends(200, litellm(NOW), { etag: '"1"' }));
    const gateway = await started();
    await check(gateway);
    first.on("*", ({ response }) => void response.writeHead(304).end());
    expect((await check(gateway)).feeds[0]).toMatchObject({ problem: null, models: 3 });
    expect(first.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"1"']);
  });
});

test("the doctor and the metrics say how old prices are, and what is wrong", async () => {
  const newer: Prices = { ...NOW, newer: [0.5, 2] };
  first.on("*", sends(200, litellm(newer)));
  offered = [...offered, { id: "newer", created: Date.now() / 1000 }];
  const gateway = await started({ SWITCHYARD_CATALOG_ADOPT: "auto" }, { database: "file" });
  await check(gateway);
  second.on("*", sends(500, "down"));
  const { alpha: _, ...left } = newer;
  first.on("*", sends(200, litellm({ ...left, newer: [0.6, 2] })));
  await check(gateway);
  const said = await doctorSays(gateway);
  expect(said).toMatch(
    /Prices checked \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC; .* the oldest in use is of \d{4}-.* \(newer\)/,
  );
  expect(said).toContain(`genai-prices: ${second.url} answered 500.`);
  expect(said).toContain("LiteLLM no longer lists groq/alpha");
  expect(said).toContain("1 price differs from the feeds: newer");
  const age = (await scrape(gateway.url)).value("switchyard_price_age_seconds");
  expect(age).toBeGreaterThanOrEqual(0);
  expect(age).toBeLessThan(2 * 86_400);
});

const database = await createTestDatabase();
afterAll(() => database?.drop());
const FOLLOW_MS = promisedMs(5_000);

test.skipIf(database === null)(
  "a price that feeds lowered under load is charged by both processes within five seconds",
  async () => {
    const secret = { SWITCHYARD_SECRET: "a-secret-for-several-processes" };
    first.on("*", sends(200, litellm({ ...NOW, alpha: [2, 4] })));
    const one = await started(secret, { database: database?.url ?? "" });
    const two = await startGateway({ yaml: yaml(), env: { ...FEEDS(), ...secret }, database: database?.url ?? "" });
    onTestFinished(() => two.stop());
    const { key } = await call(one, "POST", "/api/keys", { name: "k" });
    await vi.waitFor(async () => expect(await modelNamed(two, "alpha")).toBeDefined(), FOLLOW_MS);
    const sent: { readonly at: number; readonly cost: string; readonly begunMs: number }[] = [];
    let isOver = false;
    const clients = [one, two].flatMap((gateway, at) =>
      [0, 1].map(async () => {
        while (!isOver) {
          const begunMs = performance.now();
          const { body } = await ask(gateway, "alpha", key);
          sent.push({ at, cost: body.service.costUsd, begunMs });
        }
      }),
    );
    const both = (cost: string) =>
      vi.waitFor(
        () => {
          const counts = [0, 1].map((at) => sent.filter((each) => each.at === at && each.cost === cost).length);
          expect(Math.min(...counts)).toBeGreaterThan(5);
        },
        { timeout: 60_000 },
      );
    await both(OLD);
    first.on("*", sends(200, litellm(NOW)));
    await check(two);
    const publishedMs = performance.now();
    await both(NEW);
    isOver = true;
    await Promise.all(clients);
    const lastMs = sent.findLast(({ cost }) => cost === OLD)?.begunMs ?? 0;
    expect(lastMs - publishedMs).toBeLessThan(FOLLOW_MS);
    expect(new Set(sent.map(({ cost }) => cost))).toEqual(new Set([OLD, NEW]));
    // Each was charged what its answer said.
    const charged = (await chargesOf(one)).map(({ amountUsd }) => -decimal(amountUsd, 9));
    const said = sent.map(({ cost }) => decimal(cost, 9));
    const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n);
    expect([charged.length, sum(charged)]).toEqual([said.length, sum(said)]);
    expect(await call(one, "GET", "/api/ledger/verify")).toMatchObject({ ok: true });
  },
);
