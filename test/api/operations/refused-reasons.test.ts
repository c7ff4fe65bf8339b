// The request log says why a request was refused, also where content is not stored: in our words, with none of the client's.

import { afterAll, beforeAll, expect, test } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const SECRET = "canary-of-the-client";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: labYaml("http://127.0.0.1:9/v1", ["alpha"]) });
});
afterAll(() => gateway.stop());

test.each([
  ["a control that does not exist", { service_tier_floor: SECRET }, 400, /^'service_tier_floor' must be one of NANO, /],
  ["a number out of range", { service_max_cost: -1 }, 400, /^'service_max_cost' must be a number from 0 to /],
  [
    ...["a model that is not offered", { model: SECRET, service_profile: "direct" }, 404],
    /^The model that 'model' names isn't available to this key\. See GET \/v1\/models\. Or leave out "service_profile"/,
  ],
  ["a message without a role", { messages: [{ role: SECRET, content: "Hi" }] }, 422, /^'messages\[0\]' was refused\./],
] as const)("%s", async (_what, wrong, status, message) => {
  const response = await gateway.post("/v1/chat/completions", { ...HELLO, ...wrong });
  expect(response.status).toBe(status);
  await response.text();
  const { data } = (await (await gateway.api("GET", "/api/requests?limit=1")).json()) as { data: { id: string }[] };
  const record = await (await gateway.api("GET", `/api/requests/${data[0]?.id}`)).json();
  expect(record).toMatchObject({ status, errorMessage: expect.stringMatching(message), content: null });
  expect(JSON.stringify(record)).not.toContain(SECRET);
});
