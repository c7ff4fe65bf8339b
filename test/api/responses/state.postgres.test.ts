// Ids that PostgreSQL cannot take, such as those with a NUL: nothing is found under them. Skipped without a server.

import { afterAll, beforeAll, describe, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const database = await createTestDatabase();

describe.skipIf(database === null)("an id with a NUL", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ database: database?.url ?? "" });
  });
  afterAll(async () => {
    await gateway.stop();
    await database?.drop();
  });

  it.each([
    "/v1/responses/a%00b",
    "/v1/responses/a%00b/input_items",
    "/v1/conversations/a%00b",
    "/v1/conversations/a/items/%00",
    "/v1/conversations/a/items?after=%00",
  ])("GET %s is 404", async (path) => {
    await expectError(await gateway.get(path), { status: 404 });
  });

  it.each<[object, number]>([
    [{ input: "x", previous_response_id: "\u0000" }, 400],
    [{ input: "x", conversation: "\u0000" }, 404],
    [{ input: [{ type: "item_reference", id: "\u0000" }] }, 404],
  ])("%j is %i", async (body, status) => {
    await expectError(await gateway.post("/v1/responses", body), { status });
  });
});
