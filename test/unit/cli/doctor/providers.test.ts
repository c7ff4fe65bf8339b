// The doctor's checks of providers (reached, key, list, clock), and of the database's clock.

import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Catalog } from "../../../../src/catalog/catalog.ts";
import { type ClockReading, clockChecks, databaseClock, providerClocks } from "../../../../src/cli/doctor/clock.ts";
import { askProviders, listingCheck, listProviders } from "../../../../src/cli/doctor/providers.ts";
import type { Check } from "../../../../src/config/doctor.ts";
import { load } from "../../../../src/config/load.ts";
import { openDb } from "../../../../src/store/db.ts";
import { labYaml } from "../../../support/gateway/gateway.ts";
import { recordTerminal } from "../../../support/gateway/terminal.ts";
import { fails, startFakeProvider } from "../../../support/providers/fake-provider.ts";
import { answers, type ListAnswer, lists, startListProvider } from "../../../support/providers/list-provider.ts";
import { createTestDatabase } from "../../../support/stores/postgres.ts";

function catalogOf(yaml: string): Catalog {
  const { cwd } = recordTerminal();
  writeFileSync(join(cwd, "switchyard.yaml"), yaml);
  const loaded = load({ flags: {}, env: {}, cwd });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.settings.catalog;
}

async function checkOf(answer: ListAnswer): Promise<Check> {
  const { url } = await startListProvider(answer);
  const [listing] = await listProviders(catalogOf(labYaml(`${url}/v1`)));
  return listingCheck(listing!);
}

describe("a provider's list", () => {
  test("is asked for with the key, and counted", async () => {
    const provider = await startListProvider(lists("alpha", "beta", "gamma"));
    const [listing] = await listProviders(catalogOf(labYaml(`${provider.url}/v1`)));
    expect(provider.asked).toEqual([{ line: "GET /v1/models", key: "Bearer lab-secret" }]);
    expect(listingCheck(listing!)).toEqual({
      state: "ok",
      what: expect.stringMatching(/^lab: 127\.0\.0\.1:\d+ lists 3 models \(\d+ ms\)$/),
      fix: null,
    });
  });

  test("is a warning where the key ends within 7 days", async () => {
    const provider = await startListProvider(lists("alpha"));
    const yaml = labYaml(`${provider.url}/v1`).replace(
      "apiKey: lab-secret",
      "apiKeys: [{ key: lab-secret, expires: 2026-11-26 }]",
    );
    const [listing] = await listProviders(catalogOf(yaml));
    const at = (day: string) => listingCheck(listing!, Date.parse(`${day}T00:00:00Z`));
    expect(at("2026-11-19")).toEqual({
      state: "warn",
      what: expect.stringMatching(/lists 1 models \(\d+ ms\); its key ends at 2026-11-26 00:00 UTC$/),
      fix: "Replace it before requests fail",
    });
    expect(at("2026-11-18").state).toBe("ok");
  });

  test("is asked for with each key, and a refused one is named by its id", async () => {
    const provider = await startListProvider((request, response) =>
      request.headers.authorization === "Bearer sk-bad-secret"
        ? answers(401, { error: { message: "no" } })(request, response)
        : lists("alpha")(request, response),
    );
    const yaml = labYaml(`${provider.url}/v1`).replace(
      "apiKey: lab-secret",
      "apiKeys: [sk-good-secret, sk-bad-secret]",
    );
    const [listing] = await listProviders(catalogOf(yaml));
    expect(provider.asked.map(({ key }) => key).sort()).toEqual(["Bearer sk-bad-secret", "Bearer sk-good-secret"]);
    const { state, what } = listingCheck(listing!);
    expect([state, what]).toEqual([
      "fail",
      expect.stringMatching(/^lab, key [0-9a-f]{8}: lab refuses the key \(401\)/),
    ]);
    expect(listing?.models?.map(({ id }) => id)).toEqual(["alpha"]);
  });

  test("of an Azure resource proves the key, and says nothing of deployments", async () => {
    const provider = await startListProvider(lists("gpt-4o-2024-08-06"));
    const [listing] = await listProviders(catalogOf(labYaml(provider.url).replace("kind: openai", "kind: azure")));
    expect(provider.asked).toMatchObject([{ line: "GET /openai/v1/models" }]);
    expect(listing?.models).toBeNull();
    expect(listingCheck(listing!)).toMatchObject({ state: "ok", what: expect.stringContaining("accepts the key") });
  });

  test("of the messages format has its own address and credentials", async () => {
    const provider = await startListProvider(lists("alpha"));
    await listProviders(catalogOf(labYaml(provider.url).replace("kind: openai", "kind: anthropic")));
    expect(provider.asked).toEqual([{ line: "GET /v1/models?limit=1000", key: "lab-secret" }]);
  });

  test("of Google's format is read page by page", async () => {
    const provider = await startListProvider((request, response) => {
      const isSecond = request.url?.includes("pageToken=two") === true;
      const page = isSecond
        ? { models: [{ name: "models/beta" }] }
        : { models: [{ name: "models/alpha" }], nextPageToken: "two" };
      answers(200, page)(request, response);
    });
    const [listing] = await listProviders(catalogOf(labYaml(provider.url).replace("kind: openai", "kind: gemini")));
    expect(listing!.models?.map(({ id }) => id)).toEqual(["alpha", "beta"]);
    expect(provider.asked.map(({ line }) => line)).toEqual([
      "GET /models?pageSize=1000",
      "GET /models?pageSize=1000&pageToken=two",
    ]);
  });

  test("with a page that fails is a failure", async () => {
    const provider = await startListProvider((request, response) => {
      const isSecond = request.url?.includes("pageToken") === true;
      answers(isSecond ? 500 : 200, { models: [], nextPageToken: "two" })(request, response);
    });
    const [listing] = await listProviders(catalogOf(labYaml(provider.url).replace("kind: openai", "kind: gemini")));
    expect(listing).toMatchObject({ models: null, problem: expect.stringContaining("500") });
  });

  test.each<[string, ListAnswer, Check]>([
    [
      "a wrong key",
      answers(401, { error: { message: "Incorrect API key provided: lab-secret" } }),
      {
        state: "fail",
        what: "lab refuses the key (401). It says: Incorrect API key provided: •••",
        fix: "Replace the key where it was set: on the Providers page, or in providers.lab.apiKey, which needs a restart.",
      },
    ],
    [
      "no list",
      answers(404, { error: { message: "Not found" } }),
      { state: "ok", what: expect.stringContaining("lists no models"), fix: expect.stringContaining("--test") },
    ],
    [
      "a page instead",
      answers(200, "<html>Welcome</html>"),
      {
        state: "fail",
        what: expect.stringContaining("not in openai format"),
        fix: expect.stringContaining("baseUrl"),
      },
    ],
    [
      "server error",
      answers(503, {}),
      { state: "fail", what: expect.stringContaining("(503)"), fix: expect.any(String) },
    ],
    [
      "a connection that breaks",
      (_, response) => response.destroy(),
      { state: "fail", what: expect.stringContaining("closed the connection"), fix: expect.any(String) },
    ],
  ])("with %s", async (_, answer, check) => {
    expect(await checkOf(answer)).toEqual(check);
  });

  test("that nobody serves", async () => {
    const [listing] = await listProviders(catalogOf(labYaml("http://127.0.0.1:1/v1")));
    expect(listingCheck(listing!)).toMatchObject({ state: "fail", what: expect.stringContaining("cannot be reached") });
  });

  test("that never comes is not waited for", async () => {
    const { url } = await startListProvider(() => {});
    const [listing] = await listProviders(catalogOf(labYaml(`${url}/v1`)), 100);
    expect(listingCheck(listing!)).toMatchObject({ state: "fail", what: expect.stringContaining("within 0.1 s") });
  });

  test("behind a handshake that never ends is not waited for", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const [listing] = await listProviders(catalogOf(labYaml(`https://127.0.0.1:${port}/v1`)), 100);
    expect(listingCheck(listing!).state).toBe("fail");
  });

  test("is not asked of the sandbox", async () => {
    const { cwd } = recordTerminal();
    const loaded = load({ flags: {}, env: {}, cwd });
    expect(loaded.ok && (await listProviders(loaded.settings.catalog))).toEqual([]);
  });
});

test("a provider that is asked for an answer shows a wrong key", async () => {
  const lab = await startFakeProvider();
  onTestFinished(() => lab.close());
  const catalog = catalogOf(labYaml(lab.url));
  expect(await askProviders(catalog)).toEqual([
    { state: "ok", what: expect.stringMatching(/^lab: alpha answered in \d+ ms$/), fix: null },
  ]);
  lab.on("*", fails(401, { message: "No." }));
  expect(await askProviders(catalog)).toEqual([
    { state: "fail", what: "lab refuses the key (401). It says: No", fix: expect.stringContaining("restart") },
  ]);
});

describe("the clock", () => {
  const NOW = Date.UTC(2026, 10, 15, 10, 0, 0);
  const reading = (source: string, aheadMs: number, uncertaintyMs = 600): ClockReading => ({
    ...{ source, aheadMs, uncertaintyMs },
  });

  test.each([
    ["nothing to compare", [], null, ["ok"], "Clock: 2026-11-15 10:00:00 UTC (not checked: no time source)"],
    ["a provider", [reading("lab", 1_500)], null, ["ok"], "Clock: 2026-11-15 10:00:00 UTC, matches lab"],
    ["a minute ahead", [reading("lab", 60_000)], null, ["warn"], "Clock is 60 s ahead of lab"],
    ["an hour behind", [reading("lab", -3_600_000)], null, ["fail"], "Clock is 60 min behind lab"],
    ["a slow answer, which proves little", [reading("lab", 40_000, 20_000)], null, ["ok"], "matches lab"],
    ["one wrong clock elsewhere", [reading("a", 900_000), reading("b", 100)], null, ["ok"], "matches b"],
    ["the database alone", [], reading("the database", -400_000), ["fail"], "Clock is 7 min behind the database"],
    ["a database that disagrees", [reading("lab", 0)], reading("the database", 45_000), ["ok", "warn"], "matches lab"],
  ])("with %s", (_, providers, database, states, what) => {
    const checks = clockChecks({ providers, database }, NOW);
    expect(checks.map(({ state }) => state)).toEqual(states);
    expect(checks[0]?.what).toContain(what);
    for (const { state, fix } of checks) expect(fix).toEqual(state === "ok" ? null : expect.stringContaining("NTP"));
  });

  test.each([
    ["its Date header", 3_600_000, {}, 3_600_000],
    ["its Date header from a cache", 90_000, { age: "90" }, 0],
  ])("is compared by %s", async (_, agoMs, headers, aheadMs) => {
    const { url } = await startListProvider((request, response) => {
      const date = new Date(Date.now() - agoMs).toUTCString();
      answers(200, { data: [] }, { date, ...headers })(request, response);
    });
    const [clock] = providerClocks(await listProviders(catalogOf(labYaml(`${url}/v1`))));
    expect(clock?.source).toBe("lab");
    expect(Math.abs((clock?.aheadMs ?? Number.NaN) - aheadMs)).toBeLessThanOrEqual((clock?.uncertaintyMs ?? 0) + 1_000);
  });

  test("of PostgreSQL is asked, SQLite has none", async ({ skip }) => {
    const file = await openDb("sqlite::memory:");
    expect(await databaseClock(file, Date.now)).toBeNull();
    await file.close();
    const database = await createTestDatabase();
    if (database === null) return skip();
    const db = await openDb(database.url);
    const ahead = await databaseClock(db, () => Date.now() + 120_000);
    await db.close();
    await database.drop();
    expect(ahead?.source).toBe("the database");
    expect(Math.abs((ahead?.aheadMs ?? 0) - 120_000)).toBeLessThan(10_000);
  });
});
