// What the environment sets and the run-time configuration therefore cannot: the keys of vendors. And what is shown of a
// vendor: region, data policy, and why it has no models.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { OPENAI_API_KEY: "sk-of-the-environment" } });
});
afterAll(() => gateway.stop());

async function call(method: string, path: string, body?: unknown) {
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

test("region and data policy of the vendor are shown with their source, and what is unknown is null", async () => {
  const data = expect.stringContaining("Not used for training");
  const { data: providers } = (await call("GET", "/api/providers")).body;
  expect(providers[0]).toMatchObject({ id: "openai", region: null, dataPolicy: data, problem: null });
  const { data: models } = (await call("GET", "/api/models")).body;
  const [host] = models.find(({ id }: { id: string }) => id === "gpt-4o-mini").hosts;
  const known = { policyAsOf: expect.stringMatching(/^\d{4}-/), policySource: expect.stringContaining("openai.com") };
  expect(host).toMatchObject({ region: null, dataPolicy: data, ...known });
  const debug = await gateway.post("/v1/routing/debug", { prompt: "Hi" });
  const { decision } = (await debug.json()) as { decision: { hostPolicies: object[] } };
  expect(decision.hostPolicies).toEqual([
    { host: "openai", region: null, dataPolicy: data, regions: null, zeroRetention: null },
  ]);
});

test("an Azure resource without models says so when it is connected, and in the list", async () => {
  const azure = { id: "azure-eu", kind: "azure", baseUrl: "https://eu.openai.azure.com", apiKey: "azure-0123456789" };
  const added = await call("POST", "/api/providers", azure);
  const message = "azure-eu has no models: list its deployments under providers.azure-eu.deployments";
  expect(added.body.warnings).toContainEqual(expect.objectContaining({ message: expect.stringContaining(message) }));
  const problemOf = async () =>
    (await call("GET", "/api/providers")).body.data.find(({ id }: { id: string }) => id === "azure-eu").problem;
  expect(await problemOf()).toContain(message);
  await call("PATCH", "/api/providers/azure-eu", { deployments: { "gpt-4.1": "eu-1" } });
  expect(await problemOf()).toBe(null);
  await call("DELETE", "/api/providers/azure-eu");
});

test("other fields of the vendor can be set", async () => {
  const answer = await call("PATCH", "/api/providers/openai", { timeouts: { connectMs: 900 } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
});
