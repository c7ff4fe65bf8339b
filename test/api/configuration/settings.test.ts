// Options that change at run time: switched over HTTP, followed by other processes, in the history, and locked where file or
// environment set them.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const CONTENT = "logging.content";

async function call(gateway: TestGateway, method: string, path: string, body?: object) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
}

async function optionOf(gateway: TestGateway, path: string) {
  const { options } = (await call(gateway, "GET", "/api/settings")).body;
  return options.find((option: { path: string | null }) => option.path === path);
}

/** The prompt of a new request as the log kept it. */
async function loggedPrompt(gateway: TestGateway, key = gateway.key): Promise<string | null> {
  await (await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key}` })).text();
  const { data } = (await call(gateway, "GET", "/api/requests?limit=1")).body;
  const { content } = (await call(gateway, "GET", `/api/requests/${data[0].id}`)).body;
  return content?.request ?? null;
}

const switched = (options: object, more: object = {}) => ["PATCH", "/api/settings", { options, ...more }] as const;

describe("an option that can change at run time", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await gateway.api("POST", "/api/versions/0/rollback");
  });

  test("counts from the next request, and is rolled back like any version", async () => {
    expect(await loggedPrompt(gateway)).toBeNull();
    const made = await call(gateway, ...switched({ [CONTENT]: true, "logging.retentionDays": 7 }, { note: "a look" }));
    expect(made.status).toBe(200);
    expect(made.body.changes.map(({ words }: { words: string }) => words)).toEqual([
      "logging.content: not set → true",
      "logging.retentionDays: not set → 7",
    ]);
    expect(await loggedPrompt(gateway)).toContain("capital of France");
    expect(await optionOf(gateway, CONTENT)).toMatchObject({ value: "true", origin: "version", locked: null });
    const [newest] = (await call(gateway, "GET", "/api/versions")).body.data;
    expect(newest).toMatchObject({ number: made.body.version.number, note: "a look", author: "admin token" });
    await call(gateway, "POST", `/api/versions/${newest.number - 1}/rollback`);
    expect(await loggedPrompt(gateway)).toBeNull();
    expect(await optionOf(gateway, CONTENT)).toMatchObject({ value: "false", origin: "default" });
  });

  test("null takes it out, and another section stays", async () => {
    await call(gateway, ...switched({ [CONTENT]: true, "routing.markup": 0.1 }));
    await call(gateway, ...switched({ [CONTENT]: null }));
    expect((await call(gateway, "GET", "/api/configuration")).body.document).toEqual({ routing: { markup: 0.1 } });
  });

  test.each([
    ["a wrong value", { [CONTENT]: "perhaps" }, 422, /logging\.content/],
    ["a number out of bounds", { "logging.retentionDays": 0 }, 422, /logging\.retentionDays/],
    ["an option of the start", { "server.port": 1 }, 400, /can't change at run time.* PORT and restart/],
    ["an option that is none", { "logging.contents": true }, 400, /No option 'logging\.contents'/],
  ])("is refused with %s", async (_what, options, status, message) => {
    const { status: got, body } = await call(gateway, ...switched(options));
    expect([got, body.error.message]).toEqual([status, expect.stringMatching(message)]);
    expect((await call(gateway, "GET", "/api/configuration")).body.document).toEqual({});
  });
});

test.each([
  ["the file", { yaml: "logging: { content: false }" }, "file", /switchyard\.yaml:1:/],
  ["the environment", { env: { SWITCHYARD_LOG_CONTENT: "false" } }, "environment", /SWITCHYARD_LOG_CONTENT/],
] as const)("an option that %s sets is locked, and says where", async (_what, options, origin, place) => {
  const gateway = await startGateway(options);
  try {
    const { locked } = await optionOf(gateway, CONTENT);
    expect(locked).toEqual({ path: CONTENT, origin, place: expect.stringMatching(place) });
    const refused = await call(gateway, ...switched({ [CONTENT]: true }));
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({ code: "locked", message: expect.stringMatching(place) });
    expect(await loggedPrompt(gateway)).toBeNull();
  } finally {
    await gateway.stop();
  }
});

const database = await createTestDatabase();

test.skipIf(database === null)("an option follows in another process on the database", async () => {
  const shared = { database: database?.url as string, env: { SWITCHYARD_SECRET: "a-secret-for-several-processes" } };
  const [one, two] = [await startGateway(shared), await startGateway(shared)];
  try {
    await call(one, ...switched({ [CONTENT]: true }));
    await expect
      .poll(() => loggedPrompt(two, one.key), { timeout: 60_000, interval: 200 })
      .toContain("capital of France");
  } finally {
    await Promise.all([one.stop(), two.stop()]);
    await database?.drop();
  }
});
