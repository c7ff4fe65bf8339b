// Provider keys set at run time: nowhere in clear, not movable to another address, told apart by their ids, and tested
// before they are published. On SQLite and PostgreSQL.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup } from "../../../src/cli/backup.ts";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { everyRow } from "../../support/stores/rows.ts";

const database = await createTestDatabase();

const KEY = "canary-key-Q7Z-0123456789";
const HEADER = "canary-header-Q7Z-abcdefghij";

const SECRET = { SWITCHYARD_SECRET: "a-secret-for-both-stores" };
const STORES = [["SQLite", undefined] as const, ...(database === null ? [] : [["PostgreSQL", database.url] as const])];

afterAll(() => database?.drop());

/** Of the data folder, and a backup. */
async function sqliteFiles(url: string): Promise<readonly string[]> {
  const terminal = recordTerminal({ env: { ...SECRET, DATABASE_URL: url } });
  const copy = join(terminal.cwd, "copy.db");
  expect(await backup(readArguments(["backup", copy]), terminal), terminal.takeSaid()).toBe(0);
  const copied = readFileSync(copy, "latin1");
  // The version is in the backup, so its keys would be as well.
  expect(copied).toContain("config_versions");
  return [copied, ...filesIn(dirname(url.replace("sqlite:", "")))];
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [readFileSync(path, "latin1")];
  });
}

describe.each(STORES)("on %s", (_name, url) => {
  let lab: FakeProvider;
  let gateway: TestGateway;
  const said: string[] = [];
  beforeAll(async () => {
    // Its list of models is asked for without a body.
    const listed = sends(200, { object: "list", data: [{ id: "beta" }] });
    lab = await startFakeProvider((exchange) => (exchange.request.raw === "" ? listed : answers("ok"))(exchange));
    gateway = await startGateway({ yaml: labYaml(lab.url, ["alpha"]), env: SECRET, database: url ?? "file" });
  });
  afterAll(async () => {
    await gateway.stop();
    await lab.close();
  });

  async function call(method: string, path: string, body?: unknown) {
    const response = await gateway.api(method, path, body);
    const text = await response.text();
    said.push(text);
    return { status: response.status, body: JSON.parse(text || "{}") };
  }

  const OTHER = () => ({
    kind: "openai",
    baseUrl: lab.url,
    apiKeys: [KEY, { key: `${KEY}-2`, weight: 2 }],
    headers: { "x-team": HEADER },
  });
  const DIRECT = { ...HELLO, model: "beta", service_profile: "direct" };

  test("a key is in no file, backup, log line or response, and a GET shows its last four characters", async () => {
    expect((await call("POST", "/api/providers", { id: "other", ...OTHER() })).status).toBe(201);
    await call("POST", "/api/models", { id: "beta", provider: "other", price: { input: 2, output: 6 } });
    lab.once("beta", fails(401, { message: `the key ${KEY} is wrong` }));
    said.push(await (await gateway.post("/v1/chat/completions", DIRECT)).text());
    await call("POST", "/api/providers/other/test", { draft: { apiKeys: [KEY], headers: { "x-team": HEADER } } });
    await call("PATCH", "/api/providers/other", { apiKeys: [`${KEY} with a space`] });
    await call("PATCH", "/api/providers/other", { timeouts: { connectMs: 900 } });
    const { version } = (await call("GET", "/api/configuration")).body;
    for (const path of ["/api/providers", "/api/models", "/api/settings", "/api/versions", `/api/versions/${version}`])
      await call("GET", path);
    await call("POST", "/api/replay", { draft: { routing: { markup: 0.1 } } });
    const { data } = (await call("GET", "/api/providers")).body;
    const { configured, keys } = data.find(({ id }: { id: string }) => id === "other");
    const shown = {
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      lastFour: "6789",
      setBy: "admin token",
      setAt: expect.stringMatching(/Z$/),
    };
    expect(configured.apiKeys).toEqual([shown, { key: { ...shown, lastFour: "89-2" }, weight: 2 }]);
    // Health knows each key by the id that removes it.
    const [first, second] = configured.apiKeys;
    expect(keys).toMatchObject([{ id: first.id }, { id: second.key.id, weight: 2 }]);
    await gateway.post("/v1/chat/completions", DIRECT);
    expect(lab.requests.at(-1)?.headers["x-team"]).toBe(HEADER);

    const logged = JSON.stringify(gateway.logged, (_, value) => (value instanceof Error ? value.message : value));
    const rows = await everyRow(gateway.database);
    expect(rows).toContain('\\"sealed\\"');
    const texts = [...said, logged, rows, ...(url === undefined ? await sqliteFiles(gateway.database) : [])];
    expect(texts.length).toBeGreaterThan(12);
    for (const text of texts) expect(text).not.toMatch(/canary-(key|header)-Q7Z/);
  });

  test("a key that is shown may be sent back to keep it, in another order or with another weight", async () => {
    const { document, version } = (await call("GET", "/api/configuration")).body;
    const [first, second] = document.providers.other.apiKeys;
    const other = { ...document.providers.other, apiKeys: [{ ...second, weight: 5 }, first] };
    const answer = await call("PUT", "/api/configuration", {
      document: { ...document, providers: { other } },
      base: version,
    });
    expect(answer.status).toBe(200);
  });

  test("a key does not follow a provider to another address, published or tested", async () => {
    const elsewhere = { baseUrl: "http://127.0.0.1:1/v1" };
    const moved = await call("PATCH", "/api/providers/other", elsewhere);
    expect([moved.status, moved.body.error.code]).toEqual([422, "key_needed"]);
    const tested = await call("POST", "/api/providers/other/test", { draft: elsewhere });
    expect([tested.status, tested.body.error.code]).toEqual([422, "key_needed"]);
    const sealed = "s1.AAAA";
    const forged = await call("PATCH", "/api/providers/other", {
      apiKeys: [{ sealed, lastFour: "", setBy: "", setAt: "" }],
    });
    expect([forged.status, forged.body.error.code]).toEqual([422, "key_needed"]);
  });

  test("secrets that are shown alike stay in their places", async () => {
    const headers = { "x-organization": "org-1", "x-project": "proj-2" };
    await call("PATCH", "/api/providers/other", { headers, apiKeys: ["short-1", "short-2"] });
    const { version, document } = (await call("GET", "/api/configuration")).body;
    const whole = await call("PUT", "/api/configuration", { document, base: version });
    expect(whole.status, JSON.stringify(whole.body)).toBe(200);
    await gateway.post("/v1/chat/completions", DIRECT);
    expect(lab.requests.at(-1)?.headers).toMatchObject(headers);
  });

  test("of keys that are shown alike, one is removed by its id", async () => {
    const keysOf = async () => (await call("GET", "/api/configuration")).body.document.providers.other.apiKeys;
    const ids = (await keysOf()).map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(2);
    const shownAlike = (await keysOf()).map(({ lastFour, setBy, setAt }: Record<string, string>) => [
      lastFour,
      setBy,
      setAt,
    ]);
    expect(shownAlike[0]).toEqual(shownAlike[1]);
    const removed = await call("PATCH", "/api/providers/other", { apiKeys: [{ id: ids[1] }] });
    expect(removed.status, JSON.stringify(removed.body)).toBe(200);
    expect(await keysOf()).toMatchObject([{ id: ids[1] }]);
    await gateway.post("/v1/chat/completions", DIRECT);
    expect(lab.requests.at(-1)?.headers.authorization).toBe("Bearer short-2");
    const unknown = await call("PATCH", "/api/providers/other", { apiKeys: [{ id: ids[0] }] });
    expect([unknown.status, unknown.body.error.code]).toEqual([422, "key_needed"]);
    // What came before is untouched, so the way back finds the other key as well.
    const { version } = (await call("GET", "/api/configuration")).body;
    await call("POST", `/api/versions/${version - 1}/rollback`);
    expect((await keysOf()).map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  test("a draft is tested with its key before anything is published", async () => {
    const before = (await call("GET", "/api/configuration")).body.version;
    const draft = { kind: "openai", baseUrl: lab.url, apiKey: "canary-key-Q7Z-of-a-draft" };
    lab.requests.length = 0;
    const good = await call("POST", "/api/providers/fresh/test", { draft });
    expect(good.body).toMatchObject({ provider: "fresh", ok: true, model: null });
    expect(lab.requests.at(-1)?.headers.authorization).toBe(`Bearer ${draft.apiKey}`);
    const bad = await call("POST", "/api/providers/fresh/test", { draft: { ...draft, kind: "opnai" } });
    expect(bad.body.error.problems).toContainEqual(
      expect.objectContaining({ place: "providers.fresh.kind", suggestion: "openai" }),
    );
    expect((await call("GET", "/api/configuration")).body.version).toBe(before);
  });

  test("a draft is replayed over past requests: cost by its prices, and nothing is sent", async () => {
    for (let at = 0; at < 5; at += 1) await (await gateway.post("/v1/chat/completions", HELLO)).text();
    const calls = lab.requests.length;
    const same = (await call("POST", "/api/replay", { draft: {} })).body;
    expect(same).toMatchObject({ changed: 0, refused: 0, costAfterUsd: same.costBeforeUsd });
    expect(same.requests).toBeGreaterThanOrEqual(5);
    const dearer = (await call("POST", "/api/replay", { draft: { routing: { markup: 1.1 } } })).body;
    expect(Number(dearer.costAfterUsd)).toBeCloseTo(Number(same.costBeforeUsd) * 2, 6);
    const locked = await call("POST", "/api/replay", { draft: { tiers: { SIMPLE: ["beta"] } } });
    expect(locked.status).toBe(409);
    expect(lab.requests.length).toBe(calls);
  });
});
