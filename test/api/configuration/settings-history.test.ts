// Options that operators change: counted from the next request, with a history of their own, and rolled back without
// touching providers. The command does the same beside the server.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { settings } from "../../../src/cli/settings.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ database: "file", env: SECRET, yaml: "limits: { inFlight: 900 }" });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  await gateway.api("POST", "/api/versions/0/rollback");
});

const SECRET = { SWITCHYARD_SECRET: "a-secret-for-settings" };

async function call(method: string, path: string, body?: object) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
}

const change = (options: object, more: object = {}) => call("PATCH", "/api/settings", { options, ...more });
const ask = () => gateway.post("/v1/chat/completions", HELLO);

async function optionOf(path: string) {
  const { options } = (await call("GET", "/api/settings")).body;
  return options.find((option: { path: string | null }) => option.path === path);
}

/** The command beside the server, on its database. */
async function run(line: string) {
  const terminal = recordTerminal({ env: { ...SECRET, SWITCHYARD_IN_FLIGHT: "900", DATABASE_URL: gateway.database } });
  const code = await settings(readArguments(["settings", ...line.split(" ")]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

describe("a change counts from the next request", () => {
  test("for the rate limit of keys without their own", async () => {
    expect((await ask()).headers.get("x-ratelimit-limit-requests")).toBe("600");
    await change({ "limits.requestsPerMinute": 700 });
    expect((await ask()).headers.get("x-ratelimit-limit-requests")).toBe("700");
  });

  test("for accounts without credits", async () => {
    const { id } = (await call("POST", "/api/accounts", { name: "empty" })).body;
    const made = (await call("POST", `/api/keys?account=${id}`, { name: "k" })).body;
    const poor = () => gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${made.key}` });
    expect((await poor()).status).toBe(402);
    await change({ "billing.mode": "metered" });
    expect((await poor()).status).toBe(200);
  });

  test("for the end user's header", async () => {
    await change({ "limits.endUserHeaders": "x-person, x-openwebui-user-id" });
    await (await gateway.post("/v1/chat/completions", HELLO, { "x-person": "ada" })).text();
    const { data } = (await call("GET", "/api/requests?limit=1")).body;
    expect(data[0].endUser ?? data[0].user).toBe("ada");
  });
});

test("an option tells its default, its kind and its words", async () => {
  expect(await optionOf("billing.mode")).toMatchObject({
    ...{ kind: "choice", words: ["prepaid", "metered"], default: "prepaid", isLive: true },
  });
  expect(await optionOf("logging.content")).toMatchObject({ kind: "switch", default: "false" });
  expect(await optionOf("limits.endUserHeaders")).toMatchObject({ kind: "list" });
  expect(await optionOf("server.adminToken")).toMatchObject({ value: null, isSecret: true, isLive: false });
});

test.each([
  [{ "logging.retentionDays": "soon" }, 422, /logging\.retentionDays: expected a whole number .*"soon"/],
  [{ "logging.content": "perhaps" }, 422, /expected true or false/],
  [{ "billing.mode": "prepayed" }, 422, /Did you mean "prepaid"/],
  [{ "loging.retentionDays": 5 }, 400, /Did you mean 'logging\.retentionDays'/],
  [{ "limits.inFlight": 5 }, 409, /switchyard\.yaml:1:/],
  [{ "alerts.mailServer": "smtp://u:p@mail" }, 400, /can't change at run time/],
])("%j is refused with %i", async (options, status, message) => {
  const { status: got, body } = await change(options);
  expect([got, body.error.message]).toEqual([status, expect.stringMatching(message)]);
});

test("the history has changes of options alone, and a way back leaves providers as they are", async () => {
  const first = (await change({ "logging.retentionDays": "7" }, { note: "less" })).body.version.number;
  const entry = { id: "lab", kind: "openai", baseUrl: "http://127.0.0.1:1/v1", apiKey: "sk-lab-0123456789" };
  const models = [{ upstream: "tiny", price: { input: 1, output: 1 } }];
  expect((await call("POST", "/api/providers", { ...entry, models })).status).toBe(201);
  await change({ "logging.retentionDays": 9, "routing.markup": 0.1 });
  const { data, next } = (await call("GET", "/api/settings/history?limit=2")).body;
  expect(data.map((each: { summary: string; note: string }) => [each.summary, each.note])).toEqual([
    ["logging.retentionDays: 7 → 9 and 1 more", ""],
    ["logging.retentionDays: not set → 7", "less"],
  ]);
  const older = (await call("GET", `/api/settings/history?limit=2&after=${next}`)).body.data;
  expect(older.every(({ number }: { number: number }) => number < first)).toBe(true);
  const back = await call("POST", `/api/settings/history/${first}/rollback`);
  expect(back.body.changes.map(({ words }: { words: string }) => words)).toEqual([
    "logging.retentionDays: 9 → 7",
    "routing.markup: 0.1 → not set",
  ]);
  const { document } = (await call("GET", "/api/configuration")).body;
  expect(document).toMatchObject({ logging: { retentionDays: 7 }, providers: { lab: {} } });
  expect((await call("POST", "/api/settings/history/999999/rollback")).status).toBe(404);
  const entries = (await call("GET", "/api/audit?limit=1")).body.data;
  expect(entries[0]).toMatchObject({ object: expect.stringContaining("settings") });
});

test("the command shows, changes and takes back", async () => {
  const set = await run("set logging.retentionDays 45");
  expect([set.code, set.said]).toEqual([0, expect.stringContaining("logging.retentionDays: not set → 45")]);
  expect((await run("get logging.retentionDays")).out).toBe("45\n");
  await expect.poll(async () => (await optionOf("logging.retentionDays")).value, { timeout: 60_000 }).toBe("45");
  expect((await run("get")).out).toMatch(/^logging\.retentionDays +45 +30 +a change at run time$/m);
  expect((await run("get")).out).toMatch(/^limits\.inFlight +900 +5000 +environment SWITCHYARD_IN_FLIGHT$/m);
  expect((await run("history")).out).toContain("logging.retentionDays: not set → 45");
  expect((await run("reset logging.retentionDays")).code).toBe(0);
  expect((await run("get logging.retentionDays --json")).out).toContain('"origin": "default"');
  const version = /Version (\d+)/.exec(set.said)?.[1];
  expect((await run(`rollback ${version}`)).said).toContain("logging.retentionDays: not set → 45");
  const [entry] = (await call("GET", "/api/audit?limit=1")).body.data;
  const changes = [expect.stringContaining("logging.retentionDays")];
  expect(entry).toMatchObject({ action: "settings rollback", actor: { kind: "command_line" }, after: { changes } });
});

test.each([
  ["set limits.inFlight 5", /set in environment SWITCHYARD_IN_FLIGHT/],
  ["set logging.retentionDays 0", /expected a whole number from 1 to 3650/],
  ["set server.port 1", /can't change at run time/],
  ["set logging.retentionDays", /Give an option and its value/],
  ["get logging.retention", /Did you mean/],
  ["rollback soon", /number/],
])("the command `settings %s` says why not", async (line, message) => {
  const { code, said } = await run(line);
  expect(code).not.toBe(0);
  expect(said).toMatch(message);
});
