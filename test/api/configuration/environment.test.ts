// What the environment sets and the run-time configuration therefore cannot: the keys of vendors.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { OPENAI_API_KEY: "sk-of-the-environment" } });
});
afterAll(() => gateway.stop());

async function call(method: string, path: string, body: unknown) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test.each([
  ["POST", "/api/providers", { id: "openai", apiKey: "sk-of-the-operator" }, "providers.openai.apiKey"],
  ["PATCH", "/api/providers/openai", { apiKeys: ["sk-of-the-operator"] }, "providers.openai.apiKeys"],
  ["POST", "/api/providers/openai/test", { draft: { apiKeys: ["sk-of-the-operator"] } }, "providers.openai.apiKeys"],
])("%s %s does not set a key beside that of the environment", async (method, path, body, param) => {
  const answer = await call(method, path, body);
  expect([answer.status, answer.body.error]).toEqual([409, expect.objectContaining({ code: "locked", param })]);
});

test("other fields of the vendor can be set", async () => {
  const answer = await call("PATCH", "/api/providers/openai", { timeouts: { connectMs: 900 } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
});
