// The warm-up of a start: every chat path is asked, whole and streamed, and nothing of it is seen afterwards.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createRequestFormats } from "../../../src/http/exchange/request-format.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({
    yaml: labYaml(provider.url, ["alpha", "beta"]),
    env: { SWITCHYARD_WARM_UP: "true" },
    creditsUsd: "1",
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

test("every canned request is answered, on all chat paths", () => {
  const lines = gateway.logged.filter(({ fields }) => fields.event.startsWith("warm_up."));
  expect(lines.map(({ fields }) => fields)).toMatchObject([{ event: "warm_up.finished" }]);
  const [{ asked, answered } = { asked: 0, answered: 1 }] = lines.map(
    ({ fields }) => fields as unknown as { readonly asked: number; readonly answered: number },
  );
  const paths = createRequestFormats().routes.filter(({ format }) => format.endpoint === undefined);
  expect(paths.length).toBeGreaterThanOrEqual(5);
  expect(asked).toBeGreaterThanOrEqual(2 * paths.length);
  expect(answered).toBe(asked);
});

test("nothing of it reaches a provider, the log, the metrics, the request log or the ledger", async () => {
  expect(provider.requests).toEqual([]);
  expect(gateway.logged.filter(({ fields }) => fields.event === "request.completed")).toEqual([]);
  const { families } = await scrape(gateway.url);
  expect(families.has("switchyard_requests_total")).toBe(true);
  const text = await (await gateway.get("/metrics")).text();
  expect(text).not.toContain("switchyard_requests_total{");
  expect(await (await gateway.api("GET", "/api/requests")).json()).toMatchObject({ data: [] });
  expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ postedUsd: "1", heldUsd: "0" });
});

test("the first client is served", async () => {
  expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  expect(provider.requests).toHaveLength(1);
});
